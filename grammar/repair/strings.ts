/** Strings of other languages, in the form of NeuroScript. */
import { Unclear } from './scope.ts';

/** A string of any language: fixed pieces and the source of the expressions between them. */
export type Piece = { readonly fixed: string } | { readonly source: string };

/** The pieces of a string as it is written. `dollars`: whether `$name` stands for a value, as in the shell. */
export function piecesOf(written: string, dollars: boolean): readonly Piece[] {
  const prefix = /^[fFrRbB](?=["'])/.exec(written)?.[0].toLowerCase() ?? '';
  const quoted = written.slice(prefix.length);
  const long = /^(?:```|"""|''')/.exec(quoted)?.[0];
  const open = long ?? quoted.charAt(0);
  const closes = quoted.length > open.length && (long === undefined || quoted.endsWith(open));
  const body = quoted.slice(open.length, closes ? quoted.length - open.length : undefined);
  if (prefix === 'f') return split(body, /\{([^{}]*)\}/g);
  if (open === '`' || open === '```') return split(body, /\$\{([^{}]*)\}|\{\{([^{}]*)\}\}/g);
  if (open !== '"') return [{ fixed: body }];
  return split(body, dollars ? /\$\{([^{}]*)\}|#\{([^{}]*)\}|\$([A-Za-z_]\w*)/g : /\$\{([^{}]*)\}|#\{([^{}]*)\}/g);
}

function split(body: string, holes: RegExp): readonly Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const hole of body.matchAll(holes)) {
    pieces.push(
      { fixed: body.slice(from, hole.index) },
      { source: (hole.slice(1).find((one) => one !== undefined) ?? '').replace(/\[[@*]\]$/, '') },
    );
    from = hole.index + hole[0].length;
  }
  return [...pieces, { fixed: body.slice(from) }].filter((piece) => 'source' in piece || piece.fixed !== '');
}

/** A string without values. `raw`: the text between the quotes, with escapes. */
export function quoted(raw: string): string {
  return raw.includes('\n') ? `\`\`\`${raw}\`\`\`` : `"${raw.replace(/\\.|"/g, (one) => (one === '"' ? '\\"' : one))}"`;
}

/** A string with values in NeuroScript: a template, or a sum where a template would read differently. */
export function filled(pieces: readonly (string | { readonly value: string })[]): string {
  const fixed = pieces.filter((piece) => typeof piece === 'string').join('');
  if (pieces.length === fixed.length || pieces.every((piece) => typeof piece === 'string')) return quoted(fixed);
  if (/[\\`]|\{\{/.test(fixed)) {
    const parts = pieces.map((piece) => (typeof piece === 'string' ? quoted(piece) : `(${piece.value})`));
    return `(${(parts[0]?.startsWith('"') ? parts : ['""', ...parts]).join(' + ')})`;
  }
  return `\`\`\`${pieces.map((piece) => (typeof piece === 'string' ? piece : `{{${piece.value}}}`)).join('')}\`\`\``;
}

/** `"n is {}"` or `"n is %d"` with values filled in. */
export function fillFormat(written: string, values: readonly string[]): string {
  const parts = written
    .slice(1, -1)
    .replace(/\\n$/, '')
    .split(/\{\d*\}|%[\d.]*[a-z]/);
  if (parts.length !== values.length + 1) throw new Unclear();
  const pieces = parts.flatMap((fixed, index) => {
    const value = values[index];
    return [...(fixed === '' ? [] : [fixed]), ...(value === undefined ? [] : [{ value }])];
  });
  return filled(pieces);
}
