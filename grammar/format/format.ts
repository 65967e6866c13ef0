/** Formats a source in the canonical layout. Comments, literals and groups of lines are kept; everything else has one form. */

import { asksForDoubleBrackets, metadataEntry } from '../syntax/metadata.ts';
import { MAX_SOURCE_BYTES, type ParseOptions, parse } from '../syntax/parse.ts';
import type { SyntaxDiagnostic } from '../syntax/problem.ts';
import { blockEnds, closers, keyword } from '../syntax/tokens.ts';
import { layout } from './layout.ts';
import { type Line, linesOf } from './tree.ts';

/** The formatted text, or the errors of a source that cannot be formatted. */
export type FormatResult =
  /** The formatted source. */
  | { readonly ok: true; readonly text: string }
  /** Every syntax error of the source. */
  | { readonly ok: false; readonly errors: readonly [SyntaxDiagnostic, ...SyntaxDiagnostic[]] };

/**
 * Formats a source. Parsing the result gives the same tree, apart from spans and the text that `must` shows, and formatting
 * the result changes nothing. A source that does not parse is not formatted. Never throws; takes linear time.
 */
export function format(source: string | Uint8Array, options: ParseOptions = {}): FormatResult {
  const parsed = parse(source, options);
  if (!parsed.ok) return parsed;
  const maxBytes = options.maxBytes ?? MAX_SOURCE_BYTES;
  const text = formatted(parsed.text, maxBytes);
  if (text !== undefined && new TextEncoder().encode(text).length <= maxBytes) return { ok: true, text };
  const message = `the formatted source would be longer than ${maxBytes} bytes`;
  const place = { s: 0, e: 0, line: 1, column: 1, endLine: 1, endColumn: 1 };
  return { ok: false, errors: [{ ...place, message, hint: 'nest less deeply, or split the source into several files' }] };
}

const INDENT = 2;

/** Undefined when the text becomes longer than `most`: deep nesting indents far more than it contains. */
function formatted(text: string, most: number): string | undefined {
  const bracketsApart = asksForDoubleBrackets(text);
  const out: string[] = [];
  let length = 0;
  let depth = 0;
  let before: Line | undefined;
  for (const line of linesOf(text)) {
    const first = firstType(line);
    const closes = first !== undefined && (blockEnds.has(first) || first === keyword.else);
    if (closes) depth--;
    if (before !== undefined && needsBlank(before, line, depth, closes)) out.push('');
    const whole = ' '.repeat(depth * INDENT) + lineText(line, depth * INDENT, bracketsApart);
    length += whole.length;
    if (length > most) return undefined;
    out.push(whole);
    if (first !== undefined && (closers.has(first) || first === keyword.else)) depth++;
    before = line;
  }
  return out.map((line) => `${line}\n`).join('');
}

function firstType({ nodes: [first] }: Line) {
  return first?.k === 'atom' ? first.type : undefined;
}

/** Whether an empty line precedes a line: at most one, none at the ends of a block, always one between blocks of a file. */
function needsBlank(before: Line, line: Line, depth: number, closes: boolean): boolean {
  const last = firstType(before);
  if (closes || (last !== undefined && (closers.has(last) || last === keyword.else))) return false;
  if (depth > 0) return line.apart;
  const opens = line.k === 'statement';
  return line.apart || (last !== undefined && blockEnds.has(last)) || (opens && before.k === 'metadata');
}

function lineText(line: Line, indent: number, bracketsApart: boolean): string {
  const { k, nodes, comment = '' } = line;
  if (k === 'comment') return comment;
  const text = k === 'metadata' ? metadataText(line) : layout(nodes, indent, bracketsApart);
  return comment === '' ? text : `${text}  ${comment}`;
}

/** A metadata line with a comment or a continuation is unchanged. */
function metadataText({ nodes: [node] }: Line): string {
  const text = node?.k === 'atom' ? node.text.trimEnd() : '';
  if (/[#\\]|--/.test(text)) return text;
  const [key, value] = metadataEntry(text);
  return text.slice(2).includes(':') ? `:: ${key}: ${value}`.trimEnd() : `:: ${key}`;
}
