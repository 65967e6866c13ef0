/** Problems as the phases collect them: with offsets only; lines and columns are added once, at the end. */
import type { Span } from './ast.ts';

export interface Finding extends Span {
  readonly message: string;
  readonly hint?: string;
}

/** Most problems reported for one source; past it, reading stops. */
export const MAX_FINDINGS = 100;

/** Makes a finding; without a hint the field is absent. */
export function finding(s: number, e: number, message: string, hint?: string): Finding {
  return hint === undefined ? { s, e, message } : { s, e, message, hint };
}
