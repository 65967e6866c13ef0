/** What other parts may use of the runtime. */
export { type AnswerOptions, answerRequest } from './answer.ts';
export type { AskBudget, AskHandler, AskRequest } from './ask.ts';
export { SELF_BUFFER, type TextBuffers } from './buffers.ts';
export type { CheckOptions } from './catalogue.ts';
export { createRuntime, type RuntimeOptions } from './create.ts';
export { LibraryError, type SymbolTable } from './definitions.ts';
export type { EventOptions, ExecuteOptions, Fork, RunningOptions } from './fork.ts';
export type { ForkOptions, Interpreter } from './interpreter.ts';
export type { Again, PerformRequest } from './perform.ts';
export type { InterpreterOptions, RunOptions, Runtime, RuntimeSettings } from './runtime.ts';
export { type SignedUnit, signUnit, UnitError } from './signedunits.ts';
