/**
 * The host loop: sessions, agents, decisions, stores, logs and replay, and the older profile v1. Entry point `neuroscript-runtime/loop`.
 */

export * from '../loop/public.ts';
export type {
  Flame,
  FlameNode,
  Heat,
  HeatCost,
  HeatFrame,
  LineHeat,
  Probe,
  ProcedureHeat,
  RunProfile,
  ShownVariable,
  Step,
  StepFork,
  StepPlace,
  Trace,
  TurnHeat,
  TurnStep,
} from '../wire/heat.ts';
export type { TokenPrice } from '../wire/money.ts';
