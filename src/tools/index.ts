/** What other parts may use of the tools. */

export { APPROVAL, Approval, type ApprovalInit, type Gate, type GateOutcome, NOT_APPROVED, type Plan } from './approval.ts';
export type { ArgType, ArgTypes } from './argtypes.ts';
export type { AskCall, AskPort, AskReply } from './ask.ts';
export { type AuditEntry, type AuditRecord, auditEntry } from './audit.ts';
export type { Loaded, RootPort, Shared } from './call.ts';
export { type Capability, matchesPattern } from './capability.ts';
export {
  type CatalogueArgument,
  type CatalogueTool,
  estimateTokens,
  type ToolPrompt,
  type ToolPromptOptions,
  type ToolSchema,
  toolCatalogue,
  toolMarkdown,
  toolPrompt,
  toolSchemas,
} from './catalogue/index.ts';
export {
  defineTool,
  type Effects,
  type ToolDefinition,
  ToolError,
  type ToolInit,
  type ToolRuntime,
} from './define.ts';
export { catalogueDigest, digestIn } from './digest.ts';
export { callDepth, Dispatcher, type DispatchInit } from './dispatch.ts';
export { Handles } from './handles.ts';
export type { FromJsonSchema, JsonSchema, JsonType } from './jsonschema.ts';
export { loadMockTools } from './mock/file.ts';
export { RECORDING_MARK, type Recording, recordTools } from './mock/record.ts';
export { perSession } from './mock/state.ts';
export { canonicalName, nearestTool } from './names.ts';
export { Halt } from './outcome.ts';
export type { ArgSpec, ArgSpecs, ArgsOf, ObjectSchema, Parameter, ParameterKind } from './parameters.ts';
export type { PendingOptions } from './pending.ts';
export { Policy, type PolicyContext, PolicyGuard, type PolicyOptions, policyOptions } from './policy.ts';
export { loadPolicy } from './policyfile.ts';
export { definePure } from './pure.ts';
export {
  type CallDivergence,
  type CallScript,
  type Completion,
  callOf,
  divergenceOf,
  type Known,
  type MadeCall,
  RecordedCalls,
} from './recorded.ts';
export { ToolRegistry, ToolView } from './registry.ts';
export { resultJson } from './result.ts';
export type { ResultKind, ResultOf, ReturnSpec } from './returns.ts';
export type { SchemaIssue, SchemaResult, StandardSchema } from './schema.ts';
export { type SessionAccess, SessionStorage, type SessionStorageOptions } from './session.ts';
export { Belongings, SessionBelongings } from './sessionresources.ts';
