import { describe, expect, it } from 'vitest';
import { divergenceOf, replyOf } from '../../src/tools/dispatch/recorded.ts';
import type { JournalEntry } from '../../src/wire/journal.ts';
import type { GuestCall } from '../../src/wire/protocol.ts';
import { SITE } from './probe.ts';

const left = { fuel: 1, memoryBytes: 1, toolCalls: 1 };
const ended = { seq: 1, at: SITE, outcome: { ok: true, value: 7 }, begin: 0, ms: 1 } as const;
const spent = { fuel: 5, toolCalls: 2, cpuMs: 1.5, turns: 1, tokens: 3 };

/** Each kind of call, its entry in the journal, and another call for each field that is recorded. */
const KINDS: readonly { call: GuestCall; entry: JournalEntry; others: Readonly<Record<string, Partial<GuestCall>>> }[] = [
  {
    call: { t: 'tool', seq: 1, name: 'tool.T.x', args: [1], at: SITE },
    entry: { ...ended, kind: 'tool', name: 'tool.t.x', args: [1] },
    others: { name: { name: 'tool.t.y' }, args: { args: [2] } },
  },
  {
    call: { t: 'prompt', seq: 1, text: 'Name?', at: SITE },
    entry: { ...ended, kind: 'prompt', text: 'Name?' },
    others: { text: { text: 'Age?' } },
  },
  {
    call: { t: 'ask', seq: 1, model: 'm', prompt: 'p', options: { turns: 1 }, left, at: SITE },
    entry: { ...ended, kind: 'ask', model: 'm', prompt: 'p', options: { turns: 1 }, spent },
    others: { model: { model: 'n' }, prompt: { prompt: 'q' }, options: { options: {} } },
  },
];

describe.each(KINDS)('a recorded call: $entry.kind', ({ call, entry, others }) => {
  it('is the same call again, however much its caller has left', () => {
    expect(divergenceOf(call, entry)).toBeNull();
  });

  it.each(Object.entries({ ...others, seq: { seq: 2 }, at: { at: { ...SITE, line: 9 } } }))(
    'differs by its %s',
    (field, other) => {
      expect(divergenceOf({ ...call, ...other } as GuestCall, entry)).toMatchObject({ field });
    },
  );

  it('is no call of another kind', () => {
    for (const { call: other } of KINDS)
      if (other.t !== call.t)
        expect(divergenceOf(other, entry)).toMatchObject({ field: 'kind', recorded: entry.kind, actual: other.t });
  });
});

describe('the answer to a recorded call', () => {
  const [tool, prompt, ask] = KINDS.map(({ entry }) => entry);

  it('of an ask says what it used, and no other does', () => {
    expect([tool, prompt, ask].map((entry) => entry && replyOf(entry))).toEqual([
      { t: 'ok', value: 7 },
      { t: 'ok', value: 7 },
      { t: 'ok', value: 7, spent },
    ]);
  });

  it('of an ask that no loop began for says nothing of use, in success and in failure', () => {
    const { spent: _, ...without } = { spent: undefined, ...ended, kind: 'ask', model: 'm', prompt: 'p', options: {} } as const;
    const failed = { ok: false, code: 9, message: 'no such model' } as const;
    expect(replyOf(without)).toEqual({ t: 'ok', value: 7 });
    expect(replyOf({ ...without, outcome: failed })).toEqual({ t: 'error', code: 9, message: 'no such model' });
    expect(replyOf({ ...without, outcome: failed, spent })).toEqual({ t: 'error', code: 9, message: 'no such model', spent });
  });
});
