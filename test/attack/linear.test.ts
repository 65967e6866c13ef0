// @module-tag slow
import { describe, expect, it } from 'vitest';
import { ToolBench } from '../../src/testing/index.ts';
import { Policy, type ToolDefinition } from '../../src/tools/index.ts';
import type { CheckReport } from '../../src/wire/sourcereports.ts';
import { checkSources } from '../../src/worker/check.ts';
import * as standard from '../../stdlib-tools/index.ts';
import { tempFolder } from '../folder.ts';
import { adversarial, PIECES, READERS, UNITS } from './foreign.ts';
import { PROGRAM_READERS } from './programtext.ts';

/** Most by which the CPU time may grow when a text is twice as long. Linear work takes twice the time. */
const GROWTH = 2.5;
/** Doublings from one size to the next: over several of them the steps of an allocator do not count. */
const DOUBLINGS = 3;
/** Sizes that are measured, the largest last. Work of quadratic time fails at a small size, in little time. */
const SIZES = 3;
/** CPU milliseconds below which a measurement says nothing. */
const NOISE_MS = 4;
/**
 * A measurement that looks wrong is made so often in all. The least counts: a compiler and a collector of garbage, whose threads count,
 * only add, and a single collection takes tens of milliseconds where the work takes ten.
 */
const TRIES = 8;

/** What is wrong with the time that some work takes on texts of one piece; null when it grows in proportion. */
async function superlinear(piece: string, most: number, work: (text: string) => unknown): Promise<string | null> {
  let before = Number.POSITIVE_INFINITY;
  for (let size = SIZES - 1; size >= 0; size--) {
    const text = adversarial(piece, most / 2 ** (DOUBLINGS * size));
    const allowed = GROWTH ** DOUBLINGS * Math.max(before, NOISE_MS);
    let least = await cpuMs(() => work(text));
    for (let again = 1; again < TRIES && least > allowed; again++) least = Math.min(least, await cpuMs(() => work(text)));
    if (least > allowed)
      return `${text.length} units of ${JSON.stringify(piece)} took ${least} ms, an eighth of them ${before} ms`;
    before = least;
  }
  return null;
}

/** CPU milliseconds that some work takes, whether it succeeds or refuses its text. A full stack is no refusal. */
async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  try {
    await work();
  } catch (error) {
    if (error instanceof RangeError && error.message.includes('call stack')) throw error;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

async function findings(pieces: readonly string[], most: number, work: (text: string) => unknown): Promise<readonly string[]> {
  const found: string[] = [];
  for (const piece of new Set(pieces)) {
    const finding = await superlinear(piece, most, work);
    if (finding !== null) found.push(finding);
  }
  return found;
}

describe('finding 1, 13: a reader of foreign data takes time in proportion to its text', () => {
  it.each([...READERS, ...PROGRAM_READERS])(
    '$name',
    { timeout: 300_000 },
    async ({ read, pieces = [], most = UNITS, heavy = 1 }) => {
      expect(await findings([...PIECES, ...pieces], most / heavy, read)).toEqual([]);
    },
  );
});

/** Units of a text that a program gives to a tool, in one argument. */
const ARGUMENT_UNITS = 2 ** 16;
/** Arguments of the other parameters. */
const OTHERS: Readonly<Record<string, unknown>> = {
  number: 0,
  bool: true,
  map: {},
  list: [],
  slice_string: [],
  timedate: '2025-10-15T08:00:00Z',
};

describe('finding 1: a tool of the host takes time in proportion to its arguments', () => {
  const folder = tempFolder();
  const tools: readonly ToolDefinition[] = [
    ...[standard.capsuleTools(), standard.cryptoTools(), standard.memoryTools(), standard.scratchTools(), standard.timeTools()],
    ...[
      standard.fsTools({ directoryOf: async () => folder }),
      standard.policyTools(standard.pathRule(['a'])),
      standard.storeTools(),
    ],
    ...[standard.rootTools(), standard.toolsTools(), standard.systemTools({ policy: new Policy({ allow: ['*'] }) })],
  ].flat();
  const texts = tools.flatMap(({ name, parameters }) =>
    parameters.flatMap(({ name: parameter, kind }, index) =>
      typeOf(kind) === 'string' || typeOf(kind) === 'any' ? [{ name, parameter, index, parameters }] : [],
    ),
  );

  it.each(texts)('$name: $parameter', { timeout: 300_000 }, async ({ name, index, parameters }) => {
    await using bench = new ToolBench(tools, { turn: { sessionId: 's', turnIndex: 1 } });
    const call = (text: string) =>
      bench.call(
        name,
        parameters.map(({ kind }, at) => (at === index ? text : (OTHERS[typeOf(kind)] ?? 'a'))),
      );
    expect(await findings(PIECES, ARGUMENT_UNITS, call)).toEqual([]);
  });

  it('every group of tools that the package has is among them', () => {
    const factories = Object.keys(standard).filter((name) => name.endsWith('Tools') && name !== 'pureTools');
    expect(factories).toHaveLength(11);
  });
});

/** The type of an argument. A schema may take a text. */
function typeOf(kind: ToolDefinition['parameters'][number]['kind']): string {
  return 'type' in kind ? kind.type : 'any';
}

const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('');

describe('issue 44, finding 3: checking takes time in proportion to', () => {
  it.each<[string, number, (count: number) => string]>([
    [
      'procedures that call the next one twice',
      1000,
      (count) =>
        `${lines(count, (at) => `func p${at}() means\nreturn p${at + 1}() + p${at + 1}()\nendfunc\n`)}func p${count}() means\nreturn 1\nendfunc\n`,
    ],
    ['targets of one assignment', 16_000, (count) => `func f() means\nset ${lines(count, (at) => `a${at}, `)}b = f()\nendfunc\n`],
    ['parameters', 16_000, (count) => `func f(needs ${lines(count, (at) => `a${at}, `)}b) means\nemit 1\nendfunc\n`],
    ['unclosed blocks', 16_000, (count) => `command\n${lines(count, () => 'if true\n')}`],
  ])('%s', async (_, most, text) => {
    const check = (count: number) => async () => {
      const source = text(count);
      await null;
      return checkSources([{ name: 'a', text: source }], 2 ** 20, {});
    };
    const least = async (count: number): Promise<number> => {
      const tries: number[] = [];
      for (let round = 0; round < 3; round++) tries.push(await cpuMs(check(count)));
      return Math.min(...tries);
    };
    const before = await least(most / 8);
    expect(await least(most)).toBeLessThan(GROWTH ** DOUBLINGS * Math.max(before, NOISE_MS));
  });
});

/** Characters of a program. */
const LONG = 60_000;

function long(begin: string, line: (index: number) => string, end: string): string {
  let text = begin;
  for (let index = 0; text.length < LONG; index++) text += line(index);
  return `${text}${end}`;
}

describe('issue 44, finding 3: a program with very many mistakes is checked nearly as fast as one without', () => {
  const name = (at: number, length: number): string => `n${at + 1000}`.padEnd(length, 'abcdefghij');
  const list = (item: string): string => long('command\nemit [', () => item, '1]\nendcommand\n');
  const statements = (line: (index: number) => string): string => long('command\n', line, 'endcommand\n');
  const check = (text: string): CheckReport => checkSources([{ name: 'a', text }], 2 ** 20, {});
  const least = async (text: string): Promise<number> => {
    const tries: number[] = [];
    for (let round = 0; round < 3; round++) tries.push(await cpuMs(() => check(text)));
    return Math.min(...tries);
  };

  it.each<[string, string]>([
    ['long names that nearly are those of others', statements((at) => `set ${name(at, 40)} = 1\nemit ${name(at % 50, 39)}x\n`)],
    ['unknown procedures and names as keys in one line', list('f({n: 1}), ')],
    ['statements of another language in one line', long('command\n', () => 'emit 1; ', '\nendcommand\n')],
    ['loops of three parts', statements(() => 'for (let i = 0; i < 3; i++) {\n  emit i\n}\n')],
    ['fixes that belong together', statements(() => 'x++\n')],
  ])('%s', { timeout: 120_000 }, async (_, text) => {
    const plain = statements((at) => `set a${at % 50} = ${at}\nemit a${at % 50}\n`);
    expect(check(plain)).toMatchObject({ diagnostics: [], findings: [] });
    expect(check(text).diagnostics.length + check(text).findings.length).toBeGreaterThan(90);
    expect((await least(text)) / (await least(plain))).toBeLessThan(16);
  });
});
