import { isHash, isUuid } from './formats.ts';
import { type History, historyOf } from './history.ts';
import { reasonOf } from './queue.ts';
import { type Denied, denied, deniedApproval, deniedHistory, ELIGIBLE, type Eligibility, FAILURE } from './verdict.ts';
import { type Approval, isPresent, runVerifier, type Verifier } from './verifier.ts';

/** The three inputs of the gate. */
export interface GateRequest {
  /** Id of the intent. */
  readonly intentId: string;
  /** SHA-256 of the approved plan, 64 hexadecimal digits. The gate never sees the plan. */
  readonly hash: string;
  /** Only code that a human has just started may set it: one action of a human allows one call. */
  readonly source: 'human';
}

/** The installation of the gate. It is configured by the installer, not by the caller of the gate. */
export interface GateOptions {
  /** The queue directory, which holds `executed.jsonl`. */
  readonly queue: string;
  /** Answers whether a human approved an intent. */
  readonly verifier: Verifier;
}

/**
 * Decides whether an intent may be executed now: it must be approved and never executed. The gate changes nothing and keeps no
 * state between calls. Never throws: every failure is a denial.
 */
export function checkEligibility(request: GateRequest, options: GateOptions): Eligibility {
  return decide(request, {
    isVerifierPresent: () => isPresent(configured(options).verifier),
    verify: (intentId, hash) => runVerifier(options.verifier, intentId, hash),
    historyOf: (intentId) => historyOf(options.queue, intentId),
  });
}

/** The options, unless one is missing, which plain JavaScript allows. */
export function configured<T extends GateOptions>(options: T): T {
  const { queue, verifier } = options ?? {};
  if (typeof queue !== 'string') throw new TypeError('the option queue is missing: the path of the queue directory');
  if (typeof verifier?.command !== 'string' || !Array.isArray(verifier.args))
    throw new TypeError('the option verifier is missing, or has no command or no args');
  return options;
}

/** A copy of the request, each field read once; the denial of one that is not well formed. */
export function readRequest(request: GateRequest): GateRequest | Denied {
  if (typeof request !== 'object' || request === null)
    return denied('ERR_GATE_INPUT', 'No request: it needs intentId, hash and source');
  const { intentId, hash, source } = request;
  if (source !== 'human') return denied('ERR_GATE_INPUT', 'Not triggered by a human');
  if (!isUuid(intentId)) return denied('ERR_GATE_INPUT', 'Invalid intent ID format');
  return isHash(hash) ? { intentId, hash, source } : denied('ERR_GATE_INPUT', 'Invalid hash format');
}

/** The effects that the steps need. */
export interface Steps {
  readonly isVerifierPresent: () => boolean;
  readonly verify: (intentId: string, hash: string) => Approval;
  readonly historyOf: (intentId: string) => History;
}

/** The five steps of the decision in their fixed order. Each step continues or denies. */
export function decide(request: GateRequest, steps: Steps): Eligibility {
  try {
    const input = readRequest(request);
    if ('eligible' in input) return input;
    const { intentId, hash } = input;
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
