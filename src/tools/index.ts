/** The tools, as other parts may use them. */

export * from './catalogue/index.ts';
export type { ArgType, ArgTypes } from './define/argtypes.ts';
export { checkUsd, priceRange } from './define/cost.ts';
export {
  defineStandard,
  defineTool,
  type ToolInit,
  withWork,
} from './define/define.ts';
export type {
  CallIdentity,
  Effects,
  LoadedLibrary,
  RootDefinitions,
  ToolDefinition,
  ToolRuntime,
  ToolView,
} from './define/definition.ts';
export { type FromJsonSchema, fromJsonSchema, isJsonSchema, type JsonSchema, type JsonType } from './define/jsonschema.ts';
export type { ArgSpec, ArgSpecs, ArgsOf, ObjectSchema, Parameter, ParameterKind } from './define/parameters.ts';
export { definePure } from './define/pure.ts';
export type { ResultKind, ResultOf, ReturnSpec } from './define/returns.ts';
export { schemaWords } from './define/schemawords.ts';
export { issuesText, type SchemaIssue, type SchemaResult, type StandardSchema } from './define/standardschema.ts';
export { catalogueDigest, digestIn } from './digest.ts';
export { APPROVAL, Approval, type Gate, type GateOutcome, NOT_APPROVED } from './dispatch/approval.ts';
export { checkArguments } from './dispatch/arguments.ts';
export type { AskCall, AskPort, AskReply, CheckedReply } from './dispatch/asks.ts';
export { type AuditEntry, type AuditRecord, auditEntry } from './dispatch/audit.ts';
export { callDepth } from './dispatch/callscope.ts';
export { grantable, PLAN_REASON } from './dispatch/callwords.ts';
export type { DispatchContext } from './dispatch/context.ts';
export { CostMeter, overdraft, type Payer } from './dispatch/costs.ts';
export { Dispatcher } from './dispatch/dispatcher.ts';
export { EarlierCalls, type OnChanged, untakenCalls } from './dispatch/earlier.ts';
export { CallHistory, calledIn, type PastCalls } from './dispatch/history.ts';
export type { CallKeeper } from './dispatch/keeper.ts';
export { valueFrom } from './dispatch/large.ts';
export { callDigest, entryDigest } from './dispatch/numbers.ts';
export { promptUser } from './dispatch/prompt.ts';
export {
  type CallDivergence,
  type CallScript,
  type Completion,
  callOf,
  divergenceOf,
  type Known,
  type MadeCall,
  RecordedCalls,
} from './dispatch/recorded.ts';
export { resultJson } from './dispatch/result.ts';
export { Halt, ToolError, type ToolErrorOptions } from './errors.ts';
export { Approvals } from './grant/approvals.ts';
export { Bound, grantedText } from './grant/bound.ts';
export { conditionFor } from './grant/conditions.ts';
export { apartFrom, type CallChange, callsOutside, changesSince, widerThan, withNamed } from './grant/cover.ts';
export { grantForm } from './grant/form.ts';
export { checkedGrant, grantDigest, grantText, loadGrant } from './grant/grant.ts';
export { type Grant, type GrantedCall, mayChange, type ReturnedBy } from './grant/granted.ts';
export { Handles } from './handles.ts';
export { loadMockTools } from './mock/file.ts';
export { keyText } from './mock/match.ts';
export { perSession } from './mock/persession.ts';
export { RECORDING_MARK, type Recording, recordTools } from './mock/record.ts';
export { canonicalName, MAGIC_TOOL, nearestTool, Suggestions, toolAdvice, toolParts } from './names.ts';
export { Pending, type PendingOptions, pending } from './pending.ts';
export { type Capability, capabilityText, matchesPattern, meets } from './policy/capability.ts';
export { literalPattern } from './policy/conditions.ts';
export { type Breach, type CalledTool, type CallQuestion, type CallsBefore, decideCall } from './policy/decide.ts';
export { type FlowRules, type FlowSource, META, META_LABELS } from './policy/flow.ts';
export { policyForm } from './policy/form.ts';
export { type Denial, type Explanation, explainPolicy, PolicyGuard, type PolicyVerdict } from './policy/guard.ts';
export { misnamed } from './policy/misnamed.ts';
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
export { ANYTHING, flowInput, flowOf } from './policy/origin.ts';
export { Policy, policyOptions } from './policy/policy.ts';
export { loadPolicy, POLICY_KEYS } from './policy/policyfile.ts';
export { type JudgedTool, type PolicyRule, type RuleFinding, type RuleFindings, ruleOf } from './policy/rules.ts';
export { suggestRow } from './policy/suggest.ts';
export { type ToolOrigin, toolOrigin } from './policy/toolorigin.ts';
export { ForkTools, ToolRegistry } from './registry.ts';
export { RunResources, SessionResources, ToolResources } from './sessionresources.ts';
export { type SessionAccess, SessionStorage, type SessionStorageOptions } from './sessionstorage.ts';
export { YamlFile } from './yaml.ts';
