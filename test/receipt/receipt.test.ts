import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { checkLog, checkReceipt as checkPlainly, keyOf } from '../../conformance/receipts/verify.mjs';
import { generateKeys } from '../../src/aeiou/index.ts';
import { formatKeys, parseKeys } from '../../src/aeiou/keys/format.ts';
import { LoopController, MemoryStore, runtimeExecutor, type SessionState, type TurnRecord } from '../../src/loop/index.ts';
import { chained, GENESIS, verifyChain } from '../../src/loop/log/chain.ts';
import {
  type Checkpoint,
  CheckpointWalk,
  checkReceipt,
  formatCheckpoint,
  formatReceipt,
  formatReceiptKey,
  generateReceiptKey,
  issueCheckpoint,
  issueReceipt,
  parseReceiptKey,
  publicReceiptKey,
  type Receipt,
  ReceiptError,
  readCheckpoint,
  readReceipt,
  verifyReceipt,
  withhold,
} from '../../src/receipt/index.ts';
import { createRuntime, type Runtime } from '../../src/runtime/index.ts';
import { defineTool } from '../../src/tools/index.ts';
import { tempFolder } from '../folder.ts';
import { newKeyring, reply, TestClock, USERDATA } from '../loop/fake.ts';
import { CONTINUE, command, DONE } from '../loop/sessions.ts';

/** Every which byte is changed; 1 by `npm run prove`. */
const STEP = Number(process.env['RECEIPT_STEP'] ?? 19);

const key = generateReceiptKey('auditor');
const plainKey = keyOf(formatReceiptKey(publicReceiptKey(key)));
let runtime: Runtime;
let state: SessionState;
let records: readonly TurnRecord[];
let receipt: Receipt;
let file: string;

beforeAll(async () => {
  // The order of a map's keys is part of its value.
  const tools = [
    defineTool({
      name: 'tool.x.Get',
      args: [],
      run: () =>
        new Map([
          ['z', 'é'],
          ['a', '\u{10ffff}'],
        ]),
    }),
  ];
  const policy = { allow: ['*'] };
  runtime = await createRuntime({ concurrency: 1, tools, policy });
  const store = new MemoryStore();
  const loop = new LoopController({
    executor: runtimeExecutor(runtime),
    keyring: newKeyring('test', new TestClock()),
    clock: new TestClock(),
    store,
  });
  const programs = [command('set m = tool.x.Get()', 'emit m', CONTINUE), command("emit 'two'", DONE)];
  await loop.runLoop({ userdata: USERDATA, agent: { reply: async ({ turn }) => reply(programs[turn - 1] ?? '') }, sid: 's' });
  state = (await store.read('s')) ?? expect.fail('no session');
  records = await store.turns('s');
  expect(records.map(({ error }) => error)).toEqual([null, null]);
  receipt = issueReceipt(state, records, key, 0);
  file = formatReceipt(receipt);
  return () => runtime.close();
});

/** What our reader and the plain verifier find in a file; they must agree on whether it is anything. */
function faultsOf(text: string): readonly string[] {
  const plain = checkPlainly(text, plainKey);
  const own = ownFaults(text);
  expect([text.slice(0, 0), plain.faults.length > 0]).toEqual(['', own.length > 0]);
  return own;
}

function ownFaults(text: string): readonly string[] {
  try {
    return checkReceipt(readReceipt(text), key).faults;
  } catch (error) {
    if (error instanceof ReceiptError) return [error.message];
    throw error;
  }
}

/** The file with each of its bytes changed in turn, every `step`-th one. */
function* flipped(text: string, step: number): Generator<string> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += step) {
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] ?? 0) ^ 1;
    yield copy.toString();
  }
}

describe('a receipt (issue 23)', () => {
  it('is verified and executed from the file alone, and the plain verifier agrees', async () => {
    expect(faultsOf(file)).toEqual([]);
    await using bare = await createRuntime({ concurrency: 1, policy: { allow: ['*'] } });
    expect(await verifyReceipt(bare, readReceipt(file), publicReceiptKey(key))).toMatchObject({
      ok: true,
      faults: [],
      withheld: [],
      turns: [
        { turn: 1, decision: 'CONTINUE', verdict: 'same' },
        { turn: 2, decision: 'DONE', verdict: 'same' },
      ],
    });
  });

  it('no byte of it changes unnoticed', () => {
    for (const changed of flipped(file, STEP)) if (ownFaults(changed).length === 0) expect.fail(changed);
    for (const changed of flipped(file, 5 * STEP)) expect(faultsOf(changed)).not.toEqual([]);
    expect(faultsOf(file.trimEnd())).not.toEqual([]);
    expect(faultsOf(`${file}\n`)).not.toEqual([]);
    expect(faultsOf(file.replace('{"manifest"', '{"manifest":{},"manifest"'))).not.toEqual([]);
  });

  it('no part is dropped, added, swapped or repeated unnoticed', () => {
    const names = Object.keys(receipt.parts);
    const parts = (change: (all: Record<string, unknown>) => void): string => {
      const all = { ...receipt.parts };
      change(all);
      return formatReceipt({ ...receipt, parts: all });
    };
    for (const [index, name] of names.entries()) {
      const other = names[(index + 1) % names.length] ?? '';
      const dropped = parts((all) => delete all[name]);
      expect(faultsOf(dropped)).toEqual([]);
      expect(checkReceipt(readReceipt(dropped), key).withheld).toEqual([name]);
      expect(checkPlainly(dropped, plainKey).withheld).toEqual([name]);
      const swapped = parts((all) => {
        all[name] = receipt.parts[other];
        all[other] = receipt.parts[name];
      });
      expect(faultsOf(swapped)).toContain(`part ${name} was changed: its digest does not fit`);
      const repeated = parts((all) => {
        all[`${name}0`] = receipt.parts[name];
      });
      expect(faultsOf(repeated)).toEqual([`part ${name}0 was added: the manifest does not name it`]);
    }
    const [first, second] = receipt.manifest.turns;
    for (const turns of [[first], [second, first], [first, second, second], []])
      expect(
        faultsOf(formatReceipt({ ...receipt, manifest: { ...receipt.manifest, turns } as Receipt['manifest'] })),
      ).not.toEqual([]);
  });

  it('shows an issuer who signed what did not happen', async () => {
    const lies: readonly ((record: TurnRecord) => TurnRecord)[] = [
      (record) => ({ ...record, output: record.output.replace('two', 'twe') }),
      (record) => ({ ...record, usage: { ...record.usage, fuel: record.usage.fuel + 1 } }),
      (record) => ({ ...record, decision: 'ABORT' }),
    ];
    for (const lie of lies) {
      const [one, two] = records;
      if (one === undefined || two === undefined) expect.fail('two turns');
      const lied = issueReceipt(state, [one, lie(two)], key, 0);
      expect(faultsOf(formatReceipt(lied))).toEqual([]);
      expect(await verifyReceipt(runtime, lied, key)).toMatchObject({
        ok: false,
        turns: [{ verdict: 'same' }, { verdict: 'differs' }],
      });
    }
    const [one, two] = records;
    if (one === undefined || two === undefined) expect.fail('two turns');
    const odd: TurnRecord = { ...two, inputs: { ...two.inputs, nonce: 'none', scene: null } };
    expect(await verifyReceipt(runtime, issueReceipt(state, [one, odd], key, 0), key)).toMatchObject({
      ok: false,
      faults: [expect.stringContaining('turn 2 cannot be executed: it is malformed: inputs.nonce')],
      turns: [{ verdict: 'same' }, { verdict: 'malformed' }],
    });
    const gap = issueReceipt(state, records.slice(1), key, 0);
    expect(await verifyReceipt(runtime, gap, key)).toMatchObject({ ok: false, faults: ['turn 1 is missing'] });
    expect(faultsOf(formatReceipt(issueReceipt(state, records, generateReceiptKey('auditor'), 0)))).toEqual([
      'its signature does not fit: the manifest was changed, or another key signed it',
    ]);
  });

  it('withheld parts leave the rest verifiable, and cannot be guessed', async () => {
    const less = withhold(receipt, (name) => name.includes('.journal.'));
    expect(await verifyReceipt(runtime, readReceipt(formatReceipt(less)), key)).toMatchObject({
      ok: true,
      turns: [{ verdict: 'verified' }, { verdict: 'verified' }],
    });
    const silent = withhold(receipt, (name) => name === '1.output');
    expect(await verifyReceipt(runtime, silent, key)).toMatchObject({
      ok: true,
      withheld: ['1.output'],
      turns: [{ verdict: 'withheld' }, { verdict: 'same' }],
    });
    const again = issueReceipt(state, records, key, 0);
    const equal = Object.entries(receipt.manifest.parts).filter(([name, digest]) => again.manifest.parts[name] === digest);
    expect(equal).toEqual([]);
  });

  it('finding 9: may name more parts than a call has arguments', async () => {
    const parts = Object.fromEntries(Array.from({ length: 130_000 }, (_, index) => [`p${index}`, 'x']));
    const hostile = { ...receipt, manifest: { ...receipt.manifest, parts }, parts: {} };
    const { ok, withheld, faults } = await verifyReceipt(runtime, readReceipt(formatReceipt(hostile)), key);
    expect([ok, withheld.length, faults.length > 0]).toEqual([false, 130_000, true]);
  });
});

describe('a key for receipts', () => {
  it('is none for control tokens, and the other way round', () => {
    expect(parseReceiptKey(formatReceiptKey(key))).toEqual(key);
    expect(() => parseReceiptKey(formatKeys(generateKeys('host')))).toThrow('keys of control tokens do not sign them');
    expect(() => parseKeys(formatReceiptKey(key))).toThrow("unknown field 'format'");
    expect(() => issueReceipt(state, records, publicReceiptKey(key), 0)).toThrow('has no private half');
    const other = formatReceiptKey({ ...key, publicKey: generateReceiptKey('b').publicKey });
    expect(() => parseReceiptKey(other)).toThrow('of different keys');
  });
});

describe('a checkpoint of a log (issue 23)', () => {
  const entries = [1, 2, 3, 4].map((turn) => ({ SID: 's', turn_index: turn, decision: 'CONTINUE' }));
  const written = (all: readonly object[]): readonly string[] => {
    let prev = GENESIS;
    return all.map((entry) => {
      const link = chained(entry, prev);
      prev = link.hash;
      return link.text;
    });
  };
  const lines = written(entries);
  const checkpointOf = (texts: readonly string[], at = 0): string => {
    const head = (JSON.parse(texts.at(-1) ?? '{}') as { hash?: string }).hash ?? GENESIS;
    return formatCheckpoint(issueCheckpoint({ ok: true, lines: texts.length, head }, GENESIS, key, at));
  };

  /** What a reader of a log finds who holds checkpoints. The plain verifier must agree. */
  const found = (texts: readonly string[], checkpoints: readonly string[]): string | null => {
    const plain = checkLog(texts.map((line) => `${line}\n`).join(''), checkpoints, plainKey);
    const walk = new CheckpointWalk(
      checkpoints.map((text) => readCheckpoint(text, key)),
      GENESIS,
    );
    let why = walk.at(0, GENESIS);
    for (const [index, text] of texts.entries()) why ??= walk.at(index + 1, (JSON.parse(text) as { hash: string }).hash);
    why ??= walk.end();
    expect(plain === null).toBe(why === null);
    return why;
  };

  it('shows a log that was written anew, cut off, or shown differently to two readers', () => {
    const kept = checkpointOf(lines.slice(0, 3));
    expect(found(lines, [kept, checkpointOf(lines)])).toBeNull();
    for (const anew of [entries.slice(1), entries.toReversed(), entries.toSpliced(1, 0, ...entries), entries.toSpliced(1, 1)])
      expect(found(written(anew), [kept])).toContain('the log was written anew');
    expect(found(lines.slice(0, 2), [kept])).toContain('saw 3 lines: the log was cut off');
    const other = written([{ SID: 't', turn_index: 1, decision: 'DONE' }, ...entries.slice(1)]);
    expect(found(lines, [kept, checkpointOf(other.slice(0, 3), 5)])).toContain('1970-01-01T00:00:00.005Z saw another line here');
  });

  it('with it no byte of the log changes unnoticed, and no line is dropped, repeated or swapped', async () => {
    const path = join(tempFolder(), 'log.jsonl');
    const textOf = (all: readonly string[]) => all.map((line) => `${line}\n`).join('');
    const kept = checkpointOf(lines);
    const isGood = async (text: string) => {
      writeFileSync(path, text);
      const witness = new CheckpointWalk([readCheckpoint(kept, key)], GENESIS);
      return [(await verifyChain([path], { witness })).ok, checkLog(text, [kept], plainKey) === null];
    };
    expect(await isGood(textOf(lines))).toEqual([true, true]);
    const other = lines.flatMap((line, at) => {
      const next = (at + 1) % lines.length;
      const swapped = lines.with(at, lines[next] ?? '').with(next, line);
      return [lines.toSpliced(at, 1), lines.toSpliced(at, 0, line), [...lines, line], swapped].map(textOf);
    });
    for (const changed of [...flipped(textOf(lines), 3), ...other])
      expect(await isGood(changed), changed).toEqual([false, false]);
    rmSync(dirname(path), { recursive: true });
  });

  it('no byte of it changes unnoticed, and it is not a receipt', () => {
    const kept = checkpointOf(lines);
    for (const changed of flipped(kept, 1)) {
      expect(() => readCheckpoint(changed, key)).toThrow(ReceiptError);
      expect(checkLog('', [changed], plainKey)).not.toBeNull();
    }
    const { signature, statement } = JSON.parse(kept) as Checkpoint;
    expect(() => readReceipt(kept)).toThrow('it is not a receipt');
    expect(checkReceipt({ ...receipt, signature }, key).faults).toHaveLength(1);
    expect(() => new CheckpointWalk([{ ...statement, after: 'f'.repeat(64) }], GENESIS)).toThrow('begins after another line');
  });
});

it('JSON without the manifest of a receipt is said to be no receipt; a receipt with a fault names the fault', () => {
  for (const other of ['{}', '[]', 'null', '7', '{"manifest":{}}', '{"name":"x","version":"1.0.0"}'])
    expect(() => readReceipt(other)).toThrow("it is not a receipt: it has no manifest of the format 'neuroscript-receipt'");
  const faulty = formatReceipt({ ...receipt, manifest: { ...receipt.manifest, issuedAt: -1 } });
  expect(() => readReceipt(faulty)).toThrow('it is not a receipt: manifest.issuedAt: ');
});

it('18: a receipt that names a turn twice, or a time that no clock has, is refused before anything is executed', () => {
  const { manifest } = receipt;
  const turns = [...manifest.turns, ...manifest.turns];
  for (const wrong of [{ turns }, { issuedAt: 1e300 }])
    expect(() => readReceipt(formatReceipt({ ...receipt, manifest: { ...manifest, ...wrong } }))).toThrow(ReceiptError);
});

it('18: a receipt whose parts have too many values or nest too deep is refused before a part is read', () => {
  const withParts = (...jsons: readonly string[]): string =>
    formatReceipt({
      ...receipt,
      parts: Object.fromEntries(jsons.map((json, index) => [`${index}`, { salt: 'a', json }])),
    });
  for (const jsons of [['['.repeat(1001)], ['"', '['.repeat(1001)]])
    expect(() => readReceipt(withParts(...jsons))).toThrow('its parts nest too deep, or have too many values');
});

it('18: a checkpoint of a time that no clock has is refused', () => {
  const text = formatCheckpoint(issueCheckpoint({ ok: true, lines: 0, head: GENESIS }, GENESIS, key, 1e300));
  expect(() => readCheckpoint(text, key)).toThrow(ReceiptError);
});
