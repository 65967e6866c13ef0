/** Divides a source into the parts that parse by themselves. */

/** A part of a source: its first line, from 0, and its text, without the last line end. */
export interface Part {
  readonly line: number;
  readonly text: string;
}

const OPENS = /^\s*(?:(func|command)\b|on\s+(event)\b)/;
const CLOSES = { func: /^\s*endfunc\b/, command: /^\s*endcommand\b/, event: /^\s*endon\b/ } as const;
/** What `endon` closes. */
const ON = /^\s*on\b/;

/**
 * Divides lines after every definition and every command block. A definition that is not closed ends before the next one that begins
 * in the first column.
 */
export function split(lines: readonly string[]): readonly Part[] {
  const parts: Part[] = [];
  let from = 0;
  let open: keyof typeof CLOSES | null = null;
  let depth = 0;
  const cut = (to: number): void => {
    if (to > from) parts.push({ line: from, text: lines.slice(from, to).join('\n') });
    from = to;
    open = null;
    depth = 0;
  };
  for (const [index, line] of lines.entries()) {
    const kind = kindOf(line);
    if (kind !== null && (open === null || (!/^\s/.test(line) && kind !== 'event'))) {
      if (open !== null) cut(index);
      [open, depth] = [kind, 1];
    } else if (open === 'event' && ON.test(line)) depth += 1;
    else if (open !== null && CLOSES[open].test(line)) {
      depth -= 1;
      if (depth === 0) cut(index + 1);
    }
  }
  cut(lines.length);
  return parts;
}

function kindOf(line: string): keyof typeof CLOSES | null {
  const [, word, event] = OPENS.exec(line) ?? [];
  if (event !== undefined) return 'event';
  return word === 'func' || word === 'command' ? word : null;
}
