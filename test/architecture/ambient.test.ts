import { describe, expect, it } from 'vitest';
import { importsOf, partOf, productFiles } from './imports.ts';
import { isNode, lineOf, type SourceText, type SyntaxNode, sourceOf, walk } from './source.ts';

/** What the isolate takes away or what would make a run differ from its replay; the guest may not even name it. */
const AMBIENT = new Set(
  [
    'Date Temporal Intl performance setTimeout setInterval setImmediate queueMicrotask clearTimeout process globalThis',
    'require console fetch crypto eval Function WebAssembly SharedArrayBuffer Atomics WeakRef',
    'FinalizationRegistry Buffer structuredClone Promise',
  ].flatMap((line) => line.split(' ')),
);

const guest = productFiles().filter(({ path }) => partOf(path) === 'guest');

describe('the guest has nothing ambient', () => {
  it('there is a guest to look at', () => {
    expect(guest.length).toBeGreaterThan(5);
  });

  it('neither the guest nor what it imports names a clock, randomness, a timer or the environment', () => {
    expect(reachable(guest).flatMap(ambientUses)).toEqual([]);
  });

  it('the guest has no asynchronous code: a run is one call', () => {
    expect(guest.flatMap(asynchronous)).toEqual([]);
  });
});

/** The files of the guest and, file by file, everything of ours that they import as values. */
function reachable(start: readonly SourceText[]): SourceText[] {
  const seen = new Map(start.map((file) => [file.path, file]));
  for (const file of seen.values()) {
    for (const { to, typeOnly } of importsOf(file)) if (!typeOnly && !seen.has(to)) seen.set(to, sourceOf(to));
  }
  return [...seen.values()];
}

function ambientUses(source: SourceText): string[] {
  const found: string[] = [];
  const at = (node: SyntaxNode, what: string): void => void found.push(`${source.path}:${lineOf(source, node.start)} ${what}`);
  walk(source.program, (node) => {
    if (isTypePosition(node)) return false;
    if (node.type === 'MemberExpression') {
      const { object, property } = node;
      if (named(object, 'Math') && named(property, 'random')) at(node, 'Math.random');
    }
    for (const name of references(node)) if (AMBIENT.has(String(name.name))) at(name, String(name.name));
    return undefined;
  });
  return found;
}

function asynchronous(source: SourceText): string[] {
  const found: string[] = [];
  walk(source.program, (node) => {
    if (node.async === true || node.type === 'AwaitExpression') found.push(`${source.path}:${lineOf(source, node.start)}`);
    return undefined;
  });
  return found;
}

function named(node: unknown, name: string): boolean {
  return isNode(node) && node.type === 'Identifier' && node.name === name;
}

function isTypePosition({ type }: SyntaxNode): boolean {
  return type.startsWith('TSType') || type === 'TSInterfaceDeclaration' || type === 'ImportDeclaration';
}

/** Identifiers below a node that stand for a value: not the names after a dot, of a property, or of a type. */
function references(node: SyntaxNode): SyntaxNode[] {
  return Object.entries(node).flatMap(([field, value]) => {
    const isName = (field === 'property' || field === 'key') && node.computed !== true && node.shorthand !== true;
    if (isName || field === 'label') return [];
    return (Array.isArray(value) ? value : [value]).filter(isNode).filter(({ type }) => type === 'Identifier');
  });
}
