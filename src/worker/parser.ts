import {
  type Block,
  type LineTable,
  type ParseOptions,
  type ParseResult,
  type Procedure,
  positionAt,
  type SourceFile,
} from '../../grammar/index.ts';
import { NS_CODES } from '../wire/codes.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import type { Diagnostic, GuestFile, GuestProcedure, ParsedFile, Source } from '../wire/protocol.ts';

/** The parser's signature; the worker's own is `parse` of grammar. */
export type Parse = (source: string, options: ParseOptions) => ParseResult;

/**
 * A file's tree as JSON texts, ready for an isolate: what every run needs of it, and apart from that its procedures, the bodies
 * of its event handlers, and its lines, each under the number that stands in its place.
 */
export interface Tree {
  readonly head: string;
  readonly parts: readonly string[];
  /** Line of the first command block, or null. */
  readonly command: number | null;
  /** Canonical names of the tools that are called in it. */
  readonly tools: readonly string[];
  /** Characters of all of it. */
  readonly chars: number;
}

/** Either every file's tree, or what is wrong with the files. */
export type ParsedSources =
  | { readonly ok: true; readonly trees: readonly Tree[] }
  | { readonly ok: false; readonly errors: readonly [Diagnostic, ...Diagnostic[]] };

/** Characters of JSON that the cache may hold in all: libraries that are loaded again and again, not everything seen. */
const CACHE_CHARS = 8 * 1024 * 1024;

/**
 * Parses sources in the worker's own realm, where the parser is warm. A tree depends on the text and its name alone, so
 * trees are kept for the next run that brings the same text, whoever it belongs to.
 */
export class Parser {
  readonly #parse: Parse;
  readonly #cache = new Map<string, Tree>();
  /** The same without the search by text, for sources that the worker keeps. */
  readonly #known = new WeakMap<Source, Tree>();
  #chars = 0;

  constructor(parse: Parse) {
    this.#parse = parse;
  }

  /** Parses all files; the errors are those of every file, in order. No source is larger than `maxBytes` (the caller looked). */
  trees(sources: readonly Source[], maxBytes: number): ParsedSources {
    const trees: Tree[] = [];
    const errors: Diagnostic[] = [];
    for (const source of sources) {
      const cached = this.#known.get(source) ?? this.#recall(source);
      if (cached !== null) {
        trees.push(cached);
        this.#known.set(source, cached);
        continue;
      }
      const result = this.#parse(source.text, optionsOf(source, maxBytes));
      if (result.ok) trees.push(this.#keep(source, result.file));
      else errors.push(...result.errors.map((error): Diagnostic => ({ ...error, file: source.name })));
    }
    const [first, ...rest] = errors;
    return first === undefined ? { ok: true, trees } : { ok: false, errors: [first, ...rest] };
  }

  /** Parses all files for what the host may know of them. */
  summaries(sources: readonly Source[], maxBytes: number): { diagnostics: Diagnostic[]; files: ParsedFile[]; open?: string[] } {
    const diagnostics: Diagnostic[] = [];
    const files: ParsedFile[] = [];
    const open: string[] = [];
    for (const source of sources) {
      const { name } = source;
      const result = this.#parse(source.text, optionsOf(source, maxBytes));
      if (result.ok) {
        files.push(summaryOf(result.file));
        continue;
      }
      diagnostics.push(...result.errors.map((error): Diagnostic => ({ ...error, file: name })));
      if (result.open) open.push(name);
    }
    return { diagnostics, files, ...(open.length === 0 ? {} : { open }) };
  }

  #recall(source: Source): Tree | null {
    const key = keyOf(source);
    const found = this.#cache.get(key);
    if (found === undefined) return null;
    this.#cache.delete(key);
    this.#cache.set(key, found);
    return found;
  }

  /** Puts a tree in front; the ones not asked for the longest go. */
  #keep(source: Source, file: SourceFile): Tree {
    const tree = treeOf(file);
    const key = keyOf(source);
    const size = key.length + tree.chars;
    if (size > CACHE_CHARS / 4) return tree;
    this.#cache.set(key, tree);
    this.#chars += size;
    for (const [oldest, dropped] of this.#cache) {
      if (this.#chars <= CACHE_CHARS) break;
      this.#cache.delete(oldest);
      this.#chars -= oldest.length + dropped.chars;
    }
    return tree;
  }
}

/** Those of the allowed pure tools that a program calls: only for these does the isolate get the script of the pure tools. */
export function pureCalls(allowed: readonly string[], trees: readonly Tree[]): readonly string[] {
  const called = new Set(trees.flatMap(({ tools }) => tools));
  return called.size === 0 ? [] : allowed.filter((name) => called.has(name));
}

/** A call of a tool in a tree's JSON. No text of a program looks like it there, because its quotes are escaped. */
const TOOL_CALL = /"k":"tool","name":"([^"]+)"/g;

function treeOf({ name, lines, procedures, events, commands }: SourceFile): Tree {
  const parts = procedures.map(({ s, name, needs, optional, body }) =>
    JSON.stringify({ s, name, needs, optional, body } satisfies GuestProcedure),
  );
  const apart = (part: Block | LineTable): number => parts.push(JSON.stringify(part)) - 1;
  const file: GuestFile = {
    name,
    lines: apart(lines),
    procedures: procedures.map((procedure) => procedure.name.name),
    events: events.map(({ body, ...rest }) => ({ ...rest, body: apart(body) })),
    commands: commands.map(({ s, body }) => ({ s, body })),
  };
  const head = JSON.stringify(file);
  const first = commands[0]?.s;
  const command = first === undefined ? null : positionAt(lines, first).line;
  const calls = [head, ...parts].flatMap((text) => [...text.matchAll(TOOL_CALL)].map(([, tool = '']) => tool));
  const chars = parts.reduce((sum, part) => sum + part.length, head.length);
  return { head, parts, command, tools: [...new Set(calls)], chars };
}

/** A syntax error as the error of a run. */
export function syntaxError({ message, hint, file, line, column }: Diagnostic): ErrorInfo {
  return {
    kind: 'syntax',
    code: `NS${NS_CODES.Syntax}`,
    nsCode: NS_CODES.Syntax,
    name: 'Syntax',
    message,
    source: file,
    line,
    column,
    ...(hint === undefined ? {} : { hint }),
    stack: [],
  };
}

function optionsOf({ name, interactive = false }: Source, maxBytes: number): ParseOptions {
  return { name, maxBytes, interactive };
}

/** A name holds no NUL, so two different sources never share a key. */
function keyOf({ name, text, interactive }: Source): string {
  return `${name.replaceAll('\0', '\\0')}\0${interactive === true ? '>' : ''}\0${text}`;
}

/** What the host may know of a file. */
export function summaryOf(file: SourceFile): ParsedFile {
  return {
    name: file.name,
    kind: file.kind,
    commandBlocks: file.commands.length,
    procedures: file.procedures.map(({ name }) => name.name),
    signatures: file.procedures.map(signatureOf),
    metadata: file.metadata,
    events: file.events.length,
    tools: [...toolNames(file)].sort(),
    ...(file.typed === undefined ? {} : { typed: file.typed }),
  };
}

function signatureOf({ name, needs, optional }: Procedure): string {
  const parameters = [...needs.map(({ name }) => name), ...optional.map(({ name }) => `[${name}]`)];
  return `${name.name}(${parameters.join(', ')})`;
}

/** Names of all tools called anywhere in a tree. Trees nest at most a few hundred levels (P33), but the walk needs no stack. */
function toolNames(file: SourceFile): Set<string> {
  const names = new Set<string>();
  const open: unknown[] = [file];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node !== 'object' || node === null) continue;
    if (Reflect.get(node, 'k') === 'tool') names.add(String(Reflect.get(node, 'name')));
    for (const child of Object.values(node)) if (child !== undefined) open.push(child);
  }
  return names;
}
