import type { History } from './history.ts';
import type { Approval } from './verifier.ts';

/** Why the gate denied. Each code has a page in `docs/errors`. */
export type GateCode =
  | 'ERR_GATE_INPUT'
  | 'ERR_GATE_VERIFIER'
  | 'ERR_GATE_NOT_APPROVED'
  | 'ERR_GATE_EXECUTED'
  | 'ERR_GATE_HISTORY'
  | 'ERR_GATE_FAILURE';

/** The intent may be executed now, once. */
export interface Eligible {
  readonly eligible: true;
  /** The line for the human. */
  readonly line: string;
}

/** The intent must not be executed. */
export interface Denied {
  readonly eligible: false;
  /** The check that failed. */
  readonly code: GateCode;
  /** The line for the human; it begins with `[ERROR] `. */
  readonly line: string;
  /** The system's message, for diagnosis; null when the line says everything. */
  readonly detail: string | null;
}

/** The gate's answer. Only `eligible` decides. */
export type Eligibility = Eligible | Denied;

export const ELIGIBLE: Eligible = Object.freeze({ eligible: true, line: '[OK] Intent eligible for execution' });

export function denied(code: GateCode, message: string, detail: string | null = null): Denied {
  return Object.freeze({ eligible: false, code, line: `[ERROR] ${message}`, detail });
}

/** The denial for every result of the verifier except approval. */
export function deniedApproval(approval: Approval): Denied {
  if (approval === 'not approved') return denied('ERR_GATE_NOT_APPROVED', 'Approval verification failed');
  if (approval === 'uncallable') return denied('ERR_GATE_VERIFIER', 'Cannot invoke execution verifier');
  return denied('ERR_GATE_VERIFIER', 'Verification tool error');
}

/** The denial for every history except an empty one. */
export function deniedHistory(history: Exclude<History, { readonly state: 'not executed' }>): Denied {
  if (history.state === 'executed') {
    const when = history.timestamp === null ? '' : ` at ${history.timestamp}`;
    return denied('ERR_GATE_EXECUTED', `Intent already executed${when}`);
  }
  if (history.state === 'malformed')
    return denied('ERR_GATE_HISTORY', `Malformed entry in executed queue (line ${history.line})`);
  return denied('ERR_GATE_HISTORY', 'Cannot read executed queue', history.why);
}

/** The message when the gate itself failed. */
export const FAILURE = 'Execution controller failure';
