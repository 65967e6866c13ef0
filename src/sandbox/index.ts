export type { CallIo, FinalReply } from '../wire/call.ts';
export { OpenCall } from './call.ts';
export type { RunHandlers } from './execution.ts';
export { ISOLATIONS, type Isolation } from './isolates.ts';
export type { TenantShare } from './jobqueue.ts';
export { killOnExit, signalChild } from './kill.ts';
export { launch, packageFiles, type WorkerFiles } from './launch.ts';
export { LAUNCHERS, type Launcher, type LauncherChoice, withLauncher } from './launcher.ts';
export {
  checkAmount,
  checkLimitOptions,
  checkLimits,
  type LimitOptions,
  type PoolLimitOptions,
  type RuntimeLimitOptions,
  resolveLimits,
  splitLimits,
  tighten,
} from './limits.ts';
export type { PoolLoad } from './load.ts';
export type { ParseOutcome } from './query.ts';
export type { SandboxResult } from './result.ts';
export { examineRings, type Lack, lacksOf, type Ring } from './rings.ts';
export { checkIsolation, Sandbox, type SandboxOptions } from './sandbox.ts';
export { threadSandbox } from './threads.ts';
export { answerTogether } from './together.ts';
export { readWorkerFrame } from './workerframes.ts';
