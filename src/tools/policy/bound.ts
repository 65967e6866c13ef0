import { argumentsText, fits } from '../../wire/foreseen.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import type { ForeseenCall } from '../../wire/sourcereports.ts';

/** The part of a foreseen call that a bound needs. */
export type BoundCall = Pick<ForeseenCall, 'name' | 'args' | 'most'>;

/** Calls that may be counted for the same rows. */
interface Group {
  readonly rows: readonly Row[];
  count: number;
}

/** A foreseen call, and the calls that are counted for it. */
interface Row {
  readonly number: number;
  readonly call: BoundCall;
  readonly groups: Map<string, Group>;
  used: number;
}

/**
 * Refuses calls that were not foreseen. A call that fits several rows counts for one of them, and moves to another row when a later call
 * needs its place. So calls are admitted as long as there is any way to count them.
 */
export class Bound {
  readonly #rows: readonly Row[];

  constructor(calls: readonly BoundCall[]) {
    this.#rows = calls.map((call, number) => ({ number, call, groups: new Map(), used: 0 }));
  }

  /** Counts a call. Returns why it was not foreseen; null when it was. */
  admit(name: string, args: readonly TaggedJson[]): string | null {
    const named = this.#rows.filter(({ call }) => call.name === name);
    const fitting = named.filter(({ call }) => covers(call, args));
    if (fitting.length > 0 && place({ rows: fitting, count: 1 })) return null;
    const what = fitting.length > 0 ? `${name} is called more often than was foreseen` : `this call of ${name} was not foreseen`;
    return `${what}, and the run is bound to a preview. Foreseen: ${summaryOf(named)}`;
  }
}

function covers({ args: known }: BoundCall, args: readonly TaggedJson[]): boolean {
  return known === null || (known.length === args.length && known.every((one, index) => fits(one, args[index] ?? null)));
}

/** A step of a path to a row with room: one call of `group` would move from `from` to this row. */
interface Step {
  readonly row: Row;
  readonly group: Group;
  readonly from: Step | null;
}

/** Counts one call for one of its rows. Returns false when all are full, however the other calls are distributed. */
function place(group: Group): boolean {
  const seen = new Set<Row>();
  const steps: Step[] = [];
  const reach = (own: Group, from: Step | null): void => {
    for (const row of own.rows) {
      if (seen.has(row)) continue;
      seen.add(row);
      steps.push({ row, group: own, from });
    }
  };
  reach(group, null);
  for (const step of steps) {
    const { call, groups, used } = step.row;
    if (call.most === null || used < call.most) {
      settle(step);
      return true;
    }
    for (const other of groups.values()) reach(other, step);
  }
  return false;
}

/** Moves calls along the path, so that its first row has room for the new one. */
function settle(last: Step): void {
  last.row.used++;
  for (let step: Step | null = last; step !== null; step = step.from) {
    const { row, group, from } = step;
    const key = keyOf(group);
    const here = row.groups.get(key);
    if (here === undefined) row.groups.set(key, { rows: group.rows, count: 1 });
    else here.count++;
    const left = from?.row.groups.get(key);
    if (left === undefined) continue;
    left.count--;
    if (left.count === 0) from?.row.groups.delete(key);
  }
}

/** The key of a group; equal for groups of the same rows. */
function keyOf({ rows }: Group): string {
  return rows.map(({ number }) => number).join();
}

/** Most foreseen calls that a message names. */
const MOST_SHOWN = 3;

function summaryOf(named: readonly Row[]): string {
  if (named.length === 0) return 'no call of it';
  const shown = named.slice(0, MOST_SHOWN).map(({ call: { args, most } }) => `${argumentsText(args)} ${timesText(most)}`);
  return [...shown, ...(named.length > MOST_SHOWN ? [`and ${named.length - MOST_SHOWN} more`] : [])].join('; ');
}

function timesText(most: number | null): string {
  if (most === null) return 'any number of times';
  return most === 1 ? 'once' : `at most ${most} times`;
}
