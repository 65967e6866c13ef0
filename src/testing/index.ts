/**
 * A test kit for tool authors: call tools without a program, run scripts against tools, and check both. It works with every
 * test runner; expectations throw `AssertionError` of `node:assert`.
 */
export { seededIds } from '../loop/index.ts';
export { FakeClock } from './clock.ts';
export { journalText } from './journal.ts';
export { type ExpectedCall, ScriptRun } from './run.ts';
export { runScript, ScriptBench, type ScriptOptions } from './script.ts';
export { ALLOW_ALL, callTool, ToolBench, type ToolBenchOptions } from './tools.ts';
