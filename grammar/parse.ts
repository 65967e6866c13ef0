import { type EventHandler, type LineTable, positionAt, type SourceFile } from './ast.ts';
import { clean, lineTable, MAX_SOURCE_BYTES } from './clean.ts';
import type { SyntaxDiagnostic } from './diagnostic.ts';
import { type Finding, finding, MAX_FINDINGS } from './finding.ts';
import { asksForDoubleBrackets } from './metadata.ts';
import { type Parsed, ProgramParser } from './program.ts';
import { type Scanned, scan } from './scan.ts';

/** What {@link parse} needs to know beside the text. */
export interface ParseOptions {
  /** Source name for positions and messages, e.g. the file's path as the user gave it. */
  readonly name: string;
  /** Most bytes of UTF-8 accepted after cleaning; 1 048 576 when absent. */
  readonly maxBytes?: number;
  /** Treats `[[…]]` as a template string, like the header `:: strings: double-bracket` (P11). */
  readonly doubleBracketStrings?: boolean;
}

/** Either a complete tree, or everything that is wrong with the source, in textual order; never both. */
export type ParseResult =
  | { readonly ok: true; readonly file: SourceFile; readonly text: string }
  | { readonly ok: false; readonly errors: readonly [SyntaxDiagnostic, ...SyntaxDiagnostic[]] };

/** Made at the first parse: it takes a few milliseconds, which a process that never parses should not pay. */
let parser: ProgramParser | undefined;

/**
 * Parses one NeuroScript source. Never throws for any input; takes time linear in its size.
 * Bytes must be UTF-8 (a text is taken as it is). `text` is the cleaned source to which all offsets refer.
 * At most 100 errors are given; a source that cannot be cleaned, or nests deeper than 200 levels, is not parsed at all.
 */
export function parse(source: string | Uint8Array, options: ParseOptions): ParseResult {
  const { text, problem } = clean(source, options.maxBytes ?? MAX_SOURCE_BYTES);
  const lines = lineTable(text);
  if (problem !== undefined) return { ok: false, errors: [diagnostic(lines, problem)] };
  const scanned = scan(text, options.doubleBracketStrings === true || asksForDoubleBrackets(text));
  // Where the lexer stopped early the parser would see half a text; what it says about that half is no news.
  const { program, events, findings } = scanned.complete ? parseTokens(text, lines, scanned) : nothing;
  if (program === undefined || scanned.findings.length + findings.length > 0)
    return failure(lines, [...scanned.findings, ...findings]);
  const file: SourceFile = {
    name: options.name,
    kind: program.kind,
    lines,
    metadata: program.metadata,
    procedures: program.procedures,
    events: events.filter((event): event is EventHandler => event !== undefined),
    commands: program.commands,
  };
  return { ok: true, file, text };
}

/** A caller that is itself deep in its stack may leave too little of it even for the 200 levels that the grammar allows. */
function parseTokens(text: string, lines: LineTable, scanned: Scanned): Parsed {
  try {
    parser ??= new ProgramParser();
    return parser.parse(text, lines, scanned);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    parser = undefined;
    return { ...nothing, findings: [finding(0, 0, 'the source nests too deeply for the stack that the caller has left')] };
  }
}

const nothing: Parsed = { program: undefined, events: [], findings: [] };

function failure(lines: LineTable, findings: readonly Finding[]): ParseResult {
  const ordered = [...findings].sort((a, b) => a.s - b.s).slice(0, MAX_FINDINGS);
  const [first = incomprehensible, ...rest] = ordered;
  return { ok: false, errors: [diagnostic(lines, first), ...rest.map((found) => diagnostic(lines, found))] };
}

/** Never seen: whoever gives up a source has found something in it. */
const incomprehensible: Finding = finding(0, 0, 'the source could not be read');

function diagnostic(lines: LineTable, found: Finding): SyntaxDiagnostic {
  const start = positionAt(lines, found.s);
  const end = positionAt(lines, found.e);
  return { ...found, line: start.line, column: start.column, endLine: end.line, endColumn: end.column };
}
