import { type Checks, checker, checkFunction, checkText, listOf, oneOf, wholeNumber } from '../../wire/options.ts';
import { FAULTS, type Fault } from './faults.ts';
import { virtualTime } from './globals.ts';
import { EmptyStore } from './remotestore.ts';
import type { Scenario, World } from './scenario.ts';
import { type Schedule, type ScheduleOutcome, SimulatedWorld } from './world.ts';

/** Options of a simulation. */
export interface SimulationOptions {
  /** Number of schedules; 100 when absent. */
  readonly seeds?: number;
  /** The first seed; 1 when absent. */
  readonly from?: number;
  /** Most hosts of a fleet, from 1; 3 when absent. */
  readonly hosts?: number;
  /** The possible faults; all when absent. */
  readonly faults?: readonly Fault[];
  /** Called after every schedule with the number of schedules so far. */
  readonly onSchedule?: (schedules: number) => unknown;
}

/** The smallest schedule that was found in which an invariant does not hold. */
export interface SimulationFailure {
  /** The invariant, in words. */
  readonly invariant: string;
  /** The violation. */
  readonly message: string;
  /** The schedule for {@link replaySchedule}, which repeats it event by event. */
  readonly schedule: Required<Schedule>;
  /** The trace, one line for each event: milliseconds of the world, the place, and the fault. */
  readonly trace: readonly string[];
}

/** The result of a simulation. */
export interface SimulationReport {
  /** Number of schedules, without those of the search for a smaller failure. */
  readonly schedules: number;
  /** Events of all schedules. */
  readonly events: number;
  /** Decided turns of all schedules. */
  readonly turns: number;
  /** Number of faults of each kind. */
  readonly faults: Readonly<Partial<Record<Fault, number>>>;
  /** Schedules in a second of real time. */
  readonly rate: number;
  /** A digest of all events, in order. Equal seeds and scenarios give equal digests. */
  readonly hash: number;
  /** The first failure; the schedules after it were not run. Null when every invariant held. */
  readonly failure: SimulationFailure | null;
}

const CHECKS: Checks<SimulationOptions> = {
  seeds: wholeNumber(1),
  from: wholeNumber(0),
  hosts: wholeNumber(1),
  faults: listOf(oneOf(...FAULTS)),
  onSchedule: checkFunction,
};
const checkOptions = checker(CHECKS);

const checkSchedule = checker<Schedule>({
  seed: Object.assign(wholeNumber(0), { required: true } as const),
  hosts: wholeNumber(1),
  sessions: listOf(wholeNumber(1)),
  faults: listOf(checkText),
});

/**
 * Runs a scenario in many worlds, one after the other: real hosts, sessions, leases and turns around a store in memory, with a simulated
 * clock. A seed decides the order of events and the faults. The first world in which an invariant does not hold ends the simulation; a
 * smaller one that fails in the same way is in the report. Throws `ConfigError` for unusable options.
 */
export async function simulate(scenario: (world: World) => Scenario, options: SimulationOptions = {}): Promise<SimulationReport> {
  checkFunction('the scenario of a simulation', scenario);
  checkOptions('the options of a simulation', options);
  const { seeds = 100, from = 1, hosts: mostHosts = 3, faults: kinds = FAULTS, onSchedule } = options;
  const store = new EmptyStore();
  const run = (schedule: Schedule, trace = false): Promise<ScheduleOutcome> =>
    new SimulatedWorld(schedule, scenario, { kinds, mostHosts, trace, store }).run();
  using _time = virtualTime();
  const begun = performance.now();
  const counts = new Map<string, number>();
  const sum = { events: 0, turns: 0, hash: 0 };
  let schedules = 0;
  let failure: SimulationFailure | null = null;
  for (; schedules < seeds && failure === null; ) {
    const outcome = await run({ seed: from + schedules });
    schedules += 1;
    sum.events += outcome.events;
    sum.turns += outcome.turns;
    sum.hash = Math.imul(sum.hash ^ outcome.hash, 0x01000193) >>> 0;
    for (const fault of outcome.faults) {
      const kind = fault.slice(fault.lastIndexOf('=') + 1);
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    await onSchedule?.(schedules);
    if (outcome.violation !== null) failure = await smallest(from + schedules - 1, outcome, run);
  }
  const rate = (schedules * 1000) / (performance.now() - begun);
  return { schedules, ...sum, faults: Object.fromEntries(counts), rate, failure };
}

/** Repeats one schedule. Resolves with its failure, or with null when every invariant holds, for instance because the bug is fixed. */
export async function replaySchedule(
  scenario: (world: World) => Scenario,
  schedule: Schedule,
): Promise<SimulationFailure | null> {
  checkFunction('the scenario of a simulation', scenario);
  checkSchedule('a schedule', schedule);
  using _time = virtualTime();
  const options = { kinds: FAULTS, mostHosts: 3, trace: true, store: new EmptyStore() };
  const outcome = await new SimulatedWorld(schedule, scenario, options).run();
  return failureOf(schedule.seed, outcome);
}

async function smallest(
  seed: number,
  outcome: ScheduleOutcome,
  run: (schedule: Schedule, trace?: boolean) => Promise<ScheduleOutcome>,
): Promise<SimulationFailure | null> {
  const { hosts, sessions, faults } = outcome;
  const { schedule } = await shrunk({ schedule: { seed, hosts, sessions, faults }, outcome }, run);
  return failureOf(seed, await run(schedule, true));
}

function failureOf(seed: number, { violation, hosts, sessions, faults, trace }: ScheduleOutcome): SimulationFailure | null {
  return violation === null ? null : { ...violation, schedule: { seed, hosts, sessions, faults }, trace };
}

/** A schedule with an explicit list of its faults, and its outcome. */
interface Failed {
  readonly schedule: Required<Schedule>;
  readonly outcome: ScheduleOutcome;
}

/** Most schedules that a search for a smaller failure runs. */
const MOST_TRIES = 300;

/**
 * Looks for a smaller schedule that breaks the same invariant: with fewer faults, then with fewer hosts and sessions, until nothing more
 * can be left out. `run` must do the same for equal plans.
 */
async function shrunk(first: Failed, run: (schedule: Required<Schedule>) => Promise<ScheduleOutcome>): Promise<Failed> {
  let best = first;
  let tries = 0;
  const better = async (change: Partial<Required<Schedule>>): Promise<boolean> => {
    if (tries >= MOST_TRIES) return false;
    tries += 1;
    const schedule = { ...best.schedule, ...change };
    const outcome = await run(schedule);
    if (outcome.violation?.invariant !== first.outcome.violation?.invariant) return false;
    // Drops faults that no longer happen.
    best = { schedule: { ...schedule, faults: outcome.faults }, outcome };
    return true;
  };
  for (let before = Number.POSITIVE_INFINITY; sizeOf(best.schedule) < before; ) {
    before = sizeOf(best.schedule);
    for (let hosts = 1; hosts < best.schedule.hosts; hosts += 1) if (await better({ hosts })) break;
    if (best.schedule.hosts > 1) await better({ hosts: 1, faults: best.schedule.faults.map((fault) => ofFirst(fault)) });
    for (const number of best.schedule.sessions)
      if (best.schedule.sessions.length > 1)
        await better({ sessions: best.schedule.sessions.filter((other) => other !== number) });
    // One fault is often enough, and without the others it happens to the first process.
    for (const fault of best.schedule.faults)
      if (best.schedule.faults.length > 1 && (await better({ faults: [ofFirst(fault, true)] }))) break;
    for (let size = best.schedule.faults.length; size >= 1; size = Math.floor(size / 2))
      for (let from = 0; from < best.schedule.faults.length; )
        if (!(await better({ faults: best.schedule.faults.toSpliced(from, size) }))) from += size;
  }
  return best;
}

/**
 * Moves a fault from another host to the first one; with `first`, to its first process. The names of processes are one letter, and a number
 * from the second one on.
 */
function ofFirst(fault: string, first = false): string {
  const [name = ''] = fault.split('.');
  const isHost = name.length === 1 || name.slice(1) === String(Number(name.slice(1)));
  return isHost ? `a${fault.slice(first ? name.length : 1)}` : fault;
}

function sizeOf({ faults, hosts, sessions }: Required<Schedule>): number {
  return faults.length + hosts + sessions.length;
}
