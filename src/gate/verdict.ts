import type { History } from './history.ts';
import type { Approval } from './verifier.ts';

/** Why the gate said no; each has a page in `docs/errors`. */
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
  /** What the human is shown. */
  readonly line: string;
}

/** The intent must not be executed. */
export interface Denied {
  readonly eligible: false;
  readonly code: GateCode;
  /** What the human is shown; begins with `[ERROR] `. */
  readonly line: string;
  /** What the system said, for whoever has to look into it; null when the line says all. */
  readonly detail: string | null;
}

/** The gate's answer, for the human and for the executor. Only `eligible` decides (ARGO-I1). */
export type Verdict = Eligible | Denied;

export const ELIGIBLE: Eligible = Object.freeze({ eligible: true, line: '[OK] Intent eligible for execution' });

/** A denial with its line. */
export function denied(code: GateCode, message: string, detail: string | null = null): Denied {
  return Object.freeze({ eligible: false, code, line: `[ERROR] ${message}`, detail });
}

/** What every way of ending a verifier but approval is answered with (ARGO-3-2, ARGO-4-3). */
export function deniedApproval(approval: Approval): Denied {
  if (approval === 'not approved') return denied('ERR_GATE_NOT_APPROVED', 'Approval verification failed');
  if (approval === 'uncallable') return denied('ERR_GATE_VERIFIER', 'Cannot invoke execution verifier');
  return denied('ERR_GATE_VERIFIER', 'Verification tool error');
}

/** What every record but an empty one is answered with (ARGO-4-4); what is none of the known answers is no clear one. */
export function deniedHistory(history: Exclude<History, { readonly state: 'not executed' }>): Denied {
  if (history.state === 'executed') {
    const when = history.timestamp === null ? '' : ` at ${history.timestamp}`;
    return denied('ERR_GATE_EXECUTED', `Intent already executed${when}`);
  }
  if (history.state === 'malformed')
    return denied('ERR_GATE_HISTORY', `Malformed entry in executed queue (line ${history.line})`);
  return denied('ERR_GATE_HISTORY', 'Cannot read executed queue', history.why);
}

/** What is said when the gate itself broke (ARGO-3-7). */
export const FAILURE = 'Execution controller failure';
