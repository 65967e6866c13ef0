/**
 * Programs, values, limits and results as JSON: the forms of the command line and of `run --jsonl`. Entry point `neuroscript-runtime/wire`.
 */

export { type AnswerOptions, answerRequest, type RecordedRun, type RunRequest, type RuntimeSettings } from '../runtime/index.ts';
export type { PoolLimitOptions, RuntimeLimitOptions } from '../sandbox/index.ts';
export { decode, encode } from '../wire/codec.ts';
export { NS_CODES, type NsCodeName, nsCodeName } from '../wire/codes.ts';
export { type ErrorKind, type StackFrame, WireError } from '../wire/errors.ts';
export type { ForkQuery, JournalOutcome, WaitingCall } from '../wire/journal.ts';
export {
  defaultLimits,
  LIMITS,
  type Limit,
  type LimitKey,
  type LimitRow,
  type LimitValues,
  POOL_LIMITS,
  type PoolKey,
  type PoolLimit,
  TENANT_LIMITS,
  type TenantLimit,
  type Unit,
} from '../wire/limits.ts';
export type { CallSite, EventError, EventInput, Phase, Whisper } from '../wire/protocol.ts';
export { type RequestLine, type RequestOutcome, requestFromJson } from '../wire/request.ts';
export { type PublicResult, type RequestId, toPublicResult } from '../wire/result.ts';
export type { Diagnostic, FormatReport, FuelEstimate, LintFinding, ParsedFile } from '../wire/sourcereports.ts';
export { ValueError } from '../wire/values.ts';
