import { parseAst } from 'rolldown/parseAst';
import { expect, it } from 'vitest';
import { hasMoreTries } from '../groups.ts';
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

it('a file with random inputs has one try, and what depends on time in it has more by itself', () => {
  const random = filesBelow('test', '.test.ts')
    .map(sourceOf)
    .filter(({ text }) => text.includes("'fast-check'"));
  expect(random.length).toBeGreaterThan(20);
  const own = random.filter(({ text }) => /performance\.now|cpuUsage|memoryUsage|Date\.now/.test(text));
  expect(own.filter(({ text }) => !text.includes('MORE_TRIES')).map(({ path }) => path)).toEqual([]);
  expect(random.filter(({ path, text }) => hasMoreTries(path, text)).map(({ path }) => path)).toEqual([]);
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
