import { isUtf8 } from 'node:buffer';
import { badLine } from '../terminal/input.ts';
import { GRANT, POLICY, TOOLS } from './config.ts';
import { ENVELOPE } from './envelope.ts';
import { EVIDENCE } from './evidence.ts';
import { GATE } from './gate.ts';
import { KEYS } from './keys.ts';
import type { Artefact, Found, Kind } from './kind.ts';
import { LOG } from './log.ts';
import { PROGRAM } from './program.ts';
import { SESSIONS } from './sessions.ts';
import { NO_TOKENS, TOKENS } from './token.ts';
import { SESSION, TURN } from './turn.ts';

/**
 * All kinds, in the order of recognition. Keys come first, so that no other kind shows a private half. Kinds with distinctive marks
 * come before kinds that are recognised by words.
 */
const KINDS: readonly Kind[] = [
  KEYS,
  EVIDENCE,
  ENVELOPE,
  TOKENS,
  SESSIONS,
  TURN,
  SESSION,
  LOG,
  GATE,
  GRANT,
  POLICY,
  TOOLS,
  PROGRAM,
  NO_TOKENS,
];

/** A kind that was tried, and why the artefact is not of it. */
export interface Tried {
  readonly kind: string;
  readonly what: string;
  readonly why: string;
}

/** The recognised kind, or all kinds that were tried. */
export type Recognition =
  | { readonly kind: string; readonly found: Found }
  | { readonly kind: 'unknown'; readonly guess: string | null; readonly tried: readonly Tried[] };

/** Identifies an artefact by its content; the first kind that recognises it wins. */
export async function recognize(artefact: Artefact): Promise<Recognition> {
  const tried: Tried[] = [];
  for (const { kind, what, recognize: look } of KINDS) {
    const found = await look(artefact);
    if (typeof found !== 'string') return { kind, found };
    tried.push({ kind, what, why: found });
  }
  return { kind: 'unknown', guess: guessOf(artefact), tried };
}

/** The first bytes of common files that may be taken for one of this project's, or contain one. */
const OTHERS: readonly (readonly [head: string, what: string])[] = [
  ['1f8b', 'compressed with gzip; unpack it first'],
  ['504b0304', 'a ZIP archive; unpack it first'],
  ['28b52ffd', 'compressed with zstd; unpack it first'],
  ['fffe', 'text in UTF-16; convert it to UTF-8'],
  ['feff', 'text in UTF-16; convert it to UTF-8'],
  ['25504446', 'a PDF'],
  ['89504e47', 'a PNG image'],
  ['7f454c46', 'a program for the machine (ELF)'],
];

/** A guess at another kind of file; null without one. */
function guessOf({ bytes, text }: Artefact): string | null {
  if (bytes.length === 0) return 'empty';
  const head = bytes.subarray(0, 8).toString('hex');
  const other = OTHERS.find(([magic]) => head.startsWith(magic));
  if (other !== undefined) return other[1];
  if (!isUtf8(bytes)) return `not UTF-8 text (line ${badLine(bytes)})`;
  if (text !== null && text.trim() === '') return 'only white space';
  return text?.trimStart().startsWith('{') ? 'text that begins like JSON' : 'text';
}
