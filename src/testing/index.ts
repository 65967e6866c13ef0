/**
 * A test kit for authors of tools, agents and stores: call tools without a program, run scripts against tools, check both, and prove
 * that a store meets its contract. It works with every test runner; expectations throw `AssertionError` of `node:assert`.
 */
export { FakeClock } from './clock.ts';
export type { ContractCase } from './contracts/check.ts';
export { logContract, type MakeLog } from './contracts/log.ts';
export type { MakeStore, StoreToTest } from './contracts/owned.ts';
export { type OpenStorage, storageContract } from './contracts/storage.ts';
export { storeContract } from './contracts/store.ts';
export { journalText } from './journal.ts';
export { type ExpectedCall, ScriptRun } from './run.ts';
export { runScript, ScriptBench, type ScriptBenchOptions, type ScriptOptions } from './script.ts';
export type { Fault } from './simulation/faults.ts';
export type * from './simulation/scenario.ts';
export {
  replaySchedule,
  type SimulationFailure,
  type SimulationOptions,
  type SimulationReport,
  simulate,
} from './simulation/simulate.ts';
export type { Schedule } from './simulation/world.ts';
export { ALLOW_ALL, callTool, ToolBench, type ToolBenchOptions } from './tools.ts';
