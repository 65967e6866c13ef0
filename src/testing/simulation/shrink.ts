import type { Outcome, Schedule } from './world.ts';

/** A schedule with an explicit list of its faults, and its outcome. */
export interface Failed {
  readonly schedule: Required<Schedule>;
  readonly outcome: Outcome;
}

/** Most schedules that a search for a smaller failure runs. */
const MOST_TRIES = 300;

/**
 * Looks for a smaller schedule that breaks the same invariant: with fewer faults, then with fewer hosts and sessions, until nothing more
 * can be left out. `run` must do the same for equal plans.
 */
export async function shrunk(first: Failed, run: (schedule: Required<Schedule>) => Promise<Outcome>): Promise<Failed> {
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
