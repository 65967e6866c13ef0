/**
 * The gate between approval and action. Its three sides share only files: a human approves (`recordApproved`); the gate decides
 * whether an approved intent may run now (`checkEligibility`, for instance with `verifyApproval` as its verifier); an executor
 * runs the intent once and records that (`executeOnce`). It imports nothing else of this package.
 */

export { type ApprovalAnswer, verifyApproval } from './approval.ts';
export { recordApproved } from './approve.ts';
export { checkEligibility, type GateOptions, type GateRequest } from './eligibility.ts';
export type { Intent } from './executor/attempts.ts';
export { type ExecutorCode, ExecutorError } from './executor/error.ts';
export { type ExecuteOnceOptions, type Execution, executeOnce, type Refused } from './executor/execute.ts';
export { recordExecuted } from './executor/executed.ts';
export { QueueLock } from './executor/lock.ts';
export type { Denied, Eligibility, Eligible, GateCode } from './verdict.ts';
export type { Verifier } from './verifier.ts';
