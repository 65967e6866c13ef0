import { truncatedStub } from './diagnostics.ts';

/** Most UTF-8 bytes of an OUTPUT that goes back to the agent, unless configured otherwise: AEIOU v1's own suggestion. */
export const DEFAULT_OUTPUT_BYTES = 4096;

/** The emits of ACTIONS as one text: joined with line feeds, none at the end (AL1-5-4), ill-formed text replaced. */
export function joinEmits(emits: readonly string[]): string {
  return emits.join('\n').toWellFormed();
}

/** A text of at most `allowed` bytes, cut between two characters, and the line that says so; the text itself when it fits. */
export function capOutput(output: string, allowed: number): { readonly text: string; readonly stubs: readonly string[] } {
  const bytes = Buffer.from(output);
  if (bytes.length <= allowed) return { text: output, stubs: [] };
  let end = allowed;
  // A byte 10xxxxxx continues a character that started before it.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return { text: bytes.toString('utf8', 0, end), stubs: [truncatedStub(bytes.length, allowed)] };
}

/** A text with lines under it; an empty text leaves no empty line. */
export function withLines(text: string, lines: readonly string[]): string {
  return [...(text === '' ? [] : [text]), ...lines].join('\n');
}
