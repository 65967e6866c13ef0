import type { Agent, CallAnswer, Ceilings, Durable, OnExpired, SessionSummary, TurnRecord, Waiting } from '../../loop/index.ts';
import type { LimitOptions } from '../../sandbox/index.ts';
import type { PolicyOptions, ToolDefinition } from '../../tools/index.ts';
import type { Random } from './random.ts';

/** One session of a world. */
export interface SimulatedSession {
  /** As for `LoopController.open`. */
  readonly userdata: unknown;
  /** What the store keeps of its turns; `turn` when absent. */
  readonly durable?: Durable;
  /** The ceilings of the session. */
  readonly ceilings?: Ceilings;
  /** The tenant to which the session belongs; none when absent. */
  readonly tenant?: string;
}

/** A call of a tool that waits for its answer. */
export interface SimulatedCall extends Waiting {
  /** Id of the session. */
  readonly sid: string;
}

/** The state of a world for an invariant of a scenario. */
export interface WorldView {
  /** The sessions of the world, in the order of their ids. */
  readonly sessions: readonly SessionSummary[];
  /** The decided turns of a session. */
  turns(sid: string): readonly TurnRecord[];
  /** Whether the schedule is at its end: there are no more faults, and sessions wait only for named things. */
  readonly isOver: boolean;
}

/** An invariant of a scenario: why it does not hold; null while it holds. */
export type Invariant = (view: WorldView) => string | null;

/** The world of a scenario. */
export interface World {
  /** Numbers that depend on the seed. */
  readonly random: Random;
  /** Milliseconds since the beginning of the world. */
  now(): number;
}

/** The parts of a simulation. Every schedule makes its own, so that schedules do not affect each other. */
export interface Scenario {
  /** Writes the programs of all sessions. The `sid` of a request is `s1`, `s2` and so on. */
  readonly agent: Agent;
  /** Agents that programs `ask`, by the names of their models. Their sessions are nested, and have ids of their own. */
  readonly models?: Readonly<Record<string, Agent>>;
  /** The tools of all hosts. Their effects stand for the outside world, which faults of a process do not undo. */
  readonly tools?: readonly ToolDefinition[];
  /** The policy of all hosts; every tool is allowed when absent. */
  readonly policy?: PolicyOptions;
  /** The sessions that the hosts drive. */
  readonly sessions: readonly SimulatedSession[];
  /** A person's answer to a call that waits, or null to keep the session waiting. Every call gets `true` when absent. */
  readonly answer?: (call: SimulatedCall, world: World) => CallAnswer | null;
  /** The limits of each turn, below those of a runtime. */
  readonly limits?: LimitOptions;
  /** The hosts' reaction to a call that was not completed in time; `halt` when absent. */
  readonly onExpired?: OnExpired;
  /** Invariants by name, besides those of every world. They are checked after every decision and at the end. */
  readonly invariants?: Readonly<Record<string, Invariant>>;
}
