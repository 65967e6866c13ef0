import { describe, expect, it } from 'vitest';
import type { LoopResult } from '../../src/loop/result.ts';
import type { JournalEntry } from '../../src/wire/journal.ts';
import { play } from './example.ts';

/** The decisions, and what was called turn by turn, without the minting of tokens. */
function story({ turns }: LoopResult): { readonly decisions: readonly string[]; readonly calls: readonly (readonly string[])[] } {
  const called = (entry: JournalEntry) => (entry.kind === 'tool' && entry.name !== 'tool.aeiou.magic' ? [entry.name] : []);
  return { decisions: turns.map(({ decision }) => decision), calls: turns.map(({ journal }) => journal.flatMap(called)) };
}

const GET = 'tool.memory.get';
const CAS = 'tool.memory.cas';
const ALLOW = 'tool.policy.allow';
const CAPS = 'tool.system.caps';

describe('the Plan → Apply example', () => {
  it('AL1-4-1: plans on turn 1, applies on turn 2 with one write, and says what it wrote', async () => {
    const result = await play('tools.yaml');
    expect(result).toMatchObject({
      decision: 'DONE',
      reason: null,
      error: null,
      output: 'Applied 1 op: /ingest/queue/x is now "taken" (version 8).',
    });
    expect(story(result)).toEqual({ decisions: ['CONTINUE', 'DONE'], calls: [[CAPS], [ALLOW, GET, CAS]] });
    expect(result.turns[0]?.output).toContain('PLAN [{"op": "set", "path": "/ingest/queue/x", "value": "taken"}]\n');
    expect(result.turns[1]?.inputs.envelope).toContain('Next: apply if policy allows.\n');
    expect(result.turns.flatMap(({ lints }) => lints)).toEqual([]);
  });

  it('AL1-4-2: without the capability it is done on turn 1 and writes nothing', async () => {
    const result = await play('tools-no-capability.yaml');
    expect(result).toMatchObject({ decision: 'DONE', output: 'Nothing was written: memory:write is not granted here.' });
    expect(story(result)).toEqual({ decisions: ['DONE'], calls: [[CAPS]] });
  });

  it('AL1-4-3: a plan that the policy refuses is done on turn 2, without a write', async () => {
    const result = await play('tools-refused.yaml');
    expect(result).toMatchObject({
      decision: 'DONE',
      output: 'Nothing was written: the policy refused the plan (the queue is frozen).',
    });
    expect(story(result)).toEqual({ decisions: ['CONTINUE', 'DONE'], calls: [[CAPS], [ALLOW]] });
  });

  it('AL1-4-4: a version conflict asks to continue, and the next turn tries once more', async () => {
    const result = await play('tools-conflict.yaml');
    expect(result).toMatchObject({ decision: 'DONE' });
    expect(result.output).toContain('on the second try');
    expect(story(result)).toEqual({
      decisions: ['CONTINUE', 'CONTINUE', 'DONE'],
      calls: [[CAPS], [ALLOW, GET, CAS], [GET, CAS]],
    });
  });

  it('AL1-4-4: with two turns at most, a version conflict ends at the ceiling', async () => {
    const result = await play('tools-conflict.yaml', 2);
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_MAX_TURNS' });
    expect(story(result).decisions).toEqual(['CONTINUE', 'CONTINUE']);
  });

  it('A3-2-7: playing it again gives the same bytes and the same decisions', async () => {
    const [first, second] = [await play('tools.yaml'), await play('tools.yaml')];
    const bytes = ({ turns }: LoopResult) =>
      turns.map(({ inputs, output, scratchpad, decision, digest, jti, usage }) => {
        return { inputs, output, scratchpad, decision, digest, jti, fuel: usage.fuel };
      });
    expect(bytes(second)).toEqual(bytes(first));
  });
});
