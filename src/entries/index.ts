/**
 * The runtime: scripts, tools and policy. `createRuntime` starts it; `Runtime.run` runs one source; `Runtime.interpreter` makes a root with
 * libraries and globals, whose forks are the sandboxes of operations. `defineTool` makes a tool. Entry point `neuroscript-runtime`.
 */

export {
  type Actor,
  AgentModelStore,
  createHostContext,
  currentTurn,
  type HostContext,
  type HostContextInit,
  type Logger,
  Secret,
  SILENT_LOGGER,
  TurnClosedError,
  TurnContext,
  type TurnInit,
} from '../context/index.ts';
export {
  type CheckOptions,
  createRuntime,
  type EventOptions,
  type ExecuteOptions,
  type Fork,
  type ForkOptions,
  type Interpreter,
  type InterpreterOptions,
  LibraryError,
  type RunOptions,
  type RunSettings,
  Runtime,
  type RuntimeOptions,
} from '../runtime/index.ts';
export type { LimitOptions, WorkerFiles } from '../sandbox/index.ts';
export {
  defineTool,
  loadMockTools,
  loadPolicy,
  Policy,
  type PolicyOptions,
  perSession,
  SessionStorage,
  type SessionStorageOptions,
  type ToolDefinition,
  ToolError,
  type ToolInit,
  type ToolRuntime,
} from '../tools/index.ts';
export { BusyError, ConfigError, type ErrorInfo, NeuroScriptError, RuntimeClosedError } from '../wire/errors.ts';
export type { JournalEntry } from '../wire/journal.ts';
export { mapEntries } from '../wire/maporder.ts';
export type { OutFrame, Source, TaggedJson, Usage } from '../wire/protocol.ts';
export type { RunFailure, RunResult, RunSuccess } from '../wire/result.ts';
export type { CheckReport } from '../wire/sourcereports.ts';
export { ErrorValue, Fuzzy, Handle, TimeDate, type Value, type ValueMap } from '../wire/values.ts';
