/** The Ask-Loop v1 profile: control in OUTPUT instead of signed tokens. A loop uses either v1 or v3. */
export type { CeilingOptions, TokenCounter } from './ceilings.ts';
export { type Control, type ControlLint, type Marker, parseControl, type Signal, scanMarkers } from './control.ts';
export type { LoopInputEvent } from './dedupe.ts';
export { type InvalidReason, V1_HALT_REASONS, type V1HaltReason } from './diagnostics.ts';
export { AskLoop, type LoopAuditRecord, loopAudit } from './loop.ts';
export type { AskLoopOptions, AskLoopRun, V1LoopEvent, V1LoopEventBody } from './options.ts';
export { v1SystemPrompt } from './prompt.ts';
export {
  toPublicV1Loop,
  toPublicV1Turn,
  type V1Execution,
  type V1LoopResult,
  type V1LoopSummary,
  type V1Stop,
  type V1TurnRecord,
  type V1TurnResult,
} from './record.ts';
export { scriptV1Agent } from './script.ts';
export { type OutputHook, type Screened, type SecretLint, secretHook } from './secrets.ts';
export { executeV1Turn, type V1Section, type V1TurnRequest } from './turn.ts';
