// @module-tag slow
import { getEventListeners } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import type { RunHandlers, Sandbox } from '../../src/sandbox/index.ts';
import { BusyError } from '../../src/wire/errors.ts';
import type { RunInput } from '../../src/wire/protocol.ts';
import { closeSandboxes, handlers, inputOf, OK, REAL, rogue, run, sandboxOf, timed } from './kit.ts';

afterAll(closeSandboxes);

const ROUNDS = 100;
const TALK: RunInput = {
  ...inputOf('nothing'),
  globals: {},
  sources: [
    {
      name: 'src',
      text: `command\n  set i = 0\n  while i < ${ROUNDS}\n    emit i\n    call tool.t.Hear(i)\n    set i = i + 1\n  endwhile\nendcommand\n`,
    },
  ],
};
/** What is heard of it, in order. */
const ALL = Array.from({ length: ROUNDS }, (_, i) => [`emit ${i}`, `call ${i}`]).flat();

function listener(): RunHandlers & { readonly heard: string[] } {
  const heard: string[] = [];
  return {
    heard,
    onOut: ({ emits }) => void heard.push(...emits.map((text) => `emit ${text}`)),
    onCall: async (call) => {
      heard.push(`call ${call.t === 'tool' ? String(call.args[0]) : call.t}`);
      return OK;
    },
  };
}

function children(): number[] {
  return readdirSync(`/proc/${process.pid}/task`)
    .flatMap((task) => readFileSync(`/proc/${process.pid}/task/${task}/children`, 'utf8').split(' '))
    .filter((child) => child !== '')
    .map(Number);
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Milliseconds after the start of a run. */
const MOMENTS = [0, 0.8, 3, 7, 13, 20, 30, 45, 60, 80];

describe('a run that is ended at any moment', () => {
  const before = new Set(children());
  const endings: readonly (readonly [string, string, (given: AbortController) => void])[] = [
    ['cancelled by its caller', 'ERR_CANCELLED', (given) => given.abort()],
    [
      'whose worker is killed by somebody',
      'ERR_WORKER',
      () => {
        for (const child of children()) if (!before.has(child)) process.kill(child, 'SIGKILL');
      },
    ],
  ];

  it.each(endings)(
    '%s: nothing that was heard of it is lost, doubled or out of order, and the next one is served',
    async (_, code, end) => {
      const sandbox: Sandbox = await sandboxOf({ files: REAL });
      const codes = new Set<string>();
      for (const moment of MOMENTS) {
        const given = new AbortController();
        const seen = listener();
        const running = sandbox.run(TALK, seen, given.signal);
        // Some at once, without a turn of the event loop; the last one after its end.
        if (moment > 0) await sleep(moment);
        end(given);
        const { result, outputComplete } = await running;
        codes.add(result.error?.code ?? 'none');
        expect(seen.heard).toEqual(ALL.slice(0, seen.heard.length));
        expect(getEventListeners(given.signal, 'abort')).toEqual([]);
        if (result.ok) {
          expect(seen.heard).toEqual(ALL);
          break;
        }
        // One that was ended by its own interpreter, after a call that was halted, has lost nothing.
        if (result.error?.line === null) expect(outputComplete).toBe(false);
        const next = listener();
        expect((await sandbox.run(TALK, next)).result.error).toBeNull();
        expect(next.heard).toEqual(ALL);
      }
      expect(codes).toContain(code);
      expect([...codes].filter((seen) => seen !== code && seen !== 'none')).toEqual([]);
      await sandbox.close();
    },
  );
});

describe('a signal', () => {
  it('of many runs keeps nothing of those that are over, whether they ran at once, waited or were refused', async () => {
    const sandbox = await sandboxOf({ queueLength: 2 });
    const { signal } = new AbortController();
    for (let n = 0; n < 5; n++) await sandbox.run(inputOf('nothing'), handlers(), signal);
    const [first, second, third] = [1, 2, 3].map(() => sandbox.run(inputOf('nothing'), handlers(), signal));
    await expect(sandbox.run(inputOf('nothing'), handlers(), signal)).rejects.toThrow(BusyError);
    await Promise.all([first, second, third]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    await sandbox.close();
  });

  it('ends a nested run whose own worker is only being started, without waiting for that', async () => {
    const files = rogue({ before: [{ sleep: 1_500 }], run: [{ sleep: 60_000 }] });
    const { value: sandbox, ms: startMs } = await timed(() => sandboxOf({ files, maxWorkers: 2 }));
    const hog = run(sandbox, 'nothing');
    const given = new AbortController();
    const nested = sandbox.run(inputOf('nothing'), { ...handlers(), nested: true }, given.signal);
    const { value, ms } = await timed(async () => {
      given.abort();
      return nested;
    });
    expect(value.result).toMatchObject({ phase: 'request', error: { code: 'ERR_CANCELLED' } });
    expect(ms).toBeLessThan(startMs);
    await sandbox.close();
    expect((await hog).result.error?.code).toBe('ERR_CANCELLED');
  });

  it('that is aborted while a handler asks for a variable of the caller ends the question, too', async () => {
    const sandbox = await sandboxOf();
    const given = new AbortController();
    const asked: unknown[] = [];
    const { result } = await sandbox.run(
      inputOf('variables'),
      handlers(async (_call, io) => {
        const questions = [io.getVar('a'), io.getVar('b')].map((question) => question.catch((error: unknown) => error));
        given.abort();
        asked.push(...(await Promise.all(questions)));
        return OK;
      }),
      given.signal,
    );
    expect(result.error).toMatchObject({ code: 'ERR_CANCELLED' });
    expect(asked[1]).toMatchObject({ code: 'ERR_CLOSED' });
    await sandbox.close();
  });
});
