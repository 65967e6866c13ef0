/**
 * The runtime: scripts, tools, policy and contexts. `createRuntime` starts it; `Runtime.run` runs one source; `Runtime.interpreter` makes a
 * root with libraries and globals, whose forks are the sandboxes of operations. `defineTool` makes a tool. Entry point `neuroscript-runtime`.
 */

export {
  type Account,
  type AccountFields,
  type AccountReader,
  type AccountStore,
  type Actor,
  type AgentModel,
  type AgentModelFields,
  type AgentModelReader,
  AgentModelStore,
  type CapsuleFields,
  type CapsuleLayers,
  type CapsuleReader,
  createHostContext,
  currentTurn,
  DeadlineError,
  type HostContext,
  type HostContextInit,
  type LineReader,
  type LineSource,
  type Logger,
  Secret,
  SILENT_LOGGER,
  type StoredCapsule,
  type StoreReaders,
  type Stores,
  type TextSink,
  TurnClosedError,
  TurnContext,
  type TurnInit,
} from '../context/index.ts';
export * from '../runtime/public.ts';

export type { Lack, LimitOptions, ParseOutcome, PoolLimitOptions, RuntimeLimitOptions } from '../sandbox/index.ts';
export * from '../tools/public.ts';
export { encode } from '../wire/codec.ts';
export { NS_CODES } from '../wire/codes.ts';
export {
  BusyError,
  type BusyLimit,
  ConfigError,
  type ErrorInfo,
  type ErrorKind,
  NeuroScriptError,
  RuntimeClosedError,
  type StackFrame,
} from '../wire/errors.ts';
export { decodeTagged as decode } from '../wire/foreign.ts';
export type { AnswerForm, ForkQuery, JournalEntry, JournalOutcome, WaitingCall } from '../wire/journal.ts';
export type { CarriedLabel, SaidLabels } from '../wire/labels.ts';
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
export type { CallSite, EventError, EventInput, OutFrame, Phase, Source, TaggedJson, Usage, Whisper } from '../wire/protocol.ts';
export {
  type PublicResult,
  type RequestId,
  type RunFailure,
  type RunResult,
  type RunSuccess,
  toPublicResult,
} from '../wire/result.ts';
export type { CheckReport, Diagnostic, FormatReport, FuelEstimate, LintFinding, ParsedFile } from '../wire/sourcereports.ts';
export { RunError } from '../wire/text/runerror.ts';
export {
  ErrorValue,
  Fuzzy,
  Handle,
  type OrderedMap,
  type OrderedValue,
  TimeDate,
  type Value,
  ValueError,
  type ValueMap,
} from '../wire/values.ts';
