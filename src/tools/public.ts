/** What users of the package may import of the tools. */

export {
  type CatalogueArgument,
  type CatalogueTool,
  type LibraryEntry,
  type ProcedurePromptOptions,
  procedurePrompt,
  type ToolGrammarOptions,
  type ToolPrompt,
  type ToolPromptOptions,
  type ToolSchema,
  toolCatalogue,
  toolGrammar,
  toolMarkdown,
  toolPrompt,
  toolSchemas,
} from './catalogue/index.ts';
export type { ArgType, ArgTypes } from './define/argtypes.ts';
export { defineTool, type ToolInit } from './define/define.ts';
export type {
  CallIdentity,
  Effects,
  LoadedLibrary,
  RootDefinitions,
  ToolDefinition,
  ToolRuntime,
  ToolView,
} from './define/definition.ts';
export type { FromJsonSchema, JsonSchema, JsonType } from './define/jsonschema.ts';
export type { ArgSpec, ArgSpecs, ArgsOf, ObjectSchema, Parameter, ParameterKind } from './define/parameters.ts';
export type { ResultKind, ResultOf, ReturnSpec } from './define/returns.ts';
export type { SchemaIssue, SchemaResult, StandardSchema } from './define/standardschema.ts';
export { type AuditEntry, type AuditRecord, auditEntry } from './dispatch/audit.ts';
export type { CallScript, Known } from './dispatch/recorded.ts';
export { ToolError, type ToolErrorOptions } from './errors.ts';
export { grantDigest, grantText, loadGrant } from './grant/grant.ts';
export type { Grant, GrantedCall, ReturnedBy } from './grant/granted.ts';
export type { Handles } from './handles.ts';
export { loadMockTools } from './mock/file.ts';
export { perSession } from './mock/persession.ts';
export { type Recording, recordTools } from './mock/record.ts';
export type { PendingOptions } from './pending.ts';
export type { Capability } from './policy/capability.ts';
export { type Explanation, explainPolicy, type PolicyVerdict } from './policy/guard.ts';
export type {
  Condition,
  ConditionParts,
  ConditionRow,
  ConditionScalar,
  ConditionType,
  FlowOptions,
  OrderRule,
  PolicyContext,
  PolicyOptions,
  ProgramLabels,
  SinkRule,
} from './policy/options.ts';
export { loadPolicy, Policy } from './policy/policy.ts';
export type { JudgedTool, PolicyRule, RuleFinding, RuleFindings } from './policy/rules.ts';
export { type SessionAccess, SessionStorage, type SessionStorageOptions } from './sessionstorage.ts';
