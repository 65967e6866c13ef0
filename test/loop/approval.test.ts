import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { executeOnce, recordApproved, verifyApproval } from '../../src/gate/index.ts';
import {
  type Agent,
  humanApproval,
  LoopController,
  type LoopOptions,
  planHash,
  runtimeExecutor,
  seededIds,
  systemClock,
} from '../../src/loop/index.ts';
import { replayTurn } from '../../src/loop/replay/turn.ts';
import { createRuntime, type Runtime } from '../../src/runtime/index.ts';
import { type Approval, defineTool, type Gate, type GateOutcome } from '../../src/tools/index.ts';
import { newKeyring } from '../aeiou/kit.ts';
import { tempFolder } from '../folder.ts';
import { reply, USERDATA } from './fake.ts';

const keyring = newKeyring('real', systemClock);
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

let ran: string[] = [];
beforeEach(() => {
  ran = [];
});

const tools = [
  defineTool({
    name: 'tool.plant.Open',
    args: [
      { name: 'valve', type: 'string' },
      { name: 'percent', type: 'int', required: false },
    ],
    requiresApproval: true,
    run: ({ valve, percent }) => {
      ran.push(`${valve} ${percent}`);
      if (valve === 'stuck') throw new Error('the valve is stuck');
      return 'opened';
    },
  }),
  defineTool({ name: 'tool.plant.Read', run: () => 7 }),
  defineTool({
    name: 'tool.plant.Indirect',
    run: async (_, runtime) => runtime.callTool('tool.plant.Open', ['v1', 50]),
  }),
  defineTool({ name: 'tool.plant.Slow', requiresApproval: true, run: (_, runtime) => runtime.pending({ reason: 'a long job' }) }),
];

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ tools, policy: { allow: ['*'] }, concurrency: 1 });
});
afterAll(() => runtime.close());

const DONE = 'emit tool.aeiou.magic("LOOP", {"action": "done"})';
const CONTINUE = 'emit tool.aeiou.magic("LOOP", {"action": "continue"})';
const program = (...lines: readonly string[]): string =>
  ['command', ...lines.map((each) => `  ${each}`), 'endcommand'].join('\n');
const OPEN = 'emit tool.plant.Open("v1", 50)';
/** By hand: keys in order, no blanks, the name in lower case. */
const PLAN = sha256('{"args":["v1",50],"tool":"tool.plant.open"}');

let sessions = 0;
/** Drives a session whose agent sends these programs. */
function session(programs: readonly string[], options: Partial<LoopOptions> = {}) {
  const loop = new LoopController({ executor: runtimeExecutor(runtime), keyring, ids: seededIds('approval') });
  const agent: Agent = { reply: async ({ turn }) => reply(programs[turn - 1] ?? program()) };
  sessions += 1;
  return loop.runLoop({
    userdata: USERDATA,
    agent,
    sid: `approval-${sessions}`,
    maxTurns: programs.length,
    maxReasks: 0,
    ...options,
  });
}

interface TestGate {
  readonly gate: Gate;
  readonly outcomes: GateOutcome<unknown>[];
}

/** A gate that always agrees. */
function agreeing(): TestGate {
  const outcomes: GateOutcome<unknown>[] = [];
  const ended = async <T>(work: () => Promise<T>): Promise<GateOutcome<T>> => {
    try {
      return { state: 'executed', value: await work() };
    } catch (error) {
      return { state: 'failed', error };
    }
  };
  const gate: Gate = async (work) => {
    const outcome = await ended(work);
    outcomes.push(outcome);
    return outcome;
  };
  return { gate, outcomes };
}

const LINE = '[ERROR] Intent already executed at 2026-01-15T12:00:00Z';

/** A gate that never agrees. */
function denying(): TestGate {
  const outcomes: GateOutcome<unknown>[] = [];
  const gate: Gate = async () => {
    const outcome = { state: 'denied', verdict: { line: LINE } } as const;
    outcomes.push(outcome);
    return outcome;
  };
  return { gate, outcomes };
}

describe('a tool that requires approval', () => {
  it('ARGO-8-2: without a human nothing runs: the call fails with an error that the program can catch', async () => {
    const caught = program('on error do', '  emit system_error["code"]', '  clear_error', 'endon', OPEN, DONE);
    const result = await session([caught]);
    expect(ran).toEqual([]);
    expect(result.decision).toBe('DONE');
    expect(result.output).toContain('1003');
  });

  it('uncaught it ends the turn: HALT ERR_POLICY, with the plan to be proposed', async () => {
    const { decision, reason, error } = await session([program(OPEN, DONE)]);
    expect([decision, reason]).toEqual(['HALT', 'ERR_POLICY']);
    expect(error?.message).toBe("tool 'tool.plant.open': [ERROR] A human has to approve this, and none has");
    expect(error?.hint).toBe('the plan is {"tool":"tool.plant.open","args":["v1",50]}');
    expect(planHash(JSON.parse(error?.hint?.slice('the plan is '.length) ?? ''))).toBe(PLAN);
  });

  it('ARGO-I2: what was approved runs, after one call to the gate', async () => {
    const { gate, outcomes } = agreeing();
    const { decision, output } = await session([program(OPEN, DONE)], { approval: humanApproval(PLAN, gate) });
    expect([decision, ran]).toEqual(['DONE', ['v1 50']]);
    expect(output).toContain('opened');
    expect(outcomes).toHaveLength(1);
  });

  it('also when another tool makes the call', async () => {
    const call = program('emit tool.plant.Indirect()', DONE);
    expect((await session([call])).reason).toBe('ERR_POLICY');
    expect(ran).toEqual([]);
    await session([call], { approval: humanApproval(PLAN, agreeing().gate) });
    expect(ran).toEqual(['v1 50']);
  });

  it('an approval of one call is not spent on another: the gate is not even asked', async () => {
    for (const call of ['tool.plant.Open("v2", 50)', 'tool.plant.Open("v1", 51)', 'tool.plant.Open("v1")']) {
      const { gate, outcomes } = agreeing();
      const { error } = await session([program(`emit ${call}`, DONE)], { approval: humanApproval(PLAN, gate) });
      expect(error?.message).toMatch(/\[ERROR\] Not what was approved: the hash of this plan is [0-9a-f]{64}$/);
      expect(outcomes).toEqual([]);
    }
    expect(ran).toEqual([]);
  });

  it('ARGO-2-3: one action of a human is one call to the gate: never twice in a turn, nor in the turns that follow', async () => {
    for (const programs of [[program(OPEN, OPEN, DONE)], [program(OPEN, CONTINUE), program(OPEN, DONE)]]) {
      ran = [];
      const { gate, outcomes } = agreeing();
      const { reason, error } = await session(programs, { approval: humanApproval(PLAN, gate) });
      expect(reason).toBe('ERR_POLICY');
      expect(error?.message).toMatch(/The approval was used before; a human has to act again$/);
      expect(outcomes).toHaveLength(1);
      expect(ran).toEqual(['v1 50']);
    }
  });

  it('ARGO-1-9: a denial is final: the gate’s own line, and no second call however often the program tries', async () => {
    const { gate, outcomes } = denying();
    const stubborn = program(
      'on error do',
      '  emit system_error["message"]',
      '  clear_error',
      'endon',
      'set i = 0',
      'while i < 5',
      '  set i = i + 1',
      `  ${OPEN}`,
      'endwhile',
      DONE,
    );
    const { output } = await session([stubborn], { approval: humanApproval(PLAN, gate) });
    expect(outcomes).toHaveLength(1);
    expect(ran).toEqual([]);
    expect(output).toContain(LINE);
  });

  it('a tool that fails fails as it always does, and the gate’s executor hears of it', async () => {
    const hash = sha256('{"args":["stuck"],"tool":"tool.plant.open"}');
    const { gate, outcomes } = agreeing();
    const { error } = await session([program('emit tool.plant.Open("stuck")', DONE)], { approval: humanApproval(hash, gate) });
    expect(error).toMatchObject({ code: 'NS21', message: "tool 'tool.plant.open' failed: the valve is stuck" });
    expect(outcomes[0]).toMatchObject({ state: 'failed' });
  });

  it('a tool that will answer later has begun: executed, and not to be begun again', async () => {
    const hash = sha256('{"args":[],"tool":"tool.plant.slow"}');
    const { gate, outcomes } = agreeing();
    const approval = humanApproval(hash, gate);
    await session([program('emit tool.plant.Slow()', DONE)], { approval }).catch(() => {});
    expect(outcomes[0]).toMatchObject({ state: 'executed' });
  });

  it('tools that need no approval spend none', async () => {
    const { gate, outcomes } = agreeing();
    await session([program('emit tool.plant.Read()', DONE)], { approval: humanApproval(PLAN, gate) });
    expect(outcomes).toEqual([]);
  });

  it('outside of a loop it is denied too', async () => {
    const { error } = await runtime.run(program(OPEN));
    expect(error).toMatchObject({ code: 'NS1003', kind: 'policy' });
    expect(ran).toEqual([]);
  });
});

describe('a turn that requires approval', () => {
  const ACTIONS = program('emit tool.plant.Read()', DONE);
  const hashOf = (actions: string): string => planHash({ actions });

  it('the plan of a turn is its ACTIONS, to the byte', () => {
    expect(hashOf(ACTIONS)).toBe(sha256(`{"actions":${JSON.stringify(ACTIONS)}}`));
  });

  it('ARGO-8-2: without a human nothing runs: HALT ERR_POLICY', async () => {
    const { decision, reason, error, turns } = await session([ACTIONS], { requiresApproval: true });
    expect([decision, reason]).toEqual(['HALT', 'ERR_POLICY']);
    expect(error?.message).toBe('[ERROR] A human has to approve this, and none has');
    expect(turns[0]?.journal).toEqual([]);
    expect(turns[0]?.inputs.scene?.denied).toEqual({ tool: 'ACTIONS', message: error?.message });
  });

  it('ARGO-I2: the ACTIONS that were approved run, after one call to the gate', async () => {
    const { gate, outcomes } = agreeing();
    const approval = humanApproval(hashOf(ACTIONS), gate);
    const { decision, output } = await session([ACTIONS], { requiresApproval: true, approval });
    expect([decision, output]).toEqual(['DONE', expect.stringContaining('7')]);
    expect(outcomes).toHaveLength(1);
  });

  it('others do not, and the gate is not asked', async () => {
    const { gate, outcomes } = agreeing();
    const approval = humanApproval(hashOf(`${ACTIONS} `), gate);
    const { reason, error } = await session([ACTIONS], { requiresApproval: true, approval });
    expect(reason).toBe('ERR_POLICY');
    expect(error?.message).toBe(`[ERROR] Not what was approved: the hash of this plan is ${hashOf(ACTIONS)}`);
    expect(outcomes).toEqual([]);
  });

  it('ARGO-I2: denied by the gate: HALT, its own line, no retry', async () => {
    const { gate, outcomes } = denying();
    const approval = humanApproval(hashOf(ACTIONS), gate);
    const { decision, reason, error, turns } = await session([ACTIONS, ACTIONS], { requiresApproval: true, approval });
    expect([decision, reason, error?.message, turns.length]).toEqual(['HALT', 'ERR_POLICY', LINE, 1]);
    expect(outcomes).toHaveLength(1);
  });

  it('ARGO-2-3: the next turn needs the next action of a human', async () => {
    const first = program('emit tool.plant.Read()', CONTINUE);
    const { gate, outcomes } = agreeing();
    const approval = humanApproval(hashOf(first), gate);
    const { reason, turns } = await session([first, first], { requiresApproval: true, approval });
    expect([reason, turns.length]).toEqual(['ERR_POLICY', 2]);
    expect(outcomes).toHaveLength(1);
  });

  it('a turn that is denied by the policy asks no gate', async () => {
    await using strict = await createRuntime({ tools, policy: { allow: [] }, concurrency: 1 });
    const { gate, outcomes } = agreeing();
    const loop = new LoopController({ executor: runtimeExecutor(strict), keyring });
    const approval = humanApproval(hashOf(ACTIONS), gate);
    const agent: Agent = { reply: async () => reply(ACTIONS) };
    const { reason } = await loop.runLoop({ userdata: USERDATA, agent, requiresApproval: true, approval, maxTurns: 1 });
    expect(reason).toBe('ERR_POLICY');
    expect(outcomes).toEqual([]);
  });

  it('a program that fails is a failed execution', async () => {
    const failing = program('fail "no"');
    const { gate, outcomes } = agreeing();
    const { reason } = await session([failing], { requiresApproval: true, approval: humanApproval(hashOf(failing), gate) });
    expect(reason).toBe('ERR_EXEC');
    expect(outcomes[0]).toMatchObject({ state: 'failed' });
  });
});

describe('a recorded turn that is executed again', () => {
  const READ = program('emit tool.plant.Read()', DONE);
  const hash = planHash({ actions: READ });
  it.each([
    ['a tool that was denied', program(OPEN, DONE), {}],
    ['a tool that was approved', program(OPEN, DONE), { hash: PLAN }],
    ['a turn that was denied', READ, { requiresApproval: true }],
    ['a turn that was approved', READ, { requiresApproval: true, hash }],
  ])(
    'asks no gate and is the same: %s',
    async (_, actions, { hash, ...required }: { hash?: string; requiresApproval?: boolean }) => {
      const { gate, outcomes } = agreeing();
      const { turns } = await session([actions], {
        ...required,
        approval: hash === undefined ? undefined : humanApproval(hash, gate),
      });
      const [record] = turns;
      expect(record).toBeDefined();
      if (record === undefined) return;
      const before = [outcomes.length, ran.length];
      expect(await replayTurn(runtime, record)).toMatchObject({ verdict: 'same', divergence: null });
      expect([outcomes.length, ran.length]).toEqual(before);
    },
  );
});

describe('with the gate itself', () => {
  const ID = 'b2831d73-2708-4f50-944b-7b54f11bfbb4';

  /** What a command line makes of a human's command. */
  function approvalOf(folder: string, hash: string, shown: string[]): Approval {
    const verify = join(folder, 'verify');
    const options = {
      queue: folder,
      verifier: { command: 'sh', args: ['-c', `test -e '${verify}'`] },
      show: (text: string) => shown.push(text),
    };
    // The verifier is a program; what it would say is decided here.
    if (verifyApproval(folder, ID, hash).approved) writeFileSync(verify, '');
    return humanApproval(hash, (work) => executeOnce({ intentId: ID, hash, source: 'human' }, options, work));
  }

  it('ARGO-5-8, ARGO-5-9: not approved, approved, failed, executed once, denied for ever', async () => {
    const folder = tempFolder();
    const shown: string[] = [];
    const stuck = sha256('{"args":["stuck"],"tool":"tool.plant.open"}');
    const call = [program('emit tool.plant.Open("stuck")', DONE)];
    expect((await session(call, { approval: approvalOf(folder, stuck, shown) })).reason).toBe('ERR_POLICY');
    recordApproved(folder, { intentId: ID, hash: stuck }, 0);
    for (const _ of [1, 2]) await session(call, { approval: approvalOf(folder, stuck, shown) });
    expect(existsSync(join(folder, 'executed.jsonl'))).toBe(false);
    expect(shown).toEqual(['[ERROR] Approval verification failed', ...Array(2).fill('[OK] Intent eligible for execution')]);
    expect(ran).toEqual(['stuck null', 'stuck null']);
  });

  it('ARGO-5-6: executed once, and never again', async () => {
    const folder = tempFolder();
    const shown: string[] = [];
    recordApproved(folder, { intentId: ID, hash: PLAN }, 0);
    const again = () => session([program(OPEN, DONE)], { approval: approvalOf(folder, PLAN, shown) });
    expect((await again()).decision).toBe('DONE');
    expect(JSON.parse(readFileSync(join(folder, 'executed.jsonl'), 'utf8'))).toMatchObject({ id: ID, hash: PLAN });
    const { reason, error } = await again();
    expect(reason).toBe('ERR_POLICY');
    expect(error?.message).toMatch(/^tool 'tool.plant.open': \[ERROR\] Intent already executed at 2/);
    expect(ran).toEqual(['v1 50']);
  });
});
