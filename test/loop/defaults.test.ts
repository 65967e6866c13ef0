import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { LoopController, runtimeExecutor } from '../../src/loop/index.ts';
import { createRuntime, type Runtime } from '../../src/runtime/index.ts';
import { newKeyring, reply, TestClock, USERDATA } from './fake.ts';

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ concurrency: 1 });
});
afterAll(() => runtime.close());

describe('a controller with defaults', () => {
  it('runs a session on a runtime alone, with keys of its own, and the process warns once', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    const loops = [new LoopController({ runtime }), new LoopController({ runtime })];
    expect(warn.mock.calls).toEqual([
      [expect.stringContaining('no keyring'), expect.objectContaining({ code: 'NEUROSCRIPT_TEMPORARY_KEYS' })],
    ]);
    warn.mockRestore();
    const program = (n: number) => `command\n  emit "${n}"\n  emit tool.aeiou.magic("LOOP", {"action": "done"})\nendcommand`;
    for (const [index, loop] of loops.entries()) {
      const agent = { reply: async () => reply(program(index)) };
      expect(await loop.runLoop({ userdata: USERDATA, agent })).toMatchObject({ decision: 'DONE', output: `${index}` });
    }
  });

  it.each([
    ['neither a runtime nor an executor', () => ({})],
    ['both', () => ({ runtime, executor: runtimeExecutor(runtime) })],
  ])('refuses %s', (_, options) => {
    const keyring = newKeyring('test', new TestClock());
    expect(() => new LoopController({ keyring, ...options() })).toThrow(
      expect.objectContaining({ code: 'ERR_CONFIG', message: 'a LoopController needs a runtime, or an executor in its place' }),
    );
  });

  it.each(['runtime', 'store', 'metrics', 'telemetry', 'coordinator', 'lifetimes'])(
    'refuses %s of another kind, and names it',
    (option) => {
      const given = { runtime, keyring: newKeyring('test', new TestClock()) };
      for (const value of [null, 'x', 7, []])
        expect(() => new LoopController({ ...given, [option]: value as never })).toThrow(
          expect.objectContaining({ code: 'ERR_CONFIG', message: expect.stringContaining(`LoopController: ${option} must be`) }),
        );
    },
  );

  it('refuses the promise of a runtime, whose await is missing, and parts without their methods', () => {
    const keyring = newKeyring('test', new TestClock());
    const refused = (options: object, member: string) =>
      expect(() => new LoopController({ keyring, ...options } as never)).toThrow(
        expect.objectContaining({ code: 'ERR_CONFIG', message: expect.stringContaining(`LoopController: ${member} must be`) }),
      );
    refused({ runtime: Promise.resolve(runtime) }, 'runtime.interpreter');
    refused({ runtime, store: {} }, 'store.create');
    refused({ runtime, metrics: {} }, 'metrics.record');
    refused({ runtime, telemetry: {} }, 'telemetry.span');
    refused({ runtime, coordinator: {} }, 'coordinator.create');
  });
});
