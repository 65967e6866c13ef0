import type { Agent, CallAnswer, Ceilings, Durable, OnExpired, SessionSummary, TurnRecord, Waiting } from '../../loop/index.ts';
import type { PolicyOptions, ToolDefinition } from '../../tools/index.ts';
import type { Random } from './random.ts';

/** One session of a world. */
export interface SimulatedSession {
  /** As for `LoopController.open`. */
  readonly userdata: unknown;
  /** What the store keeps of its turns; `turn` when absent. */
  readonly durable?: Durable;
  /** What the session may use. */
  readonly ceilings?: Ceilings;
  /** The tenant to which the session belongs; none when absent. */
  readonly tenant?: string;
}

/** A call of a tool that waits for its answer. */
export interface WaitingCall extends Waiting {
  /** Id of the session. */
  readonly sid: string;
}

/** What an invariant of a scenario sees. */
export interface WorldView {
  /** The sessions of the world, in the order of their ids. */
  readonly sessions: readonly SessionSummary[];
  /** The decided turns of a session. */
  turns(sid: string): readonly TurnRecord[];
  /** Whether everything has ended that would end: nothing goes wrong any more, and nobody waits for anything but named things. */
  readonly isOver: boolean;
}

/** An invariant of a scenario: why it does not hold; null while it holds. */
export type Invariant = (view: WorldView) => string | null;

/** What a scenario finds in its world. */
export interface World {
  /** Numbers that depend on the seed. */
  readonly random: Random;
  /** Milliseconds since the beginning of the world. */
  now(): number;
}

/** What is simulated. Every schedule makes its own, so that nothing of one reaches another. */
export interface Scenario {
  /** Writes the programs of all sessions. It knows the session by `sid`: `s1`, `s2` and so on. */
  readonly agent: Agent;
  /** Agents that programs `ask`, by the names of their models. Their sessions are nested, and have ids of their own. */
  readonly models?: Readonly<Record<string, Agent>>;
  /** The tools of all hosts. What they change is the world outside, which no fault of a process touches. */
  readonly tools?: readonly ToolDefinition[];
  /** The policy of all hosts; every tool is allowed when absent. */
  readonly policy?: PolicyOptions;
  /** What the hosts drive. */
  readonly sessions: readonly SimulatedSession[];
  /** What a person answers to a call that waits; null for nothing, so that the session goes on waiting. Every call gets `true` when absent. */
  readonly answer?: (call: WaitingCall, world: World) => CallAnswer | null;
  /** What hosts do with a call that was not completed in time; `halt` when absent. */
  readonly onExpired?: OnExpired;
  /** Invariants by name, besides those of every world. They are checked after every decision and at the end. */
  readonly invariants?: Readonly<Record<string, Invariant>>;
}
