import { stripVTControlCharacters } from 'node:util';
import { clipped } from '../wire/clip.ts';
import type { TaggedJson } from '../wire/protocol.ts';
import { isList, shownEntries } from '../wire/tagged.ts';
import { grouped } from '../wire/text/grouped.ts';
import type { Palette } from '../wire/text/palette.ts';
import { columns, printable, wrap } from '../wire/text/printable.ts';
import { shortenTokens } from './tokens.ts';

/** Columns of the labels on the left. */
export const LABEL = 12;
/** Maximum number of lines and characters shown of one text; the record has all of it. */
const MAX_LINES = 60;
const MAX_TEXT = 1200;

/** The line that starts a part of a report. */
export function section(name: string, palette: Palette): string[] {
  return ['', palette.dim(`-- ${name} ${'-'.repeat(palette.columns - name.length - 4)}`)];
}

/** The double line that ends the turns of a session. */
export function rule(palette: Palette): string {
  return palette.bold('='.repeat(palette.columns));
}

/**
 * A label and, right of it, printable lines wrapped to the width; `none` where there are none. Styles the lines after it has
 * wrapped them, so that no style is cut in two.
 */
export function field(
  label: string,
  lines: readonly string[],
  palette: Palette,
  style: (text: string) => string = (text) => text,
): string[] {
  if (lines.length === 0) return row(label, [palette.dim('none')], palette);
  return row(
    label,
    lines.flatMap((line) => wrap(line, palette.columns - LABEL - 2)).map((line) => (line === '' ? '' : style(line))),
    palette,
  );
}

/** The lines of a printable text, as wide as the terminal: the first begins with `first`, and the others with `rest`. */
export function paragraph(text: string, { columns }: Palette, first = '', rest: string = first): readonly string[] {
  const pieces = wrap(text, columns - Math.max(first.length, rest.length));
  return pieces.map((piece, index) => `${index === 0 ? first : rest}${piece}`);
}

/** A label and, right of it, lines that fit already. */
export function row(label: string, lines: readonly string[], palette: Palette): string[] {
  return lines.map((line, index) => {
    const left = index === 0 && label !== '' ? palette.bold(label.padEnd(LABEL)) : ' '.repeat(LABEL);
    return line === '' ? `  ${left}`.trimEnd() : `  ${left}${line}`;
  });
}

/** Joins short parts with commas into lines that fit right of the labels. */
export function flow(parts: readonly string[], palette: Palette): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (last !== undefined && columns(stripVTControlCharacters(`${last}, ${part}`)) <= palette.columns - LABEL - 3)
      lines[lines.length - 1] = `${last}, ${part}`;
    else {
      if (last !== undefined) lines[lines.length - 1] = `${last},`;
      lines.push(part);
    }
  }
  return lines;
}

/** A stream of a turn: its final line feed ends the last line and starts none. */
export function streamLines(stream: string): string[] {
  return stream === '' ? [] : textLines(stream.endsWith('\n') ? stream.slice(0, -1) : stream);
}

/** A foreign text as printable lines, shortened where it is long. */
export function textLines(text: string): string[] {
  return capLines(text.split('\n').map((line) => printable(shortenTokens(line))));
}

/** The first lines of a text, each of a bounded length, and a line that tells how many more there are. */
export function capLines(lines: readonly string[]): string[] {
  const shown = lines.slice(0, MAX_LINES).map(capText);
  return lines.length <= MAX_LINES ? shown : [...shown, `... ${grouped(lines.length - MAX_LINES)} more lines`];
}

function capText(text: string): string {
  return text.length <= MAX_TEXT ? text : `${clipped(text, MAX_TEXT)}... ${grouped(text.length - MAX_TEXT)} more characters`;
}

/** A value of a program as one printable line of JSON. */
export function valueText(value: TaggedJson): string {
  return capText(printable(shortenTokens(spaced(value))));
}

/** JSON with a blank after every comma and colon, so that long values break between their parts. */
function spaced(value: TaggedJson): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (isList(value)) return `[${value.map(spaced).join(', ')}]`;
  return `{${shownEntries(value)
    .map(([key, item]) => `${JSON.stringify(key)}: ${spaced(item)}`)
    .join(', ')}}`;
}
