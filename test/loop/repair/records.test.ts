import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportFile, exportSession, Redaction, readExport } from '../../../src/loop/index.ts';
import type { FailedAttempt, TurnRecord } from '../../../src/loop/record/record.ts';
import { sealFaults } from '../../../src/loop/record/seal.ts';
import { joinRecord, splitRecord } from '../../../src/loop/record/split.ts';
import { eraseSession } from '../../../src/loop/sessions/erase.ts';
import type { MemoryStore } from '../../../src/loop/sessions/sqlite.ts';
import {
  checkReceipt,
  generateReceiptKey,
  issueReceipt,
  publicReceiptKey,
  verifyReceipt,
  withhold,
} from '../../../src/receipt/index.ts';
import type { Runtime } from '../../../src/runtime/index.ts';
import { mailRuntime, repairedSession, SECRET } from './repaired.ts';

let runtime: Runtime;
let store: MemoryStore;
let record: TurnRecord;
beforeAll(async () => {
  runtime = await mailRuntime();
  ({ store, record } = await repairedSession(runtime));
});
afterAll(() => runtime.close());

describe('the record of a turn with several attempts', () => {
  it('has each field and each call of an attempt as a part of its own, and is put together again from its parts', () => {
    expect(record.attempts?.map(({ end }) => end)).toEqual(['rejected', 'failed']);
    expect(Object.keys(record.seal.parts)).toEqual(
      expect.arrayContaining(['attempts.1.reply', 'attempts.1.problems', 'attempts.2.journal.2', 'attempts.2.limits']),
    );
    const { seal: _, ...unsealed } = record;
    expect(joinRecord(splitRecord(unsealed))).toEqual(unsealed);
  });

  it('shows a change of any part of an attempt, and a removed attempt', () => {
    expect(sealFaults(record, null)).toEqual([]);
    const [first, second] = record.attempts ?? [];
    if (first === undefined || second === undefined) throw new Error('no attempts');
    const faultsOf = (attempts: readonly FailedAttempt[]) => sealFaults({ ...record, attempts }, null);
    expect(faultsOf([{ ...first, reply: `${first.reply} ` }, second])).toEqual([
      { part: 'attempts.1.reply', problem: 'changed' },
    ]);
    expect(faultsOf([first, { ...second, journal: second.journal.slice(1) }])).toEqual([
      { part: 'attempts.2.journal.1', problem: 'changed' },
      { part: 'attempts.2.journal.2', problem: 'missing' },
    ]);
    expect(faultsOf([first]).every(({ part, problem }) => part.startsWith('attempts.2.') && problem === 'missing')).toBe(true);
    expect(faultsOf([first, second, second])[0]?.problem).toBe('added');
  });

  it('holds no content of an attempt after its erasure, and still says how each one ended', async () => {
    const { store: own } = await repairedSession(runtime);
    expect(JSON.stringify((await own.turns('s')).map(({ attempts }) => attempts))).toContain(SECRET);
    await eraseSession(own, 's');
    const [erased] = await own.turns('s');
    if (erased === undefined) throw new Error('no turn');
    expect(JSON.stringify([erased, await own.read('s')])).not.toContain(SECRET);
    expect(erased.attempts).toMatchObject([
      { end: 'rejected', error: { code: 'NS15' } },
      { end: 'failed', jtis: [], usage: { toolCalls: 2 } },
    ]);
    expect(sealFaults(erased, null)).toEqual([]);
    const [first, second] = erased.attempts ?? [];
    if (first === undefined || second === undefined) throw new Error('no attempts');
    const forged = { ...second, usage: { ...second.usage, fuel: 1 } };
    expect(sealFaults({ ...erased, attempts: [first, forged] }, null)).toEqual([
      { part: 'attempts.2.usage', problem: 'changed' },
    ]);
  });

  it('has no redacted text, key or call in any attempt of an export', async () => {
    const values = await exportSession(store, 's', new Redaction({ values: [SECRET] }));
    expect(JSON.stringify(values)).not.toContain(SECRET);
    expect(values?.redacted[0]?.parts).toEqual(
      expect.arrayContaining([
        'attempts.1.reply',
        'attempts.1.envelope',
        'attempts.2.error',
        'attempts.2.output',
        'attempts.2.scratchpad',
        'attempts.2.whispers',
        'attempts.2.journal.1',
      ]),
    );
    const tools = await exportSession(store, 's', new Redaction({ tools: ['tool.mail.*'] }));
    expect(tools?.redacted[0]?.parts).toEqual(['journal.1', 'attempts.2.journal.1', 'attempts.2.journal.2']);
    expect(tools?.turns[0]?.attempts?.[1]?.journal[0]).toMatchObject({ args: ['[redacted]'], outcome: { value: '[redacted]' } });
    if (values === null) throw new Error('no session');
    const [read] = readExport(JSON.stringify(exportFile([values])));
    expect(sealFaults(read?.turns[0] ?? record, null)).toEqual([]);
  });

  it('is verified from a receipt, also when calls of its attempts are withheld', async () => {
    const state = await store.read('s');
    if (state === null) throw new Error('no session');
    const key = generateReceiptKey('auditor');
    const receipt = issueReceipt(state, [record], key, 1);
    expect(await verifyReceipt(runtime, receipt, publicReceiptKey(key))).toMatchObject({
      ok: true,
      turns: [{ verdict: 'same' }],
    });
    const rest = withhold(receipt, (name) => name.startsWith('1.attempts.2.journal.'));
    expect(checkReceipt(rest, publicReceiptKey(key)).withheld).toEqual(['1.attempts.2.journal.1', '1.attempts.2.journal.2']);
    expect(await verifyReceipt(runtime, rest, publicReceiptKey(key))).toMatchObject({
      ok: true,
      turns: [{ verdict: 'verified' }],
    });
  });
});
