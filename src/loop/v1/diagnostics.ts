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
