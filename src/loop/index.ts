/** The host loop: turns, sessions, agents, decisions. Entry point `neuroscript-runtime/loop`. */
export { type Agent, AgentError, type AgentReason, type AgentRequest, scriptAgent } from './agents.ts';
export { LoopController, type LoopControllerOptions, type LoopOptions, type StepOptions } from './controller.ts';
export { type Decision, HALT_REASONS, type HaltReason, isHaltReason } from './decision.ts';
export type { LoopEvent, LoopEventBody, LoopListener } from './events.ts';
export { runtimeExecutor, type TurnExecution, type TurnExecutor, type TurnFork, type TurnForkInit } from './executor.ts';
export { explainEnd, explainSession, explainTurn } from './explain.ts';
export type { GuardView, ProgressCheck } from './guard.ts';
export { type HostSections, readReply, readTurn, type TurnInput } from './input.ts';
export { LifecycleError, type LoopState } from './lifecycle.ts';
export { type DecisionLog, FileLog, type LogEntry, logEntry, MemoryLog } from './log.ts';
export { type Counts, Metrics, type MetricsSnapshot } from './metrics.ts';
export { type Clock, fixedClock, type Ids, randomIds, seededIds, systemClock, withNonce } from './ports.ts';
export { type CandidateRecord, type TurnInputs, type TurnRecord, type TurnResult, toPublicTurn } from './record.ts';
export { type LoopResult, type LoopSummary, toPublicLoop, visibleOutput } from './result.ts';
export {
  MemoryStore,
  SessionExistsError,
  type SessionState,
  SessionStateError,
  type SessionStatus,
  type SessionStore,
} from './store.ts';
export { type Palette, plainPalette } from './text.ts';
export * from './v1/index.ts';
export { runTurn, type TurnHost, type TurnOutcome, type TurnRequest } from './turn.ts';
