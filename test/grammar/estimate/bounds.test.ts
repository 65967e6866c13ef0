import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Estimate, estimate } from '../../../grammar/estimate/index.ts';
import type { SourceFile } from '../../../grammar/syntax/ast.ts';
import { parse } from '../../../grammar/syntax/parse.ts';
import { BOUNDING_COSTS as costs, STEP_FUEL, VALUE_BYTES } from '../../../src/wire/costs.ts';
import { makeWorld } from '../../conformance/world.ts';
import { cpuMs } from '../../cost.ts';
import { SLOW } from '../../groups.ts';
import { type DriveOptions, driveFiles } from '../../guest/driver.ts';
import { corpus } from '../lint/corpus.ts';
import { programs } from '../lint/programs.ts';

/** The trees of sources, each parsed once for its estimate and its runs; null when one of them does not parse. */
function parsed(sources: readonly string[]): readonly SourceFile[] | null {
  const results = sources.map((text, index) => parse(text, { name: `test${index}.ns` }));
  return results.every((result) => result.ok) ? results.map(({ file }) => file) : null;
}

function treesOf(sources: readonly string[]): readonly SourceFile[] {
  const files = parsed(sources);
  if (files === null) throw new Error(`this does not parse:\n${sources.join('\n')}`);
  return files;
}

function estimates(files: readonly SourceFile[], globals: readonly string[] = []): readonly Estimate[] {
  return estimate(files, costs, { globals });
}

/** The bounds of all command blocks together. */
function bounds(
  files: readonly SourceFile[],
  globals: readonly string[] = [],
): { readonly least: number; readonly most: number } {
  const blocks = estimates(files, globals).filter(({ kind }) => kind === 'command');
  return {
    least: blocks.reduce((sum, { least }) => sum + least, 0),
    most: blocks.reduce((sum, { most }) => sum + (most ?? Number.POSITIVE_INFINITY), 0),
  };
}

const TRIVIAL = treesOf(['command\nset x = 1\nendcommand\n']);
/** Fuel of the trivial command alone, by what else a run is given. */
const trivial = new Map<string, number>();

/** Fuel of the trivial command with these files, which tells what it takes to load them. */
function loading(files: readonly SourceFile[], options: DriveOptions): number {
  if (files.length > 0) return driveFiles([...files, ...TRIVIAL], options).fuel;
  const key = JSON.stringify(options);
  const fuel = trivial.get(key) ?? driveFiles(TRIVIAL, options).fuel;
  trivial.set(key, fuel);
  return fuel;
}

/** Fuel of the commands alone, without loading the files, which evaluates the names of events. */
function used(files: readonly SourceFile[], options: DriveOptions): { readonly fuel: number; readonly ok: boolean } {
  const nothing = loading(
    files.filter(({ commands }) => commands.length === 0),
    options,
  );
  const { fuel, ok, error } = driveFiles(files, options);
  // A random program may grow a text beyond every limit: what it used until then has the same upper bound.
  if (error !== null && error.kind !== 'runtime' && error.kind !== 'quota') throw new Error(`${error.code}: ${error.message}`);
  return { fuel: fuel - (nothing - STEP_FUEL.statement.amount), ok };
}

function hold(files: readonly SourceFile[], options: DriveOptions): boolean {
  const { least, most } = bounds(files, Object.keys(options.globals ?? {}));
  const { fuel, ok } = used(files, options);
  if (fuel > most) expect(fuel).toBeLessThanOrEqual(most);
  // A run that ends in an error may stop anywhere.
  if (ok && fuel < least) expect(fuel).toBeGreaterThanOrEqual(least);
  return most < Number.POSITIVE_INFINITY;
}

describe('the bounds of a block', () => {
  const runnable = corpus.filter(
    ({ events, expected }) => events.length === 0 && !/^(ERR_|syntax)/.test(expected.error?.code ?? ''),
  );

  it('hold for every program of the conformance suite, and most programs have an upper bound', () => {
    let bounded = 0;
    for (const { source, globals, stdin, limits } of runnable) {
      const sources = /^func main\b/m.test(source) ? [source, 'command\n  call main()\nendcommand\n'] : [source];
      const options = { globals: globals as DriveOptions['globals'] & object, stdin, limits, tools: makeWorld().here };
      if (hold(treesOf(sources), options)) bounded++;
    }
    expect(runnable.length).toBeGreaterThan(400);
    expect(bounded).toBeGreaterThan(runnable.length / 2);
  });

  it('hold for random programs', () => {
    let [seen, bounded] = [0, 0];
    fc.assert(
      fc.property(programs, ({ library, commands }) => {
        const files = parsed([library, commands]);
        if (files === null) return;
        seen++;
        if (hold(files, {})) bounded++;
      }),
      { numRuns: 500 },
    );
    expect(bounded).toBeGreaterThan(seen / 4);
  });
});

describe('the bounds hold in difficult cases', () => {
  const f = `func f() means\nset x = [1, 2, 3, 4]\nreturn x\nendfunc\nfunc h() means\nset x = "${'text '.repeat(100)}"\nendfunc\n`;
  it.each<[string, readonly string[], DriveOptions]>([
    ['a side of `and` that is not evaluated', ['set x = g and f()'], { globals: { g: false } }],
    ['a side of `or` that is evaluated', ['set x = g or f()'], { globals: { g: false } }],
    ['text that takes six characters for each in JSON', [`emit "${'\\u0001'.repeat(2000)}"`], {}],
    ['text in quotes within lists within lists', [`emit [["${'\\"'.repeat(3000)}"]]`], {}],
    [
      'a handler that changes what the next pass does',
      [
        'on error do',
        'set n = true',
        'clear_error',
        'endon',
        'set n = false',
        'for each x in {"a": 1, typeof self: 2}',
        'if n',
        `set y = [${'1, '.repeat(500)}]`,
        'endif',
        'fail "next"',
        'endfor',
      ],
      {},
    ],
    ['a list that doubles at every pass', ['set l = [1]', 'for each x in "abcdefgh"', 'set l = [l, l]', 'endfor', 'emit l'], {}],
    ['a text that doubles at every pass', ['set t = "x"', 'for each x in "abcdefgh"', 'set t = t + t', 'endfor', 'emit t'], {}],
    ['what a procedure without return gives', ['emit h()'], {}],
    ['padding', ['set l[900] = 1', 'set l[9] = l'], {}],
    ['whispers', ["whisper 'log', 'x'"], {}],
    ['characters that are counted', ["set a = len('é😀' * 600)"], {}],
    ['white space before a number', [`set a = '${' '.repeat(9000)}1'`, 'set b = 1 + a'], {}],
    ['digits among underscores', [`set a = '${'1_'.repeat(10_000)}1'`, 'set b = 1 + a'], {}],
    ['lines', ['emit "\\n" * 3000'], {}],
  ])('%s', (_what, lines, options) => {
    expect(hold(treesOf([f, `command\n${lines.join('\n')}\nendcommand\n`]), options)).toBe(true);
  });
});

describe('how close the bounds are', () => {
  it.each([
    ['a sum', ['set x = 1 + 2 * 3']],
    ['a loop over a list', ['set t = 0', 'for each x in [1, 2, 3]', 'set t = t + x', 'endfor']],
    ['a loop that counts', ['set i = 0', 'while i < 10', 'set i = i + 1', 'endwhile']],
    ['a choice that is certain', ['set i = 3', 'if i == 3', 'set a = 1', 'else', 'set a = [1, 2, 3]', 'endif']],
    ['break in a certain pass', ['for each x in [1, 2, 3]', 'if x == 2', 'break', 'endif', 'endfor']],
  ])('%s: exact, errors aside', (_what, lines) => {
    const files = treesOf([`command\n${lines.join('\n')}\nendcommand\n`]);
    const { fuel } = used(files, {});
    const { least, most } = bounds(files);
    expect(least).toBe(fuel);
    // If an operator can fail, an error in the last statement costs more than reaching the end.
    expect(most - fuel).toBeLessThanOrEqual(STEP_FUEL.raise.amount + 1);
  });

  it('of a choice: the cheapest and the most expensive branch', () => {
    const source = 'func f(needs a) means\nif a\nset x = 1\nelse\nset x = [1, 2]\nset y = 3\nendif\nendfunc\n';
    const [only] = estimates(treesOf([source]));
    const { call, statement, operation } = STEP_FUEL;
    const head = call.amount + statement.amount;
    expect(only).toMatchObject({ kind: 'procedure', name: 'f', line: 1, column: 6 });
    expect([only?.least, only?.most]).toEqual([head + statement.amount, head + 2 * statement.amount + 3 * operation.amount]);
  });

  it('of a handler: every statement may fail', () => {
    const source = 'command\non error do\nset e = 1\nclear_error\nendon\nset a = self - 1\nset b = self - 1\nendcommand\n';
    const files = treesOf([source]);
    const { least, most } = bounds(files);
    expect(least).toBe(2 * (STEP_FUEL.statement.amount + STEP_FUEL.operation.amount));
    expect(most).toBeGreaterThanOrEqual(used(files, {}).fuel);
  });
});

describe('no upper bound', () => {
  it.each([
    ['while self', 'set x = 1', 'endwhile', 'the number of passes of this `while` is not known', 2, 7],
    ['while true', 'set x = 1', 'endwhile', 'the condition of this `while` never becomes false', 2, 7],
    ['for each x in g', 'emit 1', 'endfor', 'the number of items is not known', 2, 15],
    ['set x = 1', 'emit g', 'set y = 1', 'the size of the emitted value is not known', 3, 6],
    ['set x = 1', 'emit "a" * g', 'set y = 1', 'the size of text that may be a number is not known', 3, 10],
    ['set x = 1', 'call tool.a.B()', 'set y = 1', 'the result of `tool.a.B` may have any size', 3, 6],
  ])('%s …', (first, second, third, message, line, column) => {
    const [only] = estimates(treesOf([`command\n${first}\n${second}\n${third}\nendcommand\n`]), ['g']);
    expect(only?.most).toBeNull();
    expect(only?.because).toEqual({ message, file: 'test0.ns', line, column });
  });

  it('direct and indirect recursion, at the call', () => {
    const source = 'func f(needs n) means\nif n\ncall g(n)\nendif\nendfunc\nfunc g(needs n) means\ncall f(n)\nendfunc\n';
    const [f] = estimates(treesOf([source]));
    expect(f).toMatchObject({
      most: null,
      because: { message: '`f` calls itself an unknown number of times', line: 7, column: 6 },
    });
  });

  it('when values and frames may take enough memory for a recount', () => {
    const block = (variables: number): string =>
      `command\n${Array.from({ length: variables }, (_, index) => `set v${index} = 1\n`).join('')}endcommand\n`;
    const most = (variables: number): number | null | undefined => {
      const result = parse(block(variables), { name: 'x' });
      return result.ok ? estimate([result.file], { ...costs, recountBytes: 1000 })[0]?.most : undefined;
    };
    const { frame, slot } = VALUE_BYTES;
    const fits = Math.floor((1000 - frame.amount) / slot.amount) - 2;
    expect([most(fits), most(fits + 1)]).toEqual([fits, null]);
  });

  it('a choice with an endless branch has no bound', () => {
    const { least, most } = bounds(treesOf(['command\nif g\nwhile true\nset x = 1\nendwhile\nendif\nendcommand\n']), ['g']);
    expect([least, most]).toEqual([STEP_FUEL.statement.amount, Number.POSITIVE_INFINITY]);
  });
});

describe('the work of an estimate', () => {
  const loops = (depth: number): string =>
    `${'for each x in [1, 2, 3, 4, 5, 6, 7, 8, 9]\n'.repeat(depth)}set y = 1\n${'endfor\n'.repeat(depth)}`;
  it.each([
    ['nested loops', `command\n${loops(100)}endcommand\n`],
    ['many variables', `command\n${Array.from({ length: 20_000 }, (_, i) => `set v${i} = ${i}\n`).join('')}endcommand\n`],
    [
      'calls that double at each level',
      Array.from({ length: 400 }, (_, i) => `func f${i}() means\nreturn f${i + 1}() + f${i + 1}()\nendfunc\n`).join(''),
    ],
    [
      'handlers in handlers',
      `command\n${'on error do\n'.repeat(150)}emit 1 / 0\n${'endon\nemit 1 / 0\nemit 2 / 0\n'.repeat(150)}endcommand\n`,
    ],
    ['a sum of 100,000 terms', `command\nset x = 1${' + 1'.repeat(100_000)}\nendcommand\n`],
  ])('is bounded: %s', SLOW, (_what, source) => {
    expect(cpuMs(() => expect(estimates(treesOf([source])).length).toBeGreaterThan(0), 1)).toBeLessThan(10_000);
  });
});
