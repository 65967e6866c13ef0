import { expect, it } from 'vitest';
import { LIMITS, POOL_LIMITS } from '../../src/wire/limits.ts';
import { productFiles } from './imports.ts';
import { children, ESCAPED, isNode, literalText, type SourceText, type SyntaxNode } from './source.ts';

/** The parts that enforce limits. Types, fields of requests, flags, schemas, pages and reports are derived from the table. */
const ENFORCING = /^src\/(?:guest|worker|sandbox|runtime|tools)\//;

const RUN_KEYS = new Set<unknown>(LIMITS.map(({ key }) => key));
const POOL_KEYS = new Set<unknown>(POOL_LIMITS.map(({ key }) => key));
/** A file without it names no limit, and needs no parsing. */
const KEY = new RegExp(`\\b(?:${[...RUN_KEYS, ...POOL_KEYS].join('|')})\\b`);

/**
 * The keys that a file names: it writes one as a text, or uses one of an object that is called limits; limits of the pool also
 * travel among options. A measurement of the same name, as in `usage.fuel`, and the parameter of a function are none.
 */
function keysOf({ program }: SourceText): string[] {
  const found = new Set<string>();
  const add = (holder: string | null, key: string | null): void => {
    if (holder === null || key === null) return;
    if (POOL_KEYS.has(key) || (RUN_KEYS.has(key) && !/options$/i.test(holder))) found.add(key);
  };
  const visit = (node: SyntaxNode, holder: string | null): void => {
    add('text', literalText(node));
    if (node.type === 'MemberExpression') add(holderOf(node.object), nameOf(node.property));
    if (node.type === 'Property') add(holder, nameOf(node.key));
    const isObject = node.type === 'ObjectExpression' || node.type === 'ObjectPattern';
    for (const child of children(node)) visit(child, isObject ? holder : valueHolder(node, child));
  };
  visit(program, null);
  return [...found].sort();
}

/** The name of the limits or options that `child` is, as in `limits: child`, `limits = child` and `child = limits`. */
function valueHolder(node: SyntaxNode, child: SyntaxNode): string | null {
  const [name, value] = node.type === 'Property' ? [node.key, node.value] : [node.id, node.init];
  return child === value ? holderOf(name) : child === name ? holderOf(value) : null;
}

function holderOf(node: unknown): string | null {
  if (isNode(node) && node.type === 'MemberExpression') return holderOf(node.property);
  const name = nameOf(node);
  return name !== null && /(limits|options)$/i.test(name) ? name : null;
}

function nameOf(node: unknown): string | null {
  return isNode(node) && typeof node.name === 'string' ? node.name : null;
}

it('every limit of the table is named where it is enforced', () => {
  const named = productFiles()
    .filter(({ path, text }) => ENFORCING.test(path) && (KEY.test(text) || ESCAPED.test(text)))
    .flatMap(keysOf);
  expect([...RUN_KEYS, ...POOL_KEYS].filter((key) => !named.some((each) => each === key))).toEqual([]);
});
