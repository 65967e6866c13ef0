import { clipped } from '../clip.ts';
import type { ErrorInfo, StackFrame } from '../errors.ts';
import { SYNTAX } from '../findings.ts';
import { findLimit } from '../limits.ts';
import type { Diagnostic, LintFinding } from '../sourcereports.ts';
import type { Palette } from './palette.ts';
import { columns, printable } from './printable.ts';
import { amount, quantity } from './units.ts';

/** Texts of the sources by name, to show the line of an error. */
export type SourceTexts = ReadonlyMap<string, string>;

/** Columns of a terminal that stand left and right of a source line. */
const MARGIN = 6;
/** Maximum number of frames of a script's stack that are shown: enough for the inner and the outer end of a deep recursion. */
const FRAMES = 10;
/** Maximum number of UTF-16 units of a name that are shown in a stack. */
const NAME = 200;

/**
 * A failure as lines for a terminal: `file:line:column: message (CODE)`, the source line with a caret, the hint, the
 * limit that was reached with its flag, the script's stack. All foreign text is made printable.
 */
export function renderError(error: ErrorInfo, sources: SourceTexts, palette: Palette): string[] {
  const place = error.source === null || error.line === null ? null : { ...error, file: error.source, line: error.line };
  const lines = [headline(place, error.message, error.code, palette)];
  if (place !== null && error.column !== null)
    lines.push(...excerpt(sources.get(place.file), place.line, error.column, error.column, palette));
  if (error.hint !== undefined) lines.push(`  hint: ${printable(error.hint)}`);
  const limit = renderLimit(error);
  if (limit !== null) lines.push(`  ${limit}`);
  return [...lines, ...renderStack(error.stack, palette)];
}

/** How a run ended as lines for a terminal: every syntax error (the first `most`), else the failure. */
export function renderEnd(
  error: ErrorInfo,
  errors: readonly Diagnostic[],
  sources: SourceTexts,
  palette: Palette,
  most = errors.length,
): string[] {
  if (errors.length === 0) return renderError(error, sources, palette);
  const lines = errors.slice(0, most).flatMap((found) => renderDiagnostic(found, SYNTAX, sources, palette));
  return errors.length <= most ? lines : [...lines, `… ${errors.length - most} more …`];
}

/** A finding of the parser as lines for a terminal, in the form of {@link renderError}. */
export function renderDiagnostic(found: Diagnostic, code: string, sources: SourceTexts, palette: Palette): string[] {
  const lines = [headline(found, found.message, code, palette)];
  const end = found.endLine === found.line ? found.endColumn - 1 : found.column;
  lines.push(...excerpt(sources.get(found.file), found.line, found.column, end, palette));
  if (found.hint !== undefined) lines.push(`  hint: ${printable(found.hint)}`);
  return lines;
}

/** A finding of the linter as lines for a terminal, in the form of {@link renderError}, with its severity and its fix. */
export function renderFinding(found: LintFinding, sources: SourceTexts, palette: Palette): string[] {
  const { severity, line, column, endLine, endColumn, message, code, fix } = found;
  const tint = severity === 'error' ? palette.red : severity === 'warning' ? palette.yellow : palette.dim;
  const lines = [headline(found, `${severity}: ${message}`, code, palette, tint)];
  lines.push(...excerpt(sources.get(found.file), line, column, endLine === line ? endColumn - 1 : column, palette));
  return fix.message === '' ? lines : [...lines, `  hint: ${printable(fix.message)}`];
}

interface SourcePlace {
  readonly file: string;
  readonly line: number;
  readonly column: number | null;
}

function headline(place: SourcePlace | null, message: string, code: string, palette: Palette, tint = palette.red): string {
  const at =
    place === null ? 'neuroscript' : `${printable(place.file)}:${place.line}${place.column === null ? '' : `:${place.column}`}`;
  return `${palette.bold(`${at}:`)} ${tint(printable(message))} ${palette.dim(`(${code})`)}`;
}

function renderLimit(error: ErrorInfo): string | null {
  const limit = findLimit(error.limit ?? '');
  if (limit === undefined || error.allowed === undefined) return null;
  const used =
    error.used === undefined ? '' : `, ${amount(limit.unit, limit.unit === 'usd' ? error.used : Math.ceil(error.used))} needed`;
  return `limit: --${limit.flag} ${quantity(limit.unit, error.allowed)} (${limit.help})${used}`;
}

function renderStack(stack: readonly StackFrame[], palette: Palette): string[] {
  const frame = (at: StackFrame) =>
    palette.dim(`  in ${printable(clipped(at.name, NAME))} (${printable(clipped(at.source, NAME))}:${at.line}:${at.column})`);
  if (stack.length <= FRAMES) return stack.map(frame);
  const half = FRAMES / 2;
  return [
    ...stack.slice(0, half).map(frame),
    palette.dim(`  … ${stack.length - FRAMES} more …`),
    ...stack.slice(-half).map(frame),
  ];
}

/**
 * The source line and, under it, a caret for each of the columns `from` to `to` (1-based, in code points). Of a line that is wider than
 * the terminal, the part around the position. Empty when the text is missing or has no such line.
 */
export function excerpt(text: string | undefined, line: number, from: number, to: number, palette: Palette): string[] {
  const raw = lineOf(text ?? '', line);
  if (text === undefined || raw === undefined) return [];
  const room = palette.columns - MARGIN;
  const earliest = Math.max(0, from - 1 - Math.floor(room / 2));
  const seen = pieceOf(raw, earliest, room + 1).map((char) => (char === '\t' ? '  ' : printable(char)));
  const width = (first: number, end: number): number => columns(seen.slice(first, end).join(''));
  // The characters before the position may be wide.
  let first = 0;
  while (width(first, from - 1 - earliest) > room / 2) first++;
  let end = seen.length;
  while (width(first, end) > room) end--;
  const lead = earliest + first > 0 ? '…' : '';
  const tail = end < seen.length ? '…' : '';
  const before = lead.length + width(first, from - 1 - earliest);
  const marked = Math.max(1, width(from - 1 - earliest, Math.min(end, to - earliest)));
  return [`    ${lead}${seen.slice(first, end).join('')}${tail}`, `    ${' '.repeat(before)}${palette.red('^'.repeat(marked))}`];
}

/** A line as the lexer counts them, without its end. A text is not split: it may have a million lines. */
function lineOf(text: string, line: number): string | undefined {
  let start = text.startsWith('\ufeff') ? 1 : 0;
  for (let at = 1; ; at++) {
    let end = start;
    while (end < text.length && text[end] !== '\n' && text[end] !== '\r') end++;
    if (at === line) return text.slice(start, end);
    if (end === text.length) return undefined;
    start = end + (text.startsWith('\r\n', end) ? 2 : 1);
  }
}

/** At most `most` characters of a line from `start`, without the control characters that the lexer drops. */
function pieceOf(line: string, start: number, most: number): string[] {
  const piece: string[] = [];
  let at = 0;
  for (const char of line) {
    if (char < ' ' && char !== '\t') continue;
    if (at++ >= start) piece.push(char);
    if (piece.length === most) break;
  }
  return piece;
}
