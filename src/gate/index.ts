/**
 * The gate between approval and action (seed 003). Three sides that share files and nothing else: a human approves
 * (`recordApproved`), the gate says whether an approved intent may run now (`checkEligibility`, with `verifyApproval` as one
 * possible verifier), and an executor runs it once and records that (`executeOnce`). Imports nothing else of this package.
 */

export { recordApproved } from './approve.ts';
export { type ApprovalAnswer, verifyApproval } from './approved.ts';
export { checkEligibility, type GateOptions, type GateRequest } from './eligibility.ts';
export type { Intent } from './executor/attempts.ts';
export { type ExecutorCode, ExecutorError } from './executor/error.ts';
export { type ExecuteOptions, type Execution, executeOnce, type Refused } from './executor/execute.ts';
export { QueueLock } from './executor/lock.ts';
export { recordExecuted } from './executor/record.ts';
export type { Denied, Eligible, GateCode, Verdict } from './verdict.ts';
export type { Verifier } from './verifier.ts';
