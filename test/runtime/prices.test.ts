import { beforeAll, describe, expect, it } from 'vitest';
import {
  exportFile,
  exportSession,
  LoopController,
  MemoryStore,
  readExport,
  replayTurn,
  runtimeExecutor,
  type TurnRecord,
} from '../../src/loop/index.ts';
import { sealRecord } from '../../src/loop/record/seal.ts';
import { pricesOf } from '../../src/loop/sessions/configuration.ts';
import { PLAIN_SETUP } from '../../src/loop/sessions/setup.ts';
import {
  formatReceipt,
  generateReceiptKey,
  issueReceipt,
  type Receipt,
  readReceipt,
  verifyReceipt,
} from '../../src/receipt/index.ts';
import { createRuntime, type Runtime } from '../../src/runtime/index.ts';
import { SECOND_FUEL } from '../../src/wire/costs.ts';
import { newKeyring, reply, TestClock, USERDATA } from '../loop/fake.ts';
import { CONTINUE, command, DONE } from '../loop/sessions.ts';

const SAID = SECOND_FUEL.said.fuel;
const EMIT = command("emit 'one'");
/** A number that no version has, as it comes from a later one. */
const UNKNOWN = JSON.parse('3');
const agent = { reply: async ({ turn }: { readonly turn: number }) => reply(command("emit 'x'", turn === 1 ? CONTINUE : DONE)) };

let first: Runtime;
let second: Runtime;

beforeAll(async () => {
  first = await createRuntime({ concurrency: 1, policy: { allow: ['*'] } });
  second = await createRuntime({ concurrency: 1, policy: { allow: ['*'] }, prices: 2 });
  return async () => {
    await first.close();
    await second.close();
  };
});

function controller(runtime: Runtime, store: MemoryStore): LoopController {
  const clock = new TestClock();
  return new LoopController({ executor: runtimeExecutor(runtime), keyring: newKeyring('test', clock), clock, store });
}

/** A session of two turns: one on each host. */
async function played(opener: Runtime, driver: Runtime): Promise<readonly [MemoryStore, readonly TurnRecord[]]> {
  const store = new MemoryStore();
  await controller(opener, store).open(USERDATA, 's');
  await controller(opener, store).step('s', { agent });
  await controller(driver, store).step('s', { agent });
  return [store, await store.turns('s')];
}

/** The record as if it had been counted by another table. */
function priced({ seal, ...record }: TurnRecord, prices: number | undefined): TurnRecord {
  const text = JSON.stringify(record, (key, value) => (key === 'run' && value !== null ? { ...value, prices } : value));
  return sealRecord(JSON.parse(text), seal?.prev ?? null);
}

const tablesOf = (records: readonly TurnRecord[]) => records.map(({ inputs }) => inputs.scene?.run?.prices);

describe('tables of prices (issue 21, 6)', () => {
  it('a run counts by its own table, by that of its runtime, and by table 1', async () => {
    const [plain, asked, usual, back] = await Promise.all([
      first.run(EMIT),
      first.run(EMIT, { prices: 2 }),
      second.run(EMIT),
      second.run(EMIT, { prices: 1 }),
    ]);
    expect([asked, usual, back].map(({ usage }) => usage.fuel - plain.usage.fuel)).toEqual([SAID, SAID, 0]);
  });

  it('what a run takes is foreseen and estimated by its table', async () => {
    const fuelOf = async (runtime: Runtime) => {
      const { preview } = await runtime.foresee(EMIT);
      const { estimates } = await runtime.check([{ name: 'a.ns', text: EMIT }]);
      return [preview?.fuel.most ?? 0, estimates[0]?.most ?? 0];
    };
    const [one, two] = [await fuelOf(first), await fuelOf(second)];
    // A bound takes the rows of a text together, and may be one higher.
    expect(two.map((most, at) => Math.floor((most - (one[at] ?? 0)) / SAID))).toEqual([1, 1]);
  });

  it.each([
    ['whispers', "whisper 'log', 'x'", SAID],
    ['joining', "set a = 'ab' * 2000\nset b = a + a", 10],
    ['comparing', "set a = 'a' * 600\nset b = a < a", 4],
    ['counting', "set a = len('é' * 600)", 4],
    ['white space before a number', `set a = '${' '.repeat(9000)}1'\nset b = 1 + a`, 1000],
    ['digits among underscores', `set a = '${'1_'.repeat(10_000)}1'\nset b = 1 + a`, 1000],
    ['lines', 'emit "\\n" * 30', SAID + 10],
    ['printing', "emit ['a' * 300, 'b']", 10],
  ])('no run takes more than was foreseen by its table: %s', async (_, statement, other) => {
    const fuelOf = async (runtime: Runtime) => {
      const { preview } = await runtime.foresee(command(statement));
      const { usage, error } = await runtime.run(command(statement));
      expect(error).toBeNull();
      expect(preview?.fuel.most).toBeGreaterThanOrEqual(usage.fuel);
      expect(preview?.fuel.most).toBeLessThan(10_000);
      return usage.fuel;
    };
    expect(Math.abs((await fuelOf(second)) - (await fuelOf(first)))).toBeGreaterThanOrEqual(other);
  });

  it('white space and digits cost fuel for every whole 4,096 of them, wherever they stand', async () => {
    const more = async (statement: string) => {
      const [one, two] = await Promise.all([first.run(command(statement)), second.run(command(statement))]);
      return two.usage.fuel - one.usage.fuel;
    };
    expect(await more("set a = 1 + '1000000000000000000000_1'")).toBe(0);
    const numeral = (digits: number, spaces: number) => more(`set a = 1 + '${'0'.repeat(digits)}7${' '.repeat(spaces)}'`);
    // Of both lengths the end is passed by the place 4,096; only the second has as many units of white space.
    expect((await numeral(90, 4095)) - (await numeral(4185, 0))).toBe(0);
    expect((await numeral(90, 4096)) - (await numeral(4186, 0))).toBe(SECOND_FUEL.space.fuel);
  });

  it('an unknown table is refused where it is named', async () => {
    const refused = { code: 'ERR_CONFIG', message: expect.stringContaining('there is no table of prices 3; known are 1, 2') };
    await expect(createRuntime({ prices: UNKNOWN })).rejects.toMatchObject(refused);
    await expect(first.run(EMIT, { prices: UNKNOWN })).rejects.toMatchObject(refused);
    await expect(controller(first, new MemoryStore()).open(USERDATA, 's', { prices: UNKNOWN })).rejects.toMatchObject(refused);
    const stored = { ...PLAIN_SETUP, configuration: { prices: 3 } };
    expect(() => pricesOf(stored)).toThrow(expect.objectContaining({ code: 'ERR_STORE', detail: 'newer' }));
  });

  it('a session keeps its table on hosts of another one, and its records replay by it', async () => {
    const [, records] = await played(second, first);
    expect(tablesOf(records)).toEqual([2, 2]);
    const [, old] = await played(first, second);
    expect(tablesOf(old)).toEqual([undefined, undefined]);
    expect(records.map(({ usage }, at) => usage.fuel - (old[at]?.usage.fuel ?? 0)).every((more) => more >= 2 * SAID)).toBe(true);
    for (const record of [...records, ...old])
      for (const runtime of [first, second]) expect(await replayTurn(runtime, record)).toMatchObject({ verdict: 'same' });
    const [record] = records;
    if (record === undefined) expect.fail('no record');
    expect(await replayTurn(first, priced(record, undefined))).toMatchObject({ verdict: 'differs' });
    expect(await replayTurn(first, priced(record, 3))).toMatchObject({
      verdict: 'incomplete',
      why: expect.stringContaining('this version has no such table of prices'),
    });
  });

  it('a host that knows table 1 alone leaves a session of table 2 to others', async () => {
    const store = new MemoryStore();
    await controller(first, store).open(USERDATA, 'one');
    await controller(first, store).open(USERDATA, 'two', { prices: 2 });
    await controller(second, store).open(USERDATA, 'both');
    expect((await store.list()).map(({ sid, reader }) => [sid, reader])).toEqual([
      ['both', 2],
      ['one', 1],
      ['two', 2],
    ]);
    const claimed = async (reader?: number) =>
      (await store.next({ owner: 'h', ms: 600_000 }, 9, { profiles: [''], ...(reader === undefined ? {} : { reader }) })).map(
        ({ state }) => state.sid,
      );
    expect(await claimed(1)).toEqual(['one']);
    expect((await claimed()).sort()).toEqual(['both', 'two']);
  });

  it('an export has the table of each turn', async () => {
    const [store] = await played(second, second);
    const exported = await exportSession(store, 's');
    const [read] = readExport(JSON.stringify(exportFile(exported === null ? [] : [exported])));
    expect(tablesOf(read?.turns ?? [])).toEqual([2, 2]);
  });

  it('a receipt names the table, and no other one is believed', async () => {
    const [store, records] = await played(second, second);
    const state = (await store.read('s')) ?? expect.fail('no session');
    const key = generateReceiptKey('auditor');
    const read = (receipt: Receipt) => readReceipt(formatReceipt(receipt));
    const receipt = issueReceipt(state, records, key, 0);
    expect(receipt.manifest.prices).toBe(2);
    expect(await verifyReceipt(first, read(receipt), key)).toMatchObject({ ok: true, faults: [] });
    const [one, two] = records;
    if (one === undefined || two === undefined) expect.fail('no records');
    const mixed = issueReceipt(state, [priced(one, undefined), two], key, 0);
    expect((await verifyReceipt(first, read(mixed), key)).faults).toContain(
      'the manifest says of turn 1 what its record does not',
    );
    const later = { ...receipt, manifest: { ...receipt.manifest, prices: 3 } };
    expect(() => read(later)).toThrow(expect.objectContaining({ code: 'ERR_RECEIPT' }));
  });
});
