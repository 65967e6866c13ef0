import type { ErrorInfo, StackFrame } from '../../wire/errors.ts';
import { findLimit } from '../../wire/limits.ts';
import type { Diagnostic, LintFinding } from '../../wire/protocol.ts';
import { amount, quantity } from '../flags/units.ts';
import { type Paint, printable } from './text.ts';

/** Texts of the sources by the name they were given, for showing the line an error is in. */
export type SourceTexts = ReadonlyMap<string, string>;

/** Every finding of the parser is a syntax error, the language's code 15. */
export const SYNTAX = 'NS15';

/** Most columns of a source line that are shown; of a longer line, the part around the position. */
const WINDOW = 100;
/** Most frames of a script's stack that are shown: enough for the inner and the outer end of a deep recursion. */
const FRAMES = 10;

/**
 * A failure as lines for a terminal: `file:line:column: message (CODE)`, the source line with a caret, the hint, the
 * limit that was reached with its flag, the script's stack. Everything a program could have written is made printable.
 */
export function renderError(error: ErrorInfo, sources: SourceTexts, paint: Paint): string[] {
  const place = error.source === null || error.line === null ? null : { ...error, file: error.source, line: error.line };
  const lines = [headline(place, error.message, error.code, paint)];
  if (place !== null && error.column !== null)
    lines.push(...excerpt(sources.get(place.file), place.line, error.column, error.column, paint));
  const hint = error.hint ?? NEXT_STEPS.get(error.code);
  if (hint !== undefined) lines.push(`  hint: ${printable(hint)}`);
  const limit = renderLimit(error);
  if (limit !== null) lines.push(`  ${limit}`);
  return [...lines, ...renderStack(error.stack, paint)];
}

/** What a flag of the command line changes, for errors that know nothing of flags. */
const NEXT_STEPS: ReadonlyMap<string, string> = new Map([
  [
    'NS1003',
    "a file given with --policy says what is allowed; without one, the tools of --tools and --mcp and those without effects ('explain NS1003')",
  ],
]);

/** A finding of the parser, in the same form. */
export function renderDiagnostic(found: Diagnostic, code: string, sources: SourceTexts, paint: Paint): string[] {
  const lines = [headline(found, found.message, code, paint)];
  const end = found.endLine === found.line ? found.endColumn - 1 : found.column;
  lines.push(...excerpt(sources.get(found.file), found.line, found.column, end, paint));
  if (found.hint !== undefined) lines.push(`  hint: ${printable(found.hint)}`);
  return lines;
}

/** A finding of the linter, in the same form, with how bad it is and what to write instead. */
export function renderFinding(found: LintFinding, sources: SourceTexts, paint: Paint): string[] {
  const { severity, line, column, endLine, endColumn, message, code, fix } = found;
  const tint = severity === 'error' ? paint.red : severity === 'warning' ? paint.yellow : paint.dim;
  const lines = [headline(found, `${severity}: ${message}`, code, paint, tint)];
  lines.push(...excerpt(sources.get(found.file), line, column, endLine === line ? endColumn - 1 : column, paint));
  return fix.message === '' ? lines : [...lines, `  hint: ${printable(fix.message)}`];
}

interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number | null;
}

function headline(place: Place | null, message: string, code: string, paint: Paint, tint = paint.red): string {
  const at =
    place === null ? 'neuroscript' : `${printable(place.file)}:${place.line}${place.column === null ? '' : `:${place.column}`}`;
  return `${paint.bold(`${at}:`)} ${tint(printable(message))} ${paint.dim(`(${code})`)}`;
}

function renderLimit(error: ErrorInfo): string | null {
  const limit = findLimit(error.limit ?? '');
  if (limit === undefined || error.allowed === undefined) return null;
  const used = error.used === undefined ? '' : `, ${amount(limit.unit, Math.ceil(error.used))} used or asked for`;
  return `limit: --${limit.flag} ${quantity(limit.unit, error.allowed)} (${limit.help})${used}`;
}

function renderStack(stack: readonly StackFrame[], paint: Paint): string[] {
  const frame = (at: StackFrame) => paint.dim(`  in ${printable(at.name)} (${printable(at.source)}:${at.line}:${at.column})`);
  if (stack.length <= FRAMES) return stack.map(frame);
  const half = FRAMES / 2;
  return [...stack.slice(0, half).map(frame), paint.dim(`  … ${stack.length - FRAMES} more …`), ...stack.slice(-half).map(frame)];
}

/**
 * The source line and, under it, a caret for each of the columns `from` to `to` (1-based, in code points). Empty when the
 * text is not at hand or has no such line.
 */
export function excerpt(text: string | undefined, line: number, from: number, to: number, paint: Paint): string[] {
  const raw = text === undefined ? undefined : cleaned(text)[line - 1];
  if (raw === undefined) return [];
  const all = [...raw];
  const start = Math.max(0, Math.min(from - 1 - WINDOW / 2, all.length - WINDOW));
  const chars = all.slice(start, start + WINDOW).map((char) => (char === '\t' ? '  ' : printable(char)));
  const lead = start > 0 ? '…' : '';
  const tail = start + WINDOW < all.length ? '…' : '';
  const before = lead.length + width(chars.slice(0, from - 1 - start));
  const marked = Math.max(1, width(chars.slice(from - 1 - start, Math.min(to, all.length) - start)));
  return [`    ${lead}${chars.join('')}${tail}`, `    ${' '.repeat(before)}${paint.red('^'.repeat(marked))}`];
}

/** The lines as the lexer counts them: without the byte-order mark and the control characters that it drops. */
function cleaned(text: string): string[] {
  return text
    .replace(/^\ufeff/, '')
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0000-\u0008\u000b-\u001f]/g, '')
    .split('\n');
}

const WIDE =
  /^[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

/** Columns of a terminal that the characters take: two for East Asian and pictographic ones, none for combining marks. */
function width(chars: readonly string[]): number {
  let columns = 0;
  for (const char of chars) columns += WIDE.test(char) ? 2 : /^\p{Mn}/u.test(char) ? 0 : char.length;
  return columns;
}
