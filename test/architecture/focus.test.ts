import { matchesGlob } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { expect, it } from 'vitest';
import { ALONE, ELSEWHERE, REMOVALS, SLOW_FILES, TIMED } from '../groups.ts';
import { ESCAPED, filesBelow, isNode, type SyntaxNode, sourceOf, walk } from './source.ts';

/** Ways to leave a test out, to run it alone, or to call its failure a success. */
const MODIFIERS = new Set(['skip', 'only', 'todo', 'fails', 'skipIf', 'runIf']);
const OLD_NAMES = new Set(['xit', 'xtest', 'xdescribe', 'fit', 'fdescribe', 'ftest']);
/** A file in which none of them stands as a member or a key, nor an escape that could spell one, needs no parsing. */
const NAME = `(?:${[...MODIFIERS, ...OLD_NAMES].join('|')})`;
const NAMED = new RegExp(`[./]\\s*${NAME}\\b|\\b${NAME}\\s*[:,}(/]|${ESCAPED.source}`);
const RUNNERS = new Set(['it', 'test', 'describe', 'suite']);

it('no test is skipped, focused, left to do or expected to fail', () => {
  const found = filesBelow('test', '.ts')
    .map(sourceOf)
    .filter(({ text }) => NAMED.test(text))
    .flatMap(({ path, program }) => leftOut(program).map((what) => `${path}: ${what}`));
  expect(found).toEqual([]);
});

/** What judges a time or the memory of a process, or starts one. */
const JUDGES =
  /\bcpuMs\(|performance\.now|cpuUsage|memoryUsage|heapUsed|\bneuroscript\(|\bspawn(?:Sync)?\(|\bexecFile(?:Sync)?\b|node:child_process/;
/** Files that use such a function and are quick: nothing in them judges what a clock says, or waits for a process longer than it takes. */
const MAY: ReadonlySet<string> = new Set([
  'test/architecture/focus.test.ts', // names them
  'test/grammar/syntax/properties.test.ts', // a thousandfold of what a small source takes
  'test/loop/agents/model.test.ts', // a hundredfold of what a reply takes
  'test/loop/ask/replay.test.ts', // replaces the clock
  'test/sandbox/clock.test.ts', // replaces the clock
  'test/sandbox/starttime.test.ts', // replaces the clock
  'test/telemetry/conventions.test.ts', // has a function of that name
  // A fresh process is the subject.
  ...[
    'test/aeiou/portable.test.ts',
    'test/aeiou/token/warm.test.ts',
    'test/restate/restate.test.ts',
    'test/worker/lockdown.test.ts',
  ],
  // They make pipes and archives with programs of the system.
  ...['test/docs/packed.test.ts', 'test/files/ordinary.test.ts', 'test/loop/store.test.ts', 'test/stdlib-tools/fs.test.ts'],
  // The gate and its verifiers are processes.
  ...['approval', 'history', 'inputs', 'states/states'].map((name) => `test/gate/${name}.test.ts`),
]);

it('what judges a time or starts a process is slow, and so is each test that needs more than npm', () => {
  const files = filesBelow('test', '.test.ts').map(sourceOf);
  const judging = files.filter(({ path, text }) => JUDGES.test(text) && !SLOW_FILES.includes(path) && !MAY.has(path));
  expect(judging.filter(({ text }) => !/\bSLOW\b/.test(text)).map(({ path }) => path)).toEqual([]);
  const elsewhere = [...ELSEWHERE, ...REMOVALS, ...ALONE, ...TIMED];
  const quick = files.filter(({ path }) => elsewhere.some((glob) => matchesGlob(path, glob)) && !SLOW_FILES.includes(path));
  expect(quick.map(({ path }) => path)).toEqual([]);
  expect(SLOW_FILES.length).toBeGreaterThan(60);
});

it('finds every way to leave a test out', () => {
  const text = `
    it.skip('a', f); describe.only('b', f); test.todo('c'); it.concurrent.fails('d', f); it.skipIf(x)('e', f);
    it.only.each([1])('f', f); xit('g', f); it('h', { skip: true }, f); it('i', (context) => { context.skip(); });
    it('j', f); list.only; rows.skipped(2); const fit = 1;`;
  const program: unknown = parseAst(text, { lang: 'ts' });
  const found = isNode(program) ? leftOut(program) : [];
  expect(found).toEqual(['skip', 'only', 'todo', 'fails', 'skipIf', 'only', 'xit', 'skip', 'skip']);
});

function leftOut(program: SyntaxNode): string[] {
  const found: string[] = [];
  walk(program, (node) => {
    const what = leavesOut(node);
    if (what !== null) found.push(what);
    return undefined;
  });
  return found;
}

function leavesOut(node: SyntaxNode): string | null {
  if (node.type === 'MemberExpression') {
    const name = nameOf(node.property);
    return MODIFIERS.has(name) && RUNNERS.has(rootOf(node.object)) ? name : null;
  }
  if (node.type !== 'CallExpression' || !isNode(node.callee)) return null;
  if (OLD_NAMES.has(nameOf(node.callee))) return nameOf(node.callee);
  if (node.callee.type === 'MemberExpression' && nameOf(node.callee.property) === 'skip')
    return RUNNERS.has(rootOf(node.callee.object)) ? null : 'skip';
  return RUNNERS.has(rootOf(node.callee)) ? modifierAmong(node.arguments) : null;
}

/** The options of a test may say `skip: true` as well. */
function modifierAmong(given: unknown): string | null {
  const options = Array.isArray(given) ? given.filter(isNode).filter(({ type }) => type === 'ObjectExpression') : [];
  const properties = options.flatMap(({ properties }) => (Array.isArray(properties) ? properties.filter(isNode) : []));
  return properties.map(({ key }) => nameOf(key)).find((name) => MODIFIERS.has(name)) ?? null;
}

function nameOf(node: unknown): string {
  return isNode(node) && node.type === 'Identifier' ? String(node.name) : '';
}

function rootOf(node: unknown): string {
  if (!isNode(node)) return '';
  if (node.type === 'MemberExpression') return rootOf(node.object);
  if (node.type === 'CallExpression') return rootOf(node.callee);
  return nameOf(node);
}
