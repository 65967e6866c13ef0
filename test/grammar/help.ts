import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { type Expr, type ParseOptions, parse, type SourceFile, type Stmt } from '../../grammar/index.ts';

/** Parses a source that must be free of errors. */
export function file(source: string | Uint8Array, options: Partial<ParseOptions> = {}): SourceFile {
  const result = parse(source, { name: 'test.ns', ...options });
  if (!result.ok)
    throw new Error(`not accepted: ${result.errors.map((e) => `${e.line}:${e.column} ${e.message}`).join('; ')}\n${source}`);
  return result.file;
}

/** Wraps lines into a command block. The first of them is line 2 of the source. */
export function command(...lines: string[]): string {
  return `command\n${lines.join('\n')}\nendcommand\n`;
}

/** The statements of a command block. */
export function statements(...lines: string[]): readonly Stmt[] {
  return file(command(...lines)).commands[0]?.body.stmts ?? [];
}

/** The expression of `emit …`. */
export function expression(text: string, options: Partial<ParseOptions> = {}): Expr {
  const [statement] = file(command(`emit ${text}`), options).commands[0]?.body.stmts ?? [];
  if (statement?.k !== 'emit') throw new Error('no emit');
  return statement.value;
}

export interface Problem {
  readonly at: string;
  readonly message: string;
  readonly hint: string;
}

/** The errors of a source, with positions as `line:column`. */
export function problems(source: string | Uint8Array, options: Partial<ParseOptions> = {}): readonly Problem[] {
  const result = parse(source, { name: 'test.ns', ...options });
  if (result.ok) return [];
  return result.errors.map((e) => ({ at: `${e.line}:${e.column}`, message: e.message, hint: e.hint ?? '' }));
}

/** The positions of the errors of a source, in the order of reporting. */
export function places(source: string | Uint8Array, options: Partial<ParseOptions> = {}): readonly string[] {
  return problems(source, options).map((problem) => problem.at);
}

const POSITIONS: ReadonlySet<string> = new Set(['s', 'e', 'at', 'lines']);
/** The positions, and the source text that `must` keeps, which another layout changes. */
const LAYOUT: ReadonlySet<string> = new Set([...POSITIONS, 'text']);

/** A tree without positions. */
export function bare(node: unknown): unknown {
  return without(node, POSITIONS);
}

/** A tree without what depends on the layout of the source. */
export function meaning(node: unknown): unknown {
  return without(node, LAYOUT);
}

function without(node: unknown, dropped: ReadonlySet<string>): unknown {
  if (Array.isArray(node)) return node.map((each) => without(each, dropped));
  if (typeof node !== 'object' || node === null) return node;
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(node)) if (!dropped.has(key)) kept[key] = without(value, dropped);
  return kept;
}

/** As `expect(…).toEqual(…)`, which takes longer than the parse of the trees: it is asked only about trees that differ. */
export function expectEqual(tree: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(tree, expected)) expect(tree).toEqual(expected);
}

/** An expression as fully parenthesised text, to compare structure at a glance. */
export function shape(node: Expr): string {
  switch (node.k) {
    case 'num':
    case 'bool':
      return String(node.v);
    case 'str':
      return JSON.stringify(node.v);
    case 'nil':
    case 'last':
      return node.k;
    case 'name':
      return node.name;
    case 'list':
      return `[${node.items.map(shape).join(' ')}]`;
    case 'map':
      return `{${node.entries.map(([key, value]) => `${shape(key)}:${shape(value)}`).join(' ')}}`;
    case 'template':
      return `<${node.parts.map((part) => (typeof part === 'string' ? JSON.stringify(part) : shape(part))).join(' ')}>`;
    case 'text':
      return `text(${shape(node.of)})`;
    case 'eval':
      return `eval(${shape(node.of)})`;
    case 'group':
      return shape(node.of);
    case 'unary':
      return `(${node.op} ${shape(node.of)})`;
    case 'power':
      return `(${shape(node.base)} ** ${shape(node.exponent)})`;
    case 'binary':
      return `(${shape(node.first)}${node.rest.map(({ op, right }) => ` ${op} ${shape(right)}`).join('')})`;
    case 'access':
      return (
        shape(node.base) + node.steps.map((step) => (step.k === 'field' ? `.${step.name}` : `[${shape(step.index)}]`)).join('')
      );
    case 'call':
      return `${node.name.name}(${node.args.map(shape).join(' ')})`;
    case 'tool':
      return `${node.name}(${node.args.map(shape).join(' ')})`;
  }
}
