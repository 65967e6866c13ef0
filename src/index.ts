/**
 * The runtime: scripts, tools, policy and contexts.
 *
 * `createRuntime` starts it; `Runtime.run` runs one source; `Runtime.interpreter` makes a root with libraries and globals,
 * whose forks are the sandboxes of operations. `defineTool` makes a tool.
 */
export {
  type Account,
  type AccountFields,
  type AccountReader,
  AccountStore,
  type Actor,
  type AgentModel,
  type AgentModelFields,
  type AgentModelReader,
  AgentModelStore,
  type CapsuleFields,
  CapsuleLayers,
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
  type TurnContext,
  type TurnInit,
} from './context/index.ts';
export {
  type AnswerOptions,
  answerRequest,
  type CheckOptions,
  createRuntime,
  type ExecuteOptions,
  type Fork,
  type ForkOptions,
  type Interpreter,
  type InterpreterOptions,
  LibraryError,
  type PerformRequest,
  type RunOptions,
  type Runtime,
  type RuntimeOptions,
  type RuntimeSettings,
} from './runtime/index.ts';
export { defaultLimits, LIMITS, type Limit, type LimitOptions, type Unit } from './sandbox/index.ts';
export {
  type ArgSpec,
  type ArgSpecs,
  type ArgsOf,
  type ArgType,
  type ArgTypes,
  type AuditRecord,
  type Capability,
  defineTool,
  type Effects,
  type Handles,
  loadMockTools,
  type Parameter,
  Policy,
  type PolicyContext,
  type PolicyOptions,
  type SessionAccess,
  SessionStorage,
  type SessionStorageOptions,
  type StandardSchema,
  type ToolDefinition,
  ToolError,
  type ToolInit,
  type ToolRuntime,
  type ToolView,
} from './tools/index.ts';
export { decode, encode } from './wire/codec.ts';
export { NS_CODES, type NsCodeName, nsCodeName } from './wire/codes.ts';
export {
  BusyError,
  ConfigError,
  type ErrorInfo,
  type ErrorKind,
  NeuroScriptError,
  RuntimeClosedError,
  type StackFrame,
  WireError,
} from './wire/errors.ts';
export type { JournalEntry, JournalOutcome } from './wire/journal.ts';
export type {
  CallSite,
  CheckReport,
  Diagnostic,
  EventError,
  EventInput,
  FormatReport,
  FuelEstimate,
  LimitKey,
  LimitValues,
  LintFinding,
  OutFrame,
  ParsedFile,
  Phase,
  Source,
  TaggedJson,
  Usage,
  Whisper,
} from './wire/protocol.ts';
export { type PublicResult, type RequestId, toPublicResult } from './wire/public.ts';
export { REQUEST_LIMITS, type RequestOutcome, type RunRequest, requestFromJson } from './wire/request.ts';
export type { RunResult } from './wire/result.ts';
export { ErrorValue, Fuzzy, Handle, TimeDate, type Value, ValueError, type ValueMap } from './wire/values.ts';
