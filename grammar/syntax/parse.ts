import type { EventHandler, SourceFile } from './ast.ts';
import { clean, strayJoiner } from './clean.ts';
import { DECISIONS } from './decisions.ts';
import { asksForDoubleBrackets } from './metadata.ts';
import { type LineTable, lineTable } from './position.ts';
import { diagnosticOf, MAX_PROBLEMS, problemAt, type SyntaxDiagnostic, type SyntaxProblem } from './problem.ts';
import { type Parsed, ProgramParser, type Reading } from './program.ts';
import { type Scanned, scan } from './scan.ts';
import { contextual, Identifier, keyword, Metadata, Newline, NoStatement, Token } from './tokens.ts';

/** The default of `ParseOptions.maxBytes`: one mebibyte of UTF-8 after cleaning. */
export const MAX_SOURCE_BYTES = 1_048_576;

/** Options of {@link parse}. */
export interface ParseOptions {
  /** Source name for positions and messages, such as the path that the user gave; `src` when absent. */
  readonly name?: string;
  /** Most bytes of UTF-8 after cleaning; 1,048,576 when absent. */
  readonly maxBytes?: number;
  /** Treats `[[…]]` as a template string, like the header `:: strings: double-bracket`. */
  readonly doubleBracketStrings?: boolean;
  /**
   * Also accepts input at a prompt: statements alone, which become one command block, or an expression alone, which is
   * emitted. Input that begins like a file is read as a file.
   */
  readonly interactive?: boolean;
}

/** Either a complete tree, or all problems of the source in textual order; never both. */
export type ParseResult =
  /** The tree, and the cleaned text to which its offsets refer. */
  | { readonly ok: true; readonly file: SourceFile; readonly text: string }
  /** Every problem of the source, in textual order. */
  | {
      readonly ok: false;
      readonly errors: readonly [SyntaxDiagnostic, ...SyntaxDiagnostic[]];
      /** Whether the source ends within a block, a bracket, a string or a continued line, so that more text could complete it. */
      readonly open: boolean;
    };

/** Made at the first parse, because it takes time and some processes never parse. */
let parser: ProgramParser | undefined;

/**
 * Parses one NeuroScript source. Never throws; takes time linear in the size of the source.
 * Bytes must be UTF-8; a string is taken as it is. `text` is the cleaned source to which all offsets refer.
 * Reports at most 100 errors. A source that cannot be cleaned, or nests deeper than 200 levels, is not parsed at all.
 */
export function parse(source: string | Uint8Array, options: ParseOptions = {}): ParseResult {
  const { text, problem } = clean(source, options.maxBytes ?? MAX_SOURCE_BYTES);
  const lines = lineTable(text);
  if (problem !== undefined) return failure(lines, [problem], false);
  const scanned = scan(text, options.doubleBracketStrings === true || asksForDoubleBrackets(text));
  const stray = strayJoiner(text, scanned.tokens);
  if (stray !== undefined) return failure(lines, [stray], false);
  const parsed = scanned.complete ? parseScanned(text, lines, scanned, options.interactive === true) : unparsed;
  const { program, events } = parsed;
  const problems = [...scanned.problems, ...parsed.problems];
  if (program === undefined || problems.length > 0)
    return failure(lines, problems, scanned.complete && (scanned.open || parsed.open));
  const file: SourceFile = {
    name: options.name ?? 'src',
    kind: program.kind,
    lines,
    metadata: program.metadata,
    procedures: program.procedures,
    events: events.filter((event): event is EventHandler => event !== undefined),
    commands: program.commands,
    typed: program.typed,
  };
  return { ok: true, file, text };
}

/** The result for tokens that the lexer did not complete, because parsing half a text would report false problems. */
const unparsed: Parsed = { program: undefined, events: [], problems: [], open: false };

function parseScanned(text: string, lines: LineTable, scanned: Scanned, interactive: boolean): Parsed {
  const begin = scanned.tokens.findIndex(({ tokenType }) => tokenType !== Newline);
  const first = scanned.tokens[begin]?.tokenType;
  const second = scanned.tokens[begin + 1]?.tokenType;
  const beginsFile =
    begin < 0 ||
    first === Metadata ||
    first === keyword.func ||
    first === keyword.command ||
    (first === keyword.on && second === keyword.event);
  if (!interactive || beginsFile) return parseTokens(text, lines, scanned, 'file');
  const typed = scanned.tokens.slice(begin);
  if (first === contextual.together && typed.every(({ tokenType }, index) => index === 0 || tokenType === Newline))
    return parseTokens(text, lines, { ...scanned, tokens: asName(typed) }, 'expression');
  const statements = parseTokens(text, lines, scanned, 'statements');
  if (first !== NoStatement || statements.problems.length === 0) return statements;
  const expression = parseTokens(text, lines, { ...scanned, tokens: scanned.tokens.toSpliced(0, begin + 1) }, 'expression');
  const [problem] = expression.problems;
  // Input that begins with a name may be meant as a statement, whose advice is then better. A number or a bracket is not.
  return problem === undefined || (second !== Identifier && problem.s > (statements.problems[0]?.s ?? 0))
    ? expression
    : statements;
}

/** At a prompt, the word `together` alone is the variable of that name: a block has more than its first line. */
function asName([word, ...rest]: readonly Token[]): Token[] {
  return word === undefined ? [] : [new Token(Identifier, word.image, word.startOffset, word.endOffset + 1), ...rest];
}

/** Parses tokens. If the caller itself is deep, the stack may be too short even for the 200 levels that the grammar allows. */
function parseTokens(text: string, lines: LineTable, scanned: Scanned, reading: Reading): Parsed {
  try {
    parser ??= new ProgramParser(DECISIONS);
    return parser.parse(text, lines, scanned, reading);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    parser = undefined;
    return { ...unparsed, problems: [problemAt(0, 0, 'the source nests too deeply for the remaining stack of the caller')] };
  }
}

function failure(lines: LineTable, problems: readonly SyntaxProblem[], open: boolean): ParseResult {
  const ordered = [...problems].sort((a, b) => a.s - b.s).slice(0, MAX_PROBLEMS);
  const [first = unreadable, ...rest] = ordered.map((found) => diagnosticOf(lines, found));
  return { ok: false, errors: [first, ...rest], open };
}

/** A fallback that is never reported, because every rejected source has a problem. */
const unreadable = diagnosticOf({ starts: [0], astral: [] }, problemAt(0, 0, 'the source could not be read'));
