/** What users of the package may import of the host loop. */

export { type StoreDetail, StoreError } from '../sqlite/error.ts';
export * from './agents/index.ts';
export type { TakeApart, TurnApart } from './apart.ts';
export * from './ask/index.ts';
export type { Ceilings } from './ceilings.ts';
export { type Clock, fixedClock, systemClock } from './clock.ts';
export { LoopController } from './controller.ts';
export type { LoopEvent, LoopEventBody, LoopListener } from './events.ts';
export { Host, type HostOptions, type HostState, type Profile } from './host/host.ts';
export { turnProcess } from './host/turnprocess.ts';
export { type Ids, randomIds, seededIds } from './ids.ts';
export { type ChainOptions, type ChainReport, ChainWalk, verifyChain } from './log/chain.ts';
export { LogError } from './log/chainedfile.ts';
export { FileLog, type FileLogOptions } from './log/filelog.ts';
export { type DecisionLog, endEntry, type LogEntry, type LoggedRefusal, logEntry, MemoryLog, type StoredLog } from './log/log.ts';
export { createMagicTool, MAGIC_TOOL, MINT_LEDGER } from './magic.ts';
export { type Counts, Metrics, type MetricsSnapshot } from './metrics.ts';
export { type OpenOptions, openSession } from './open.ts';
export type { Approve, LoopControllerOptions, LoopOptions, RepairOptions, ResumeOptions, StepOptions } from './options.ts';
export type { LoopProgress } from './progress.ts';
export { QUERY_KEYS, type QueryKey, type QueryTerm, type SessionQuery, sessionQuery } from './query/parse.ts';
export { type SearchOptions, type SessionCursor, type SessionsFound, searchSessions } from './query/search.ts';
export { type Decision, HALT_REASONS, type HaltReason } from './record/decision.ts';
export type {
  AgentUse,
  AttemptEnd,
  CandidateRecord,
  CorrectedLines,
  FailedAttempt,
  HostFacts,
  Judged,
  LeftOver,
  Problem,
  PublicKeyRecord,
  RecordedInput,
  Scene,
  Seal,
  TurnInputs,
  TurnRecord,
  TurnResult,
  Unreadable,
  UnsealedRecord,
} from './record/record.ts';
export { toPublicTurn } from './record/record.ts';
export { RECORD } from './record/schema.ts';
export { type SealFault, sealFaults } from './record/seal.ts';
export {
  type OnExpired,
  type SignedPlan,
  SuspendedError,
  type SuspendedTurn,
  type Suspension,
  type Waiting,
} from './record/suspension.ts';
export { withUsualCosts } from './record/usual.ts';
export type { AttemptReplay } from './replay/attempts.ts';
export type { Divergence } from './replay/compare.ts';
export type { ExecutionOptions } from './replay/execute.ts';
export {
  ExportError,
  type ExportedSession,
  exportFile,
  exportSession,
  type ReadSession,
  readExport,
  type SessionsFile,
} from './replay/export.ts';
export { heatOfTurn, type MeasuredReplay, measureTurn, stepOfTurn } from './replay/measure.ts';
export { type ChangedVerdict, changedVerdicts, type SuggestedPolicy, suggestPolicy } from './replay/policies.ts';
export { Redaction, type RedactionRules } from './replay/redact.ts';
export {
  type RecordedSession,
  readSession,
  replaySession,
  type SessionReplay,
  type SessionReplayOptions,
} from './replay/session.ts';
export { type Changes, type TriedSession, type TriedTurn, tryOut } from './replay/trial.ts';
export { type ReplayOptions, replayTurn, type TurnReplay } from './replay/turn.ts';
export { type RecordedVerdict, recordedVerdicts } from './replay/verdicts.ts';
export { type LoopResult, type LoopSummary, toPublicLoop } from './result.ts';
export { allSessions } from './sessions/all.ts';
export { SessionCoordinator } from './sessions/coordinator.ts';
export type { DamagedSession, ForcedEnd } from './sessions/damaged.ts';
export { eraseSession } from './sessions/erase.ts';
export { SessionExistsError, SessionLeasedError, SessionStateError } from './sessions/errors.ts';
export type { CensusRow, Death, HostRegistry, KnownHost, LivingHost } from './sessions/fleet.ts';
export type { SessionCoordinatorInit } from './sessions/init.ts';
export type { OnInterrupted } from './sessions/interrupted.ts';
export { readRecord } from './sessions/rows.ts';
export type { Admission, Runnable, SessionSetup } from './sessions/setup.ts';
export { PLAIN_SETUP, READER } from './sessions/setup.ts';
export { MemoryStore, SqliteStore, type SqliteStoreOptions } from './sessions/sqlite.ts';
export { type StoreStatistics, storeStatistics } from './sessions/statistics.ts';
export type {
  ClaimedSession,
  ErasableStore,
  Held,
  Lease,
  ListQuery,
  NextTurn,
  OnDamaged,
  Pruning,
  RecentQuery,
  Renewal,
  SessionCondition,
  SessionParent,
  SessionState,
  SessionStatus,
  SessionStore,
  SessionSummary,
  StartedTurn,
  StoredStep,
  TurnCommit,
  TurnsQuery,
  WaitingTurn,
} from './sessions/store.ts';
export type { Spent } from './spent.ts';
export type { StreamEvent } from './stream.ts';
export { type CallAnswer, CallError, type CallErrorCode, type CompleteOptions } from './suspend/complete.ts';
export { humanApproval, planHash, type TurnApproval } from './turn/approval.ts';
export type { DecidedTurn, TurnOutcome } from './turn/attempt.ts';
export { requestReply } from './turn/consult.ts';
export { runtimeExecutor, type TurnExecutor, type TurnFork, type TurnForkInit, type V1Executor } from './turn/executor.ts';
export { type HostSections, readReply, readTurn, type TurnInput } from './turn/input.ts';
export { LifecycleError, type LoopState } from './turn/lifecycle.ts';
export type { EarlierRun, TurnHost, TurnRequest, TurnStart } from './turn/request.ts';
export { runSuspendableTurn, runTurn } from './turn/turn.ts';
export type { GuardView, ProgressCheck } from './turn/verdict.ts';
export * from './v1/index.ts';
