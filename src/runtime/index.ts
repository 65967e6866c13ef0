/** The runtime, as other parts may use it. */
export { PAYER } from './account.ts';
export { type AnswerOptions, answerRequest, runLine, runRequestOf } from './answer.ts';
export type { AskBudget, AskHandler, AskRequest } from './ask.ts';
export { answerWords } from './askanswer.ts';
export type { TextBuffers } from './buffers.ts';
export { type CheckOptions, checkEnvironment } from './check.ts';
export type { SandboxPort } from './context.ts';
export { continued, continuedAfter, type WaitingRun } from './continued.ts';
export { createRuntime, openRuntime, type RuntimeOptions } from './create.ts';
export { LibraryError, type SymbolTable } from './definitions.ts';
export type { ForeseeResult } from './foresee.ts';
export type { Fork, ForkOptions } from './fork.ts';
export type { Interpreter } from './interpreter.ts';
export { type RequestLine, type RequestOutcome, requestForm, requestFrom, requestFromJson } from './line.ts';
export type { PlanRequest } from './plan.ts';
export type { EventOptions, ExecuteOptions, RecordedRun, RunRequest, RunSettings, TurnTime } from './request.ts';
export { type CloseOptions, type InterpreterOptions, type RunOptions, Runtime, type RuntimeStats } from './runtime.ts';
export { checkSettings, type RuntimeSettings } from './settings.ts';
export { type SignedUnit, signUnit, UnitError } from './signedunits.ts';
export {
  limitsLeft,
  type TenantInit,
  type TenantLimits,
  type TenantReport,
  type TenantsOptions,
  type TenantUse,
} from './tenants.ts';
