/** The runtime, as other parts may use it. */
export { PAYER } from './account.ts';
export { runLine, runRequestOf } from './answer.ts';
export type { AskBudget, AskHandler, AskRequest } from './ask.ts';
export { answerWords } from './askanswer.ts';
export { checkEnvironment } from './check.ts';
export type { SandboxPort } from './context.ts';
export { continued, continuedAfter, type WaitingRun } from './continued.ts';
export { openRuntime } from './create.ts';
export { requestForm, requestFrom } from './line.ts';
export type { PlanRequest } from './plan.ts';
export * from './public.ts';
// The class, of which users of the package have the type.
export { Runtime } from './runtime.ts';
export { checkSettings } from './settings.ts';
export { limitsLeft } from './tenants.ts';
