import { expect, it, vi } from 'vitest';
import { LoopController, MemoryStore } from '../../src/loop/index.ts';
import { replaySession } from '../../src/loop/replay/session.ts';
import { createRuntime } from '../../src/runtime/index.ts';
import { WorkerProcess } from '../../src/sandbox/worker.ts';
import { newKeyring, reply, TestClock, USERDATA } from './fake.ts';

it('issue 42.5: a turn and its replay ask a worker once, for the run that parses ACTIONS', async () => {
  await using runtime = await createRuntime({ policy: { allow: ['*'] }, concurrency: 1 });
  const clock = new TestClock();
  const store = new MemoryStore();
  const loop = new LoopController({ runtime, store, clock, keyring: newKeyring('once', clock) });
  const actions = 'command\n  emit tool.aeiou.magic("LOOP", {"action": "done"})\nendcommand';
  const send = vi.spyOn(WorkerProcess.prototype, 'send');
  const asked = (): string[] => {
    const frames = send.mock.calls.map(([{ t }]) => t).filter((t) => ['run', 'parse', 'check', 'foresee'].includes(t));
    send.mockClear();
    return frames;
  };
  try {
    await loop.runLoop({ sid: 's', userdata: USERDATA, agent: { reply: async () => reply(actions) } });
    expect(asked()).toEqual(['run']);
    expect(await replaySession(runtime, store, 's')).toMatchObject({ ok: true, turns: [{ verdict: 'same' }] });
    expect(asked()).toEqual(['run']);
  } finally {
    send.mockRestore();
  }
});
