/** What users of the package may import of the runtime. */
export { type AnswerOptions, answerRequest } from './answer.ts';
export type { TextBuffers } from './buffers.ts';
export type { CheckOptions } from './check.ts';
export { createRuntime, type RuntimeOptions } from './create.ts';
export { LibraryError, type SymbolTable } from './definitions.ts';
export type { ForeseeResult } from './foresee.ts';
export type { Fork, ForkOptions } from './fork.ts';
export type { Interpreter } from './interpreter.ts';
export { type RequestLine, type RequestOutcome, requestFromJson } from './line.ts';
export type { EventOptions, ExecuteOptions, RecordedRun, RunRequest, RunSettings, TurnTime } from './request.ts';
export type { CloseOptions, InterpreterOptions, RunOptions, Runtime, RuntimeStats } from './runtime.ts';
export type { RuntimeSettings } from './settings.ts';
export { type SignedUnit, signUnit, UnitError } from './signedunits.ts';
export type { TenantInit, TenantLimits, TenantReport, TenantsOptions, TenantUse } from './tenants.ts';
