import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'rolldown/parseAst';

/** Folder of the repository, with a separator at its end. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A node of the syntax tree: ESTree with the TypeScript additions. Offsets count UTF-16 units of the text. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** Whether a field of a node is itself a node. */
export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string' && 'start' in value;
}

/** The nodes directly below one, in textual order of their fields. */
export function children(node: SyntaxNode): SyntaxNode[] {
  return Object.values(node).flatMap((value) => (Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : []));
}

/** Visits a node and everything below it; `visit` returning false leaves out what is below. */
export function walk(node: SyntaxNode, visit: (node: SyntaxNode) => boolean | undefined): void {
  if (visit(node) === false) return;
  for (const child of children(node)) walk(child, visit);
}

/** A TypeScript file of the repository. */
export interface SourceText {
  /** Relative to the repository, with `/`. */
  readonly path: string;
  readonly text: string;
  readonly program: SyntaxNode;
}

/** Paths below a folder that end in one of the suffixes, sorted, relative to the repository, with `/`; none if it is not there. */
export function filesBelow(folder: string, ...suffixes: readonly string[]): string[] {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && suffixes.some((suffix) => entry.name.endsWith(suffix)))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}

/** Reads and parses one file of the repository. */
export function sourceOf(path: string): SourceText {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const program: unknown = parseAst(text, { lang: 'ts' }, path);
  if (!isNode(program)) throw new Error(`${path}: the parser gave no tree`);
  return { path, text, program };
}

/** 1-based line of an offset. */
export function lineOf(source: SourceText, offset: number): number {
  return source.text.slice(0, offset).split('\n').length;
}

/** The text of a string literal or of a template without holes; null for every other node. */
export function literalText(node: SyntaxNode | undefined): string | null {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node?.type !== 'TemplateLiteral') return null;
  const [only, ...more] = templateParts(node);
  return only === undefined || more.length > 0 ? null : only;
}

/** The fixed parts of a template literal. */
export function templateParts(node: SyntaxNode): string[] {
  const quasis = Array.isArray(node.quasis) ? node.quasis.filter(isNode) : [];
  return quasis.map((quasi) => {
    const value = quasi.value;
    return typeof value === 'object' && value !== null && 'cooked' in value ? String(value.cooked) : '';
  });
}
