/** What other parts may use of the runtime. */
export { type AnswerOptions, answerRequest } from './answer.ts';
export type { CheckOptions } from './catalogue.ts';
export { createRuntime, type RuntimeOptions } from './create.ts';
export type { ExecuteOptions, Fork } from './fork.ts';
export { type ForkOptions, type Interpreter, LibraryError } from './interpreter.ts';
export type { Again, PerformRequest } from './perform.ts';
export type { InterpreterOptions, RunOptions, Runtime, RuntimeSettings } from './runtime.ts';
