/**
 * Programs in a page or on a host without native code. Entry point `neuroscript-runtime/browser`. `neuroscript-runtime/grammar` checks and
 * formats programs there. The interpreter is that of the sandbox and gives the same output and the same fuel. Nothing but the interpreter
 * separates a program from the page: see {@link runInPage}, and for the whole runtime on Node without native code
 * {@link createThreadRuntime}.
 */

export { type PageResult, type PageRunOptions, runInPage } from './engine.ts';
export { type PageCall, type PageTool, PageToolError } from './host.ts';
export { createThreadRuntime, type ThreadRuntimeOptions } from './threads.ts';
