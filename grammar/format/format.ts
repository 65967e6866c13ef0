/** The canonical layout of a source: comments, literals and groups of lines are kept, all else has one form. */

import { MAX_SOURCE_BYTES } from '../syntax/clean.ts';
import { metadataEntry } from '../syntax/metadata.ts';
import { type ParseOptions, parse } from '../syntax/parse.ts';
import type { SyntaxDiagnostic } from '../syntax/problem.ts';
import { blockEnds, closers, keyword } from '../syntax/tokens.ts';
import { layout } from './layout.ts';
import { keepsBracketsApart, type Line, linesOf } from './tree.ts';

/** The formatted text, or why there is none. */
export type FormatResult =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly errors: readonly [SyntaxDiagnostic, ...SyntaxDiagnostic[]] };

/**
 * Formats a source: parsing the result gives the same tree, spans and the wording that `must` shows aside, and formatting it
 * again changes nothing. What does not parse is left alone. Never throws; linear.
 */
export function format(source: string | Uint8Array, options: ParseOptions): FormatResult {
  const parsed = parse(source, options);
  if (!parsed.ok) return parsed;
  const maxBytes = options.maxBytes ?? MAX_SOURCE_BYTES;
  const text = formatted(parsed.text, maxBytes);
  if (text !== undefined && new TextEncoder().encode(text).length <= maxBytes) return { ok: true, text };
  const message = `in its canonical layout the source would be longer than ${maxBytes} bytes`;
  const place = { s: 0, e: 0, line: 1, column: 1, endLine: 1, endColumn: 1 };
  return { ok: false, errors: [{ ...place, message, hint: 'nest less deeply, or split it into several files' }] };
}

const INDENT = 2;

/** Undefined when it becomes far too long: the indentation of deep nesting is many times what it indents. */
function formatted(text: string, most: number): string | undefined {
  const bracketsApart = keepsBracketsApart(text);
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

/** One empty line at most, none at the ends of a block, always one between the blocks of a file. */
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

/** A line with a comment or a continuation in it stays as it is. */
function metadataText({ nodes: [node] }: Line): string {
  const text = node?.k === 'atom' ? node.text.trimEnd() : '';
  if (/[#\\]|--/.test(text)) return text;
  const [key, value] = metadataEntry(text);
  return text.slice(2).includes(':') ? `:: ${key}: ${value}`.trimEnd() : `:: ${key}`;
}
