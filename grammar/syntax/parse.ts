import type { EventHandler, SourceFile } from './ast.ts';
import { clean, MAX_SOURCE_BYTES } from './clean.ts';
import { asksForDoubleBrackets } from './metadata.ts';
import { type LineTable, lineTable } from './position.ts';
import { diagnosticOf, MAX_PROBLEMS, problemAt, type SyntaxDiagnostic, type SyntaxProblem } from './problem.ts';
import { type Parsed, ProgramParser, type Reading } from './program.ts';
import { type Scanned, scan } from './scan.ts';
import { Identifier, keyword, Metadata, Newline, NoStatement } from './tokens.ts';

/** What {@link parse} needs to know beside the text. */
export interface ParseOptions {
  /** Source name for positions and messages, e.g. the file's path as the user gave it. */
  readonly name: string;
  /** Most bytes of UTF-8 accepted after cleaning; 1 048 576 when absent. */
  readonly maxBytes?: number;
  /** Treats `[[…]]` as a template string, like the header `:: strings: double-bracket` (P11). */
  readonly doubleBracketStrings?: boolean;
  /**
   * Takes what is typed at a prompt too: statements alone, which are one command block, or an expression alone, which is
   * emitted. What begins like a file is read as one.
   */
  readonly interactive?: boolean;
}

/** Either a complete tree, or everything that is wrong with the source, in textual order; never both. */
export type ParseResult =
  | { readonly ok: true; readonly file: SourceFile; readonly text: string }
  | {
      readonly ok: false;
      readonly errors: readonly [SyntaxDiagnostic, ...SyntaxDiagnostic[]];
      /** The source ends within a block, a bracket, a string, or a line that goes on: it may only lack its rest. */
      readonly open: boolean;
    };

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
  if (problem !== undefined) return { ok: false, errors: [diagnosticOf(lines, problem)], open: false };
  const scanned = scan(text, options.doubleBracketStrings === true || asksForDoubleBrackets(text));
  // Where the lexer stopped early the parser would see half a text; what it says about that half is no news.
  const parsed = !scanned.complete
    ? nothing
    : options.interactive === true
      ? parseTyped(text, lines, scanned)
      : parseTokens(text, lines, scanned, 'file');
  const { program, events, problems } = parsed;
  if (program === undefined || scanned.problems.length + problems.length > 0)
    return failure(lines, [...scanned.problems, ...problems], scanned.complete && (scanned.open || parsed.open));
  const file: SourceFile = {
    name: options.name,
    kind: program.kind,
    lines,
    metadata: program.metadata,
    procedures: program.procedures,
    events: events.filter((event): event is EventHandler => event !== undefined),
    commands: program.commands,
    ...(program.typed === undefined ? {} : { typed: program.typed }),
  };
  return { ok: true, file, text };
}

/** What was typed at a prompt. Of what is neither statements nor an expression, the statements are complained of. */
function parseTyped(text: string, lines: LineTable, scanned: Scanned): Parsed {
  const begin = scanned.tokens.findIndex(({ tokenType }) => tokenType !== Newline);
  const first = scanned.tokens[begin]?.tokenType;
  const second = scanned.tokens[begin + 1]?.tokenType;
  const file =
    begin < 0 ||
    first === Metadata ||
    first === keyword.func ||
    first === keyword.command ||
    (first === keyword.on && second === keyword.event);
  if (file) return parseTokens(text, lines, scanned, 'file');
  const statements = parseTokens(text, lines, scanned, 'statements');
  if (first !== NoStatement || statements.problems.length === 0) return statements;
  const expression = parseTokens(text, lines, { ...scanned, tokens: scanned.tokens.toSpliced(0, begin + 1) }, 'expression');
  const [problem] = expression.problems;
  // What begins with a name may be meant as a statement; the advice on that is better there. A number or bracket is not.
  return problem === undefined || (second !== Identifier && problem.s > (statements.problems[0]?.s ?? 0))
    ? expression
    : statements;
}

/** A caller that is itself deep in its stack may leave too little of it even for the 200 levels that the grammar allows. */
function parseTokens(text: string, lines: LineTable, scanned: Scanned, reading: Reading): Parsed {
  try {
    parser ??= new ProgramParser();
    return parser.parse(text, lines, scanned, reading);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    parser = undefined;
    return { ...nothing, problems: [problemAt(0, 0, 'the source nests too deeply for the stack that the caller has left')] };
  }
}

const nothing: Parsed = { program: undefined, events: [], problems: [], open: false };

function failure(lines: LineTable, problems: readonly SyntaxProblem[], open: boolean): ParseResult {
  const ordered = [...problems].sort((a, b) => a.s - b.s).slice(0, MAX_PROBLEMS);
  const [first = incomprehensible, ...rest] = ordered;
  return { ok: false, errors: [diagnosticOf(lines, first), ...rest.map((found) => diagnosticOf(lines, found))], open };
}

/** Never seen: whoever gives up a source has found something in it. */
const incomprehensible: SyntaxProblem = problemAt(0, 0, 'the source could not be read');
