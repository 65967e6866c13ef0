/** Strings of other languages, in the form of NeuroScript. */
import { escapeAt } from '../syntax/strings.ts';
import { Unclear } from './scope.ts';

/** A string of any language: fixed pieces and the source of the expressions between them. */
export type Piece = { readonly fixed: string } | { readonly source: string };

/** The pieces of a string literal. `dollars` says that `$name` stands for a value, as in the shell, `filled` that `{{name}}` does. */
export function piecesOf(written: string, dollars: boolean, filled = false): readonly Piece[] {
  const prefix = /^[fFrRbB$](?=["'])/.exec(written)?.[0].toLowerCase() ?? '';
  const quoted = written.slice(prefix.length);
  const long = /^(?:```|"""|''')/.exec(quoted)?.[0];
  const open = long ?? quoted.charAt(0);
  const closes = quoted.length > open.length && (long === undefined || quoted.endsWith(open));
  const inner = quoted.slice(open.length, closes ? quoted.length - open.length : undefined);
  if (prefix === 'r') return [{ fixed: inner.replaceAll('\\', '\\\\') }];
  const body = open === "'" ? inner.replaceAll("\\'", "'") : inner;
  if (prefix === 'f' || prefix === '$') return joined(split(body, /\{\{|\}\}|\{([^{}]*)\}/g));
  if (open === '`' || open === '```' || (filled && open === '"'))
    return split(filled ? body.replaceAll('#{', '${') : body, /(?<!\\)\$\{([^{}]*)\}|\{\{([^{}]*)\}\}/g);
  if (open !== '"') return [{ fixed: body }];
  if (/\\\([^()]*\)/.test(body)) return split(body, /\\\(([^()]*)\)/g);
  return split(body, dollars ? /(?<!\\)(?:\$\{([^{}]*)\}|#\{([^{}]*)\}|\$([A-Za-z_]\w*))/g : /(?<!\\)[$#]\{([^{}]*)\}/g);
}

function split(body: string, holes: RegExp): readonly Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const hole of body.matchAll(holes)) {
    const source = hole.slice(1).find((one) => one !== undefined);
    const value = source === undefined ? { fixed: hole[0].charAt(0) } : { source: source.replace(/\[[@*]\]$/, '') };
    pieces.push({ fixed: body.slice(from, hole.index) }, value);
    from = hole.index + hole[0].length;
  }
  return [...pieces, { fixed: body.slice(from) }].filter((piece) => 'source' in piece || piece.fixed !== '');
}

/** The pieces with adjacent fixed ones merged. */
function joined(pieces: readonly Piece[]): readonly Piece[] {
  const all: Piece[] = [];
  for (const piece of pieces) {
    const last = all.at(-1);
    if ('fixed' in piece && last !== undefined && 'fixed' in last) all[all.length - 1] = { fixed: last.fixed + piece.fixed };
    else all.push(piece);
  }
  return all;
}

/** A string without values. `raw`: the text between the quotes, with escapes. */
export function quoted(raw: string): string {
  return raw.includes('\n') ? `\`\`\`${raw}\`\`\`` : `"${raw.replace(/\\.|"/g, (one) => (one === '"' ? '\\"' : one))}"`;
}

/** A quoted text in which every backslash that begins no escape is doubled. */
export function withEscapes(written: string): string {
  let out = '';
  for (let at = 0; at < written.length; at++) {
    const length = written.charAt(at) === '\\' ? escapeAt(written, at)?.length : 1;
    out += length === undefined ? '\\\\' : written.slice(at, at + length);
    at += (length ?? 1) - 1;
  }
  return out;
}

/** A part of text: fixed, or a value. */
export type TextPart = string | { readonly value: string };

/** A string with values in NeuroScript: a template, with escapes and braces as values of their own. */
export function filled(pieces: readonly TextPart[]): string {
  const fixed = pieces.filter((piece) => typeof piece === 'string').join('');
  if (pieces.every((piece) => typeof piece === 'string')) return quoted(fixed);
  const written = (text: string): string => (/[\\`{}]/.test(text) ? `{{${quoted(text).replaceAll('\n', '\\n')}}}` : text);
  const parts = pieces.map((piece) => (typeof piece === 'string' ? written(piece) : `{{${spaced(piece.value)}}}`));
  return `\`\`\`${parts.join('')}\`\`\``;
}

/** A value whose braces do not touch those of its placeholder. */
function spaced(value: string): string {
  return /^\{|\}$/.test(value) ? ` ${value} ` : value;
}

/** `"n is {}"` or `"n is %d"` with values filled in. */
export function fillFormat(written: string, values: readonly string[]): string {
  const text = written.slice(1, -1).replace(/\\n$/, '');
  const pieces: TextPart[] = [];
  let [from, next] = [0, 0];
  for (const hole of text.matchAll(/\{(\d*)\}|%[sdiv]|\{[^{}]*\}|%[^\s]/g)) {
    if (!/^(?:\{\d*\}|%[sdiv])$/.test(hole[0])) throw new Unclear();
    const value = values[hole[1] === undefined || hole[1] === '' ? next++ : Number(hole[1])];
    if (value === undefined) throw new Unclear();
    pieces.push(text.slice(from, hole.index), { value });
    from = hole.index + hole[0].length;
  }
  if (next > 0 ? next < values.length : pieces.length < 2 * values.length) throw new Unclear();
  return filled([...pieces, text.slice(from)].filter((piece) => piece !== ''));
}
