// @module-tag slow
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createRuntime, defineTool } from '../../src/entries/index.ts';
import { humanApproval, LoopController, type LoopOptions, MemoryLog, MemoryStore, planHash } from '../../src/loop/index.ts';
import type { Gate } from '../../src/tools/index.ts';
import { newKeyring, reply, TestClock, USERDATA } from '../loop/fake.ts';
import { childrenOf } from './children.ts';

const PROGRAM = `command
  set first = tool.t.Pay("ada")
  set second = tool.t.Kill()
  set third = tool.t.Pay("bob")
  emit [first, second, third]
  emit tool.aeiou.magic("LOOP", {"action": "done"})
endcommand`;

/** A runtime with one worker process, a tool that kills it, and what was made. */
async function world(kills = 1) {
  const before = new Set(childrenOf(process.pid));
  const made: string[] = [];
  let left = kills;
  const killWorkers = (): void => {
    for (const pid of childrenOf(process.pid)) if (!before.has(pid)) process.kill(pid, 'SIGKILL');
  };
  const pay = defineTool({
    name: 'tool.t.Pay',
    args: [{ name: 'to', type: 'string' }],
    run: ({ to }) => {
      made.push(to);
      return `paid ${to}`;
    },
  });
  const kill = defineTool({
    name: 'tool.t.Kill',
    args: [],
    run: async () => {
      made.push('kill');
      if (left-- > 0) killWorkers();
      await sleep(100);
      return 'answered after the death of its worker';
    },
  });
  const runtime = await createRuntime({ tools: [pay, kill], policy: { allow: ['*'] }, concurrency: 1 });
  return { runtime, made, killWorkers };
}

async function session(
  { runtime }: Awaited<ReturnType<typeof world>>,
  program: string,
  { durable = 'turn', ...options }: Partial<LoopOptions> & { durable?: 'turn' | 'call' } = {},
) {
  const clock = new TestClock();
  const [store, log] = [new MemoryStore({ clock }), new MemoryLog()];
  const loop = new LoopController({ runtime, keyring: newKeyring('k', clock), clock, store, log, durable });
  const agent = { fixed: true, reply: async () => reply(program) };
  const result = await loop.runLoop({ sid: 's', userdata: USERDATA, agent, ...options });
  return { result, loop, log, record: (await store.turns('s'))[0] };
}

describe.each(['turn', 'call'] as const)('a worker process that is killed during a turn, durable: %s', (durable) => {
  it('the same program runs again, and a call that was answered after the death is not made again', async () => {
    const here = await world();
    await using _ = here.runtime;
    const { result, record, loop, log } = await session(here, PROGRAM, { durable });
    expect(result).toMatchObject({ decision: 'DONE', output: expect.stringContaining('after the death') });
    expect(here.made).toEqual(['ada', 'kill', 'bob']);
    expect(record?.attempts).toMatchObject([
      { end: 'interrupted', error: { code: 'ERR_WORKER' }, journal: [{ seq: 1 }, { seq: 2, outcome: { ok: true } }] },
    ]);
    expect(log.entries).toMatchObject([{ decision: 'DONE', attempts: 2 }]);
    expect(loop.metrics.snapshot().repairs_total).toEqual({ interrupted: 1 });
  });

  it('each time: the turn is halted after three further attempts', async () => {
    const here = await world(Number.POSITIVE_INFINITY);
    await using _ = here.runtime;
    const kills = Array.from({ length: 5 }, () => '  set x = tool.t.Kill()').join('\n');
    const { result, record } = await session(here, `command\n${kills}\nendcommand`, { durable });
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_INTERRUPTED' });
    expect(here.made).toEqual(['kill', 'kill', 'kill', 'kill']);
    expect(record?.attempts).toHaveLength(3);
  });
});

describe('a worker process that is killed before the program runs', () => {
  it.each(['at once', 'when the host knows that it is gone'])('%s: the turn runs on another one', async (when) => {
    const here = await world(0);
    await using _ = here.runtime;
    here.killWorkers();
    if (when !== 'at once') await sleep(300);
    const { result } = await session(here, PROGRAM);
    expect(result.decision).toBe('DONE');
    expect(here.made).toEqual(['ada', 'kill', 'bob']);
  });

  it('while the program is only checked, before it is approved: the approval is used once', async () => {
    const here = await world(0);
    await using _ = here.runtime;
    let asked = 0;
    const gate: Gate = async (work) => {
      asked++;
      return { state: 'executed', value: await work() };
    };
    const approval = humanApproval(planHash({ actions: PROGRAM }), gate);
    here.killWorkers();
    const { result } = await session(here, PROGRAM, { requiresApproval: true, approval });
    expect(result.decision).toBe('DONE');
    expect(asked).toBe(1);
  });
});

it('a worker process that is killed during an approved turn: the approval holds for the same program', async () => {
  const here = await world();
  await using _ = here.runtime;
  const gate: Gate = async (work) => {
    try {
      return { state: 'executed', value: await work() };
    } catch (error) {
      return { state: 'failed', error };
    }
  };
  const approval = humanApproval(planHash({ actions: PROGRAM }), gate);
  const { result } = await session(here, PROGRAM, { requiresApproval: true, approval });
  expect(result.decision).toBe('DONE');
  expect(here.made).toEqual(['ada', 'kill', 'bob']);
});
