/** The host loop: turns, sessions, agents and decisions. Entry point `neuroscript-runtime/loop`. */

export { type StoreDetail, StoreError } from '../sqlite/error.ts';
export { migrateFile } from '../sqlite/migrate.ts';
export * from './agents/index.ts';
export { splitTranscript } from './agents/script.ts';
export type { TakeApart, TurnApart } from './apart.ts';
export * from './ask/index.ts';
export type { Ceilings } from './ceilings.ts';
export { type Clock, fixedClock, systemClock } from './clock.ts';
export { LoopController } from './controller.ts';
export type { LoopEvent, LoopEventBody, LoopListener } from './events.ts';
export { Histogram } from './histogram.ts';
export { Host, type HostOptions, type HostState, type Profile } from './host/host.ts';
export { turnProcess } from './host/turnprocess.ts';
export { type Ids, randomIds, seededIds, withNonce } from './ids.ts';
export {
  type ChainOptions,
  type ChainReport,
  ChainWalk,
  type ChainWitness,
  chained,
  GENESIS,
  verifyChain,
  verifyStoredLog,
} from './log/chain.ts';
export { ChainedFile, LogError } from './log/chainedfile.ts';
export { type LogDisk, rotatedFiles } from './log/disk.ts';
export { FileLog, type FileLogOptions } from './log/filelog.ts';
export { LINE_BYTES, logLines } from './log/lines.ts';
export { type DecisionLog, endEntry, type LogEntry, logEntry, MemoryLog, type StoredLog } from './log/log.ts';
export { hashOfLine } from './log/sqllog.ts';
export { createMagicTool, MAGIC_TOOL, MINT_LEDGER } from './magic.ts';
export { type Counts, Metrics, type MetricsSnapshot } from './metrics.ts';
export { type OpenOptions, openSession } from './open.ts';
export type { Approve, LoopControllerOptions, LoopOptions, RepairOptions, ResumeOptions, StepOptions } from './options.ts';
export type { LoopProgress } from './progress.ts';
export { QUERY_KEYS, type QueryKey, type QueryTerm, type SessionQuery, sessionQuery } from './query/parse.ts';
export { type SearchOptions, type SessionCursor, type SessionsFound, searchSessions } from './query/search.ts';
export { countedAttempts, firstWithProgram } from './record/attempt.ts';
export { type Decision, HALT_REASONS, type HaltReason, isHaltReason } from './record/decision.ts';
export { type Durable, readKept } from './record/kept.ts';
export type * from './record/record.ts';
export type { AttemptEnd, CorrectedLines, FailedAttempt, LeftOver, Problem } from './record/record.ts';
export { toPublicTurn } from './record/record.ts';
export { PUBLIC_TURN, RECORD } from './record/schema.ts';
export { type SealFault, sealFaults, sealRecord } from './record/seal.ts';
export { joinRecord, type RecordPart, splitRecord } from './record/split.ts';
export {
  type OnExpired,
  PLAN,
  type SignedPlan,
  SuspendedError,
  type SuspendedTurn,
  type Suspension,
  type Waiting,
} from './record/suspension.ts';
export { withUsualCosts } from './record/usual.ts';
export { recordProblem } from './record/viewed.ts';
export type { AttemptReplay } from './replay/attempts.ts';
export { malformation } from './replay/check.ts';
export type { Divergence } from './replay/compare.ts';
export type { ExecutionOptions } from './replay/execute.ts';
export * from './replay/export.ts';
export * from './replay/measure.ts';
export * from './replay/policies.ts';
export { Redaction, type RedactionRules } from './replay/redact.ts';
export {
  chainFaults,
  type RecordedSession,
  readSession,
  redactedParts,
  replaySession,
  type SessionReplay,
  type SessionReplayOptions,
} from './replay/session.ts';
export { type Changes, type TriedSession, type TriedTurn, tryOut } from './replay/trial.ts';
export { type ReplayOptions, replayTurn, type TurnReplay } from './replay/turn.ts';
export { type RecordedVerdict, recordedVerdicts, type TurnVerdicts, turnVerdicts } from './replay/verdicts.ts';
export { type LoopResult, type LoopSummary, toPublicLoop, visibleOutput } from './result.ts';
export { allSessions } from './sessions/all.ts';
export { Ancestry, callOf, type SessionAbove } from './sessions/ancestry.ts';
export { type Approved, lastApproved } from './sessions/approved.ts';
export { tightestCeilings } from './sessions/configuration.ts';
export { SessionCoordinator } from './sessions/coordinator.ts';
export type { SessionsDialect, SessionsEngine } from './sessions/engine.ts';
export { eraseSession } from './sessions/erase.ts';
export { SessionExistsError, SessionLeasedError, SessionStateError } from './sessions/errors.ts';
export type * from './sessions/fleet.ts';
export type { SessionCoordinatorInit } from './sessions/init.ts';
export { interruptedRecord, type OnInterrupted } from './sessions/interrupted.ts';
export { recentSql } from './sessions/recent.ts';
export { readRecord } from './sessions/rows.ts';
export type * from './sessions/setup.ts';
export { PLAIN_SETUP, READER } from './sessions/setup.ts';
export { MemoryStore, SqliteStore, type SqliteStoreOptions } from './sessions/sqlite.ts';
export { SqlSessions } from './sessions/sqlsessions.ts';
export { statementsOf } from './sessions/statements.ts';
export { type StoreStatistics, storeStatistics } from './sessions/statistics.ts';
export type * from './sessions/store.ts';
export { newSession } from './sessions/store.ts';
export { READY, SESSIONS, type SessionWords, sessionTables, shownStatus } from './sessions/tables.ts';
export { usualCosts } from './sessions/usual.ts';
export { Wakes } from './sessions/wakes.ts';
export { SharedLock } from './sharedlock.ts';
export { type Spent, spentAfter } from './spent.ts';
export type { StreamEvent } from './stream.ts';
export { type CallAnswer, CallError, type CallErrorCode, type CompleteOptions } from './suspend/complete.ts';
export { canonicalPlan, humanApproval, planHash, type TurnApproval } from './turn/approval.ts';
export { requestReply } from './turn/consult.ts';
export { runtimeExecutor, type TurnExecutor, type TurnFork, type TurnForkInit, type V1Executor } from './turn/executor.ts';
export { type HostSections, readReply, readTurn, type TurnInput } from './turn/input.ts';
export { LifecycleError, type LoopState } from './turn/lifecycle.ts';
export { problemsIn, rangeOf } from './turn/problems.ts';
export type * from './turn/request.ts';
export type * from './turn/turn.ts';
export { runSuspendableTurn, runTurn } from './turn/turn.ts';
export type { GuardView, ProgressCheck } from './turn/verdict.ts';
export * from './v1/index.ts';
