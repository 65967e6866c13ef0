/** The standard tools, a file a group: each is made with the storage or the rule that it stands on. */
export { type Capsule, type CapsuleStore, capsuleTools, MemoryCapsules } from './capsule.ts';
export { type MemoryToolsOptions, memoryTools } from './memory.ts';
export { type PlanStep, pathRule, policyTools, type StepRule } from './policy.ts';
export { actorScope, type ScopeOf, sessionScope } from './scope.ts';
export { type ScratchToolsOptions, scratchTools } from './scratch.ts';
export { MemoryVersionedStore, type StoreCaps, type Versioned, type VersionedStore, type Written } from './storage.ts';
export { systemTools } from './system.ts';
