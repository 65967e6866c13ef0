/** What other parts may use of the tools. */
export type { ArgType, ArgTypes } from './argtypes.ts';
export { Belongings, SessionBelongings } from './belongings.ts';
export type { Shared, VariablePort } from './call.ts';
export type { Capability } from './capability.ts';
export {
  type ArgSpec,
  type ArgSpecs,
  type ArgsOf,
  defineTool,
  type Effects,
  type Parameter,
  type ToolDefinition,
  ToolError,
  type ToolInit,
  type ToolRuntime,
} from './define.ts';
export { type AuditRecord, Dispatcher, type DispatchInit, insideCall } from './dispatch.ts';
export { Handles } from './handles.ts';
export { loadMockTools } from './mock.ts';
export { canonicalName } from './names.ts';
export type { FinalReply } from './outcome.ts';
export { Policy, type PolicyContext, PolicyGuard, type PolicyOptions } from './policy.ts';
export { ToolRegistry, ToolView } from './registry.ts';
export type { StandardSchema } from './schema.ts';
export { type SessionAccess, SessionStorage, type SessionStorageOptions } from './session.ts';
