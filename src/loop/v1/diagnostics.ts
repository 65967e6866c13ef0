import type { V1HaltReason } from '../../wire/haltreasons.ts';

export { V1_HALT_REASONS, type V1HaltReason } from '../../wire/haltreasons.ts';

/** Why ACTIONS was not executed. */
export type InvalidReason =
  | 'missing_command'
  | 'parse_error'
  | 'too_large'
  | 'duplicate_section'
  | 'implementations_not_definitions'
  | 'implementations_call_tools'
  | 'events_not_handlers';

/** The line for a call that the policy denied. */
export function deniedStub(tool: string): string {
  return `[[denied:${tool}:capability_missing]]`;
}

/** The line for an OUTPUT that was cut, with its UTF-8 bytes and the number allowed. */
export function truncatedStub(bytes: number, allowed: number): string {
  return `[[truncated:OUTPUT:bytes=${bytes} allowed=${allowed}]]`;
}

/** The line for ACTIONS that were not executed. */
export function invalidStub(reason: InvalidReason): string {
  return `[[invalid:ACTIONS:${reason}]]`;
}

/** The line that the host adds to OUTPUT when it stops the loop. */
export function haltStub(reason: V1HaltReason): string {
  return `[[loop:halt:reason=${reason}]]`;
}

/** Default for the UTF-8 bytes of an OUTPUT that return to the agent, as AEIOU v1 suggests. */
export const DEFAULT_OUTPUT_BYTES = 4096;

/** Joins the emits of ACTIONS with line feeds, without a final one. Replaces ill-formed characters. */
export function joinEmits(emits: readonly string[]): string {
  return emits.join('\n').toWellFormed();
}

/** Cuts a text between two characters to at most `allowed` bytes. `stubs` has the line that reports a cut. */
export function capOutput(output: string, allowed: number): { readonly text: string; readonly stubs: readonly string[] } {
  const bytes = Buffer.from(output);
  if (bytes.length <= allowed) return { text: output, stubs: [] };
  let end = allowed;
  // A byte 10xxxxxx continues a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return { text: bytes.toString('utf8', 0, end), stubs: [truncatedStub(bytes.length, allowed)] };
}

/** Adds lines to a text. An empty text produces no empty line. */
export function withLines(text: string, lines: readonly string[]): string {
  return [...(text === '' ? [] : [text]), ...lines].join('\n');
}
