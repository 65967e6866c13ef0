/** The host loop: turns, sessions, agents, decisions. Entry point `neuroscript-runtime/loop`. */

export { type StoreDetail, StoreError } from '../sqlite/error.ts';
export type { AgentUse } from './agents/consult.ts';
export * from './agents/index.ts';
export * from './ask/index.ts';
export type { Ceilings } from './ceilings.ts';
export { LoopController, type LoopProgress } from './controller.ts';
export type { LoopEvent, LoopEventBody, LoopListener } from './events.ts';
export type { GuardView, ProgressCheck } from './guard.ts';
export { type ChainOptions, type ChainReport, GENESIS, verifyChain } from './log/chain.ts';
export { FileLog, type FileLogOptions, LogError, rotatedFiles } from './log/filelog.ts';
export { type DecisionLog, endEntry, type LogEntry, logEntry, MemoryLog } from './log/log.ts';
export { createMagicTool, MAGIC_TOOL, MINT_LEDGER } from './magic.ts';
export { type Counts, Metrics, type MetricsSnapshot } from './metrics.ts';
export type { LoopControllerOptions, LoopOptions, ResumeOptions, StepOptions } from './options.ts';
export { canonicalPlan, planHash } from './plan.ts';
export { type Clock, fixedClock, type Ids, randomIds, seededIds, systemClock, withNonce } from './ports.ts';
export type { Divergence } from './replay/compare.ts';
export {
  EXPORT_FORMAT,
  ExportError,
  type ExportedSession,
  exportFile,
  exportRecords,
  exportSession,
  type ReadSession,
  readExport,
  type SessionsFile,
} from './replay/export.ts';
export type { HostFacts, Judged, PublicKeyRecord, RecordedRun, Scene } from './replay/facts.ts';
export { REDACTED, Redaction, type RedactionRules } from './replay/redact.ts';
export { type Seal, type SealFault, sealFaults, sealRecord } from './replay/seal.ts';
export { type RecordedSession, replaySession, type SessionReplay, type SessionReplayOptions } from './replay/session.ts';
export { type ReplayOptions, replayTurn, type TurnReplay } from './replay/turn.ts';
export { type Changes, type TriedSession, type TriedTurn, tryOut } from './replay/whatif.ts';
export { type LoopResult, type LoopSummary, toPublicLoop, visibleOutput } from './result.ts';
export { Keeper, type KeeperInit } from './sessions/keeper.ts';
export type { Gone } from './sessions/lease.ts';
export { MemoryStore } from './sessions/memory.ts';
export { SqliteStore, type SqliteStoreOptions } from './sessions/sqlite.ts';
export {
  type ClaimedSession,
  type Lease,
  type Pruning,
  type Renewal,
  SessionExistsError,
  SessionLeasedError,
  type SessionParent,
  type SessionState,
  SessionStateError,
  type SessionStatus,
  type SessionStore,
  type SessionSummary,
  type Spent,
  type StartedTurn,
  type TurnCommit,
} from './sessions/store.ts';
export { Spans, type TurnSpan } from './spans.ts';
export type { StreamEvent } from './stream.ts';
export type { CallAnswer, CompleteOptions } from './suspend/complete.ts';
export { CallError, type CallErrorCode, SuspendedError } from './suspend/errors.ts';
export type { OnExpired, Suspension, Waiting } from './suspend/suspension.ts';
export { humanApproval, type TurnApproval } from './turn/approval.ts';
export { type Decision, HALT_REASONS, type HaltReason, isHaltReason } from './turn/decision.ts';
export { runtimeExecutor, type TurnExecution, type TurnExecutor, type TurnFork, type TurnForkInit } from './turn/executor.ts';
export { type HostSections, readReply, readTurn, type TurnInput, type Unreadable } from './turn/input.ts';
export type { OnInterrupted } from './turn/interrupted.ts';
export { LifecycleError, type LoopState } from './turn/lifecycle.ts';
export {
  type CandidateRecord,
  type TurnInputs,
  type TurnRecord,
  type TurnResult,
  toPublicTurn,
  type UnsealedRecord,
} from './turn/record.ts';
export {
  type EarlierRun,
  runTurn,
  runWaitingTurn,
  type TurnHost,
  type TurnOutcome,
  type TurnRequest,
  type TurnStart,
  type TurnWaits,
} from './turn/turn.ts';
export * from './v1/index.ts';
