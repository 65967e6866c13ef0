import { isHash, isUuid } from './formats.ts';
import { type History, historyOf } from './history.ts';
import { reasonOf } from './queue.ts';
import { denied, deniedApproval, deniedHistory, ELIGIBLE, FAILURE, type Verdict } from './verdict.ts';
import { type Approval, isPresent, runVerifier, type Verifier } from './verifier.ts';

/** The three inputs (ARGO-2-1 to ARGO-2-4). */
export interface GateRequest {
  readonly intentId: string;
  /** SHA-256 of what was approved, 64 hexadecimal digits. The gate never learns what it is the hash of. */
  readonly hash: string;
  /** Written by code that a human has just started, and by no other: one human action is one call (AMB-57). */
  readonly source: 'human';
}

/** Where the gate stands; fixed by whoever installs it, not by the one who asks. */
export interface GateOptions {
  /** The queue directory, which holds `executed.jsonl`. */
  readonly queue: string;
  readonly verifier: Verifier;
}

/**
 * Whether an approved intent may be executed now: approved, and never executed. Reads, and changes nothing; keeps nothing from
 * one call to the next. Never throws: whatever goes wrong is a denial (ARGO-R4).
 */
export function checkEligibility(request: GateRequest, options: GateOptions): Verdict {
  return decide(request, {
    isVerifierPresent: () => isPresent(options.verifier),
    verify: (intentId, hash) => runVerifier(options.verifier, intentId, hash),
    historyOf: (intentId) => historyOf(options.queue, intentId),
  });
}

/** What the steps need of the world. */
export interface Steps {
  readonly isVerifierPresent: () => boolean;
  readonly verify: (intentId: string, hash: string) => Approval;
  readonly historyOf: (intentId: string) => History;
}

/** The five steps of seed 003 section 4, in their order, each of which goes on or stops. */
export function decide(request: GateRequest, steps: Steps): Verdict {
  try {
    const { intentId, hash, source } = request;
    if (source !== 'human') return denied('ERR_GATE_INPUT', 'Not triggered by a human');
    if (!isUuid(intentId)) return denied('ERR_GATE_INPUT', 'Invalid intent ID format');
    if (!isHash(hash)) return denied('ERR_GATE_INPUT', 'Invalid hash format');
    if (!steps.isVerifierPresent()) return denied('ERR_GATE_VERIFIER', 'Execution verification tool not found');
    const approval = steps.verify(intentId, hash);
    if (approval !== 'approved') return deniedApproval(approval);
    const history = steps.historyOf(intentId);
    if (history.state !== 'not executed') return deniedHistory(history);
    return ELIGIBLE;
  } catch (error) {
    return denied('ERR_GATE_FAILURE', FAILURE, reasonOf(error));
  }
}
