import {
  type Block,
  type LineTable,
  type ParseOptions,
  type ParseResult,
  type Procedure,
  positionAt,
  type SourceFile,
  type Stmt,
} from '../../grammar/index.ts';
import type { GuestBlock, GuestFile, GuestProcedure, RunInput, Source } from '../wire/protocol.ts';
import type { Diagnostic, ParsedFile } from '../wire/sourcereports.ts';
import { type Callees, type CountedCall, calleesOf, callsIn } from './callees.ts';
import { PART_NAMES, type PartName } from './parts.ts';

/** The parser's signature; the worker's own is `parse` of grammar. */
export type Parse = (source: string, options: ParseOptions) => ParseResult;

/**
 * The tree of a file as JSON texts for an isolate. Every run needs `head`. `parts` are the procedures, the bodies of event handlers, the
 * later statements of long command blocks, and the lines; `head` has their numbers in their places.
 */
export interface Tree extends Callees {
  readonly head: string;
  readonly parts: readonly string[];
  readonly kind: SourceFile['kind'];
  readonly commandBlocks: number;
  /** Line of the first command block, or null. */
  readonly command: number | null;
  /** Canonical names of the tools that it calls. */
  readonly tools: readonly string[];
  /** Whether calls may run together in it. */
  readonly together: boolean;
  readonly chars: number;
}

/** The tree of every file, or the errors of the files. */
type ParsedSources =
  | { readonly ok: true; readonly trees: readonly Tree[] }
  | { readonly ok: false; readonly errors: readonly [Diagnostic, ...Diagnostic[]] };

/** Most characters of JSON in the cache: enough for libraries that are used again and again. */
const CACHE_CHARS = 8 * 1024 * 1024;

/**
 * Parses sources in the worker's own realm, where the parser is warm. A tree depends only on the text and its name, so all runs with the
 * same text share the cached tree.
 */
export class Parser {
  readonly #parse: Parse;
  readonly #cache = new Map<string, Tree>();
  /** The trees of sources that the worker keeps, to avoid a search by text. */
  readonly #known = new WeakMap<Source, Tree>();
  #chars = 0;
  #parsed = 0;

  constructor(parse: Parse) {
    this.#parse = parse;
  }

  /** Texts that were parsed for runs, not found in the cache. */
  get parsed(): number {
    return this.#parsed;
  }

  /** Parses all files; the errors are those of all files, in order. The caller has checked that no source exceeds `maxBytes`. */
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
      this.#parsed++;
      const result = this.#parse(source.text, optionsOf(source, maxBytes));
      if (result.ok) trees.push(this.#keep(source, result.file));
      else errors.push(...result.errors.map((error): Diagnostic => ({ ...error, file: source.name })));
    }
    const [first, ...rest] = errors;
    return first === undefined ? { ok: true, trees } : { ok: false, errors: [first, ...rest] };
  }

  /** Parses all files and summarises them for the host. */
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

  /** Caches a tree; the least recently used trees are dropped. */
  #keep(source: Source, file: SourceFile): Tree {
    const tree = treeOf(file, source.text);
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

/** The allowed pure tools that a program calls. The isolate gets the script of the pure tools only when there are any. */
export function pureCalls(allowed: readonly string[], trees: readonly Tree[]): readonly string[] {
  const called = new Set(trees.flatMap(({ tools }) => tools));
  return called.size === 0 ? [] : allowed.filter((name) => called.has(name));
}

/** The parts of the interpreter that a run of these trees needs, which calls these pure tools. */
export function partsFor(
  { flow, probe }: Pick<RunInput, 'flow' | 'probe'>,
  trees: readonly Tree[],
  pure: readonly string[],
): PartName[] {
  const needs = {
    pure: pure.length > 0,
    flow: flow !== undefined,
    probe: probe !== undefined,
    together: trees.some(({ together }) => together),
  };
  return PART_NAMES.filter((name) => needs[name]);
}

function treeOf({ name, kind, lines, procedures, events, commands }: SourceFile, text: string): Tree {
  const parts = procedures.map(({ s, name, needs, optional, body }) =>
    JSON.stringify({ s, name, needs, optional, body } satisfies GuestProcedure),
  );
  const apart = (part: Block | LineTable | readonly Stmt[]): number => parts.push(JSON.stringify(part)) - 1;
  const file: GuestFile = {
    name,
    lines: apart(lines),
    procedures: procedures.map((procedure) => procedure.name.name),
    events: events.map(({ body, ...rest }) => ({ ...rest, body: apart(body) })),
    commands: commands.map(({ s, body }) => ({ s, body: inParts(body, apart) })),
  };
  const head = JSON.stringify(file);
  const first = commands[0]?.s;
  const command = first === undefined ? null : positionAt(lines, first).line;
  const chars = parts.reduce((sum, part) => sum + part.length, head.length);
  const callees = calleesOf(procedures, commands);
  const tools = toolsOf([...callsIn({ procedures, events }), ...callees.calls]);
  return {
    head,
    parts,
    kind,
    commandBlocks: commands.length,
    command,
    tools,
    together: text.includes('together'),
    chars,
    ...callees,
  };
}

/** Statements in one part of a long block. */
const PART_STATEMENTS = 64;

/**
 * A long block in parts. An isolate reads a part, compiles it and forgets it, before V8 has moved it out of the young generation. Whole, a
 * block of 5,000 statements takes half as long again.
 */
function inParts(block: Block, apart: (part: readonly Stmt[]) => number): GuestBlock {
  const { stmts } = block;
  if (stmts.length <= 2 * PART_STATEMENTS) return block;
  const more: number[] = [];
  for (let at = PART_STATEMENTS; at < stmts.length; at += PART_STATEMENTS)
    more.push(apart(stmts.slice(at, at + PART_STATEMENTS)));
  return { ...block, stmts: stmts.slice(0, PART_STATEMENTS), more };
}

function optionsOf({ name, interactive = false }: Source, maxBytes: number): ParseOptions {
  return { name, maxBytes, interactive };
}

/** NUL separates the parts and is escaped in the name, so two different sources never share a key. */
function keyOf({ name, text, interactive }: Source): string {
  return `${name.replaceAll('\0', '\\0')}\0${interactive === true ? '>' : ''}\0${text}`;
}

/** The summary of a file for the host. */
export function summaryOf(file: SourceFile): ParsedFile {
  return {
    name: file.name,
    kind: file.kind,
    commandBlocks: file.commands.length,
    procedures: file.procedures.map(({ name }) => name.name),
    signatures: file.procedures.map(signatureOf),
    metadata: file.metadata,
    events: file.events.length,
    tools: toolsOf(callsIn(file)).sort(),
    typed: file.typed,
  };
}

function signatureOf({ name, needs, optional }: Procedure): string {
  const parameters = [...needs.map(({ name }) => name), ...optional.map(({ name }) => `[${name}]`)];
  return `${name.name}(${parameters.join(', ')})`;
}

/** The names of the tools among calls, each once. */
function toolsOf(calls: readonly CountedCall[]): string[] {
  return [...new Set(calls.filter(({ kind }) => kind === 'tool').map(({ name }) => name))];
}
