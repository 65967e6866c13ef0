export type { CallIo, FinalReply } from '../wire/call.ts';
export type { RunHandlers, SandboxResult } from './handlers.ts';
export type { ParseOutcome } from './inquiry.ts';
export { packageFiles, type WorkerFiles } from './launch.ts';
export { LAUNCHERS, type Launcher, type LauncherChoice } from './launcher.ts';
export {
  checkLimits,
  defaultLimits,
  LIMITS,
  type Limit,
  type LimitOptions,
  type LimitRow,
  resolveLimits,
  tighten,
  type Unit,
} from './limits.ts';
export type { Isolation } from './pool.ts';
export {
  POOL_LIMITS,
  type PoolKey,
  type PoolLimit,
  type PoolLimitOptions,
  type RuntimeLimitOptions,
  splitLimits,
} from './poollimits.ts';
export { examineRings, type Lack, type Ring } from './rings.ts';
export { Sandbox, type SandboxOptions } from './sandbox.ts';
