/** What users of the package may import of the standard tools. */

export { type CapsuleToolsOptions, capsuleTools } from './capsule.ts';
export { type CryptoToolsOptions, cryptoTools } from './crypto.ts';
export { type FsQuota, type FsToolsOptions, fsTools } from './fs/index.ts';
export { type MemoryToolsOptions, memoryTools } from './memory.ts';
export { type PlanStep, pathRule, policyTools, type StepRule } from './policy.ts';
export { type PureGroup, pureTools } from './pure.ts';
export { rootTools } from './root.ts';
export { actorScope, globalScope, type ScopeOf, sessionScope } from './scope.ts';
export { type ScratchToolsOptions, scratchTools } from './scratch.ts';
export type { StorageCaps } from './storage/caps.ts';
export { MemoryStorage, SqliteStorage, type SqliteStorageOptions } from './storage/sqlite.ts';
export type { Versioned, VersionedStorage, Write, Written } from './storage/versioned.ts';
export { storeTools } from './stores.ts';
export { systemTools } from './system.ts';
export { type TimeToolsOptions, timeTools } from './time.ts';
export { toolsTools } from './tools.ts';
