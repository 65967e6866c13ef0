import { describe, expect, it } from 'vitest';
import { parse } from '../../grammar/index.ts';
import { AI_RULES, EXAMPLE_ACTIONS, EXAMPLE_REPLY, extractEnvelope, systemPrompt } from '../../src/aeiou/index.ts';
import { fixedClock } from '../../src/loop/clock.ts';
import { LoopController } from '../../src/loop/controller.ts';
import { seededIds } from '../../src/loop/ids.ts';
import { runtimeExecutor } from '../../src/loop/turn/executor.ts';
import { createRuntime } from '../../src/runtime/index.ts';
import { ISSUED, newKeyring, sha256 } from './kit.ts';

describe('what models are told', () => {
  it('A3-14-1: the rules are the block of section 14 of the seed, byte for byte, and the prompt holds it', () => {
    expect(sha256(AI_RULES)).toBe('90bb7a46fe4d2d4433215671b2d55a7d9d129db6e7c4365e4bee2c82a79efcb1');
    expect(systemPrompt()).toContain(AI_RULES);
  });

  it('the example is a reply that the host reads, and its program is one command block', () => {
    expect(systemPrompt()).toContain(EXAMPLE_REPLY);
    const reply = extractEnvelope(EXAMPLE_REPLY);
    expect(reply).toEqual({ userdata: '{}', scratchpad: null, output: null, actions: EXAMPLE_ACTIONS, lints: [] });
    const parsed = parse(reply.actions, { name: 'ACTIONS' });
    expect(parsed).toMatchObject({ ok: true, file: { kind: 'commands', commands: [{}], procedures: [] } });
  });

  it('A3-1.1-3: the example ends a real session, and no control string was built by hand', async () => {
    await using runtime = await createRuntime({ concurrency: 1 });
    const clock = fixedClock(ISSUED);
    const keyring = newKeyring('example', clock);
    const loop = new LoopController({ executor: runtimeExecutor(runtime), keyring, clock, ids: seededIds('example') });
    const agent = { reply: async () => EXAMPLE_REPLY };
    const result = await loop.runLoop({ userdata: { subject: 'ask', fields: {} }, agent, sid: 'example', maxTurns: 1 });
    expect(result).toMatchObject({ decision: 'DONE' });
    expect(JSON.stringify(result)).toContain('The answer is 42');
  });
});
