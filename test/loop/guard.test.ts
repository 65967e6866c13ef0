import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readTurn } from '../../src/loop/turn/input.ts';
import { ConfigError } from '../../src/wire/errors.ts';
import { type Program, programAgent } from './fake.ts';
import { bench, turnOf } from './harness.ts';
import { controller, run } from './host.ts';

describe('the progress guard in the loop', () => {
  it('AL3-6-3 AL3-8-16 A3-9-7: the third equal turn in a row halts, a change in between starts over', async () => {
    const { loop } = controller();
    const stuck = await loop.runLoop(run(programAgent('same')));
    expect(stuck).toMatchObject({ decision: 'HALT', reason: 'ERR_NO_PROGRESS' });
    expect(stuck.turns).toHaveLength(3);
    const other = await loop.runLoop(run(programAgent('same', 'same', 'other', 'same', 'same', 'same'), { sid: 't' }));
    expect(other.turns).toHaveLength(6);
  });

  it('AL3-11-4 A3-9-1: it replaces even a DONE, and keeps what it replaced (AMB-02)', async () => {
    const { loop, log } = controller();
    const { turns } = await loop.runLoop(run(programAgent('same', 'same', 'sameDone')));
    const last = turns[2];
    expect(last).toMatchObject({ decision: 'HALT', reason: 'ERR_NO_PROGRESS', overridden: 'DONE' });
    expect(last?.kid).toBe('test-primary');
    expect(log.entries[2]).toMatchObject({ decision: 'HALT', overridden_decision: 'DONE', kid: 'test-primary', jti: last?.jti });
  });

  it('AMB-02: it replaces a token failure too', async () => {
    const { loop } = controller();
    const { reason, turns } = await loop.runLoop(run(programAgent('same', 'same', 'sameSilent')));
    expect(reason).toBe('ERR_NO_PROGRESS');
    expect(turns[2]).toMatchObject({ overridden: null });
  });

  it('AL3-6-4: N = 2 halts on the second equal turn', async () => {
    const { loop } = controller({ noProgressN: 2 });
    expect((await loop.runLoop(run(programAgent('same')))).turns).toHaveLength(2);
  });

  it('A3-9-1 AL3-6-5: no configuration switches it off', () => {
    for (const noProgressN of [1, 0, -1, Number.POSITIVE_INFINITY, 2.5])
      expect(() => controller({ noProgressN })).toThrow(ConfigError);
  });

  it('AL3-6-1 A3-9-2: every completed turn has a digest, of its own emissions alone', async () => {
    const { loop } = controller();
    const { turns } = await loop.runLoop(run(programAgent('same', 'other', 'same', 'done')));
    const digests = turns.map(({ digest }) => digest);
    expect(digests[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(digests[2]).toBe(digests[0]);
    expect(digests[1]).not.toBe(digests[0]);
    expect(digests[3]).toMatch(/^[0-9a-f]{64}$/);
  });

  it('AL3-11-5: its input is OUTPUT without tokens and the SCRATCHPAD: equal emissions with other whispers are progress', async () => {
    let count = 0;
    const whispering: Program = async ({ emit, whisper, magic }) => {
      emit('stuck');
      whisper(`note ${count++ % 2}`);
      emit(await magic('continue'));
    };
    const host = bench({ whispering });
    const [first, second, third] = [
      (await turnOf(host, 'whispering')).record,
      (await turnOf(host, 'whispering', { turn: 2 })).record,
      (await turnOf(host, 'whispering', { turn: 3 })).record,
    ];
    const digest = (scratchpad: string) => createHash('sha256').update(`OUT|stuck\nSCR|${scratchpad}`).digest('hex');
    expect([first, second, third].map((record) => record.digest)).toEqual(['note 0', 'note 1', 'note 0'].map(digest));
  });

  it('a turn that was halted does not count', async () => {
    const { loop } = controller();
    const result = await loop.runLoop(run(programAgent('same', 'same', 'timeout')));
    expect(result).toMatchObject({ reason: 'ERR_TIMEOUT' });
    expect(result.turns[2]?.digest).toBeNull();
  });
});

describe('what cannot go into the next envelope', () => {
  it('AMB-24: a marker line halts a CONTINUE', async () => {
    const { loop } = controller();
    const { turns } = await loop.runLoop(run(programAgent('marker')));
    expect(turns).toHaveLength(1);
    expect(turns[0]).toMatchObject({ decision: 'HALT', reason: 'ERR_ENV_MARKERS_INVALID', overridden: 'CONTINUE' });
  });

  it('AMB-24: a DONE is not affected', async () => {
    const { loop } = controller();
    expect(await loop.runLoop(run(programAgent('markerDone')))).toMatchObject({ decision: 'DONE', output: '<<<NSENV:V3:END>>>' });
  });

  it('AMB-23: streams that are too large together halt a CONTINUE', async () => {
    const { loop } = controller();
    const { turns } = await loop.runLoop(run(programAgent('large')));
    expect(turns[0]).toMatchObject({ decision: 'HALT', reason: 'ERR_ENV_SIZE', overridden: 'CONTINUE' });
  });

  it('AL3-2-5 A3-3.5-4, finding 10: USERDATA of the wrong form halts, and the agent is never asked', async () => {
    const { loop, log } = controller();
    const agent = programAgent('done');
    const result = await loop.runLoop(run(agent, { userdata: { subject: 1, fields: {} } }));
    expect(result).toMatchObject({
      decision: 'HALT',
      reason: 'ERR_USERDATA_SCHEMA',
      turns: [],
      error: { code: 'ERR_USERDATA_SCHEMA' },
    });
    expect(agent.prompts).toEqual([]);
    // The HALT is logged and counted like any other. Turn 0: no later session of this id can have it.
    expect(log.entries).toMatchObject([{ SID: result.sid, turn_index: 0, decision: 'HALT', reason: 'ERR_USERDATA_SCHEMA' }]);
    expect(loop.metrics.snapshot().halts_total).toEqual({ ERR_USERDATA_SCHEMA: 1 });
  });

  it.each<unknown>(['text', null, undefined, [], 5])(
    'issue 50: USERDATA that is no object, such as %j, is a mistake of the call',
    async (userdata) => {
      const { loop, log } = controller();
      await expect(loop.runLoop(run(programAgent('done'), { userdata }))).rejects.toThrow(/\buserdata\b/);
      await expect(loop.runLoop(run(programAgent('done'), { userdata }))).rejects.toMatchObject({ code: 'ERR_CONFIG' });
      expect(log.entries).toEqual([]);
    },
  );

  it('a reply that is far too large halts, and little of it is kept (threat 11)', async () => {
    const { loop } = controller();
    const result = await loop.runLoop(run({ reply: async () => 'x'.repeat(4 * 1024 * 1024) }));
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_ENV_SIZE' });
    const kept = result.turns[0]?.inputs.envelope ?? '';
    expect(kept.length).toBeLessThan(1024 * 1024 + 100);
    expect(readTurn(new TextEncoder().encode(kept))).toMatchObject({ ok: false, failure: { code: 'ERR_ENV_SIZE' } });
  });

  it('an agent that answers with something else than text is at fault', async () => {
    const { loop } = controller();
    const agent = JSON.parse('{}');
    agent.reply = async () => 42;
    expect(await loop.runLoop(run(agent))).toMatchObject({
      reason: 'ERR_AGENT',
      error: { message: expect.stringContaining('a number') },
    });
  });

  it('a reply that is no envelope halts the turn', async () => {
    const { loop } = controller();
    const result = await loop.runLoop(run({ reply: async () => 'I would rather not.' }));
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_ENV_MARKERS_INVALID', error: { kind: 'usage' } });
    expect(result.turns[0]?.inputs.envelope).toBe('I would rather not.');
  });
});
