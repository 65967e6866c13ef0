/**
 * Single turns, for applications with a loop of their own. Entry point `neuroscript-runtime/turn`.
 */

export {
  canonicalPlan,
  createMagicTool,
  type DecidedTurn,
  type EarlierRun,
  type GuardView,
  type HostSections,
  LifecycleError,
  type LoopState,
  MAGIC_TOOL,
  MINT_LEDGER,
  planHash,
  readReply,
  readTurn,
  runSuspendableTurn,
  runTurn,
  shapeProblem,
  type TurnExecution,
  type TurnFork,
  type TurnForkInit,
  type TurnHost,
  type TurnInput,
  type TurnOutcome,
  type TurnRequest,
  type TurnStart,
  withNonce,
} from '../loop/index.ts';
