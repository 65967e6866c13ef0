import { hash } from 'node:crypto';
import { knownOf } from '../../wire/foreseen.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import { isList, sortedJson } from '../../wire/tagged.ts';
import { grouped } from '../../wire/text/grouped.ts';
import {
  type Breach,
  type CalledTool,
  type CallsBefore,
  firstUnmet,
  meetsRow,
  orderBreaches,
  placesOf,
  rowText,
  takesMap,
} from '../policy/decide.ts';
import type { OrderRule } from '../policy/options.ts';
import { apartFrom } from './cover.ts';
import type { Grant, GrantedCall, ReturnedBy } from './granted.ts';

/** A call that the program makes, as a grant sees it. */
export interface MadeCallOf {
  readonly tool: CalledTool;
  readonly args: readonly TaggedJson[];
}

/** Why a call is outside of a grant, and what the grant would allow. */
export interface Outside {
  readonly rule: 'grant' | 'person';
  /** The rule of order that the call breaks; null for a call that the grant does not have. */
  readonly entry: string | null;
  readonly reason: string;
  readonly instead: string;
}

/** Calls that may be counted for the same rows. */
interface Group {
  readonly rows: readonly Row[];
  count: number;
}

/** A granted call, and the calls that are counted for it. */
interface Row {
  /** With a number that no other row has. */
  readonly call: GrantedCall;
  /** As its grant has it. */
  readonly shown: GrantedCall;
  /** The rules of order of its grant. */
  readonly order: readonly OrderRule[];
  readonly groups: Map<string, Group>;
  used: number;
}

/**
 * Refuses calls that a grant does not have. A call that fits several rows counts for one of them, and moves to another row when a later call
 * needs its place. So calls are admitted as long as there is any way to count them.
 */
export class Bound {
  readonly #rows: Row[] = [];
  /** Digests of answers that arguments may have to be, by the number of the call and the part. */
  readonly #answers = new Map<string, Set<string>>();
  readonly #wanted = new Set<number>();
  readonly #isRefused: boolean;

  /** `isRefused`: these are the calls that are left after a person has refused the others. */
  constructor(grant: Pick<Grant, 'calls' | 'order'>, isRefused = false) {
    this.#isRefused = isRefused;
    this.widen(grant);
  }

  /** Allows further calls. Calls that were counted before may be counted for them when they need their place. */
  widen(grant: Pick<Grant, 'calls' | 'order'>): void {
    const { calls, order = [] } = apartFrom(grant, Math.max(0, ...this.#rows.map(({ call }) => call.number)));
    for (const [index, call] of calls.entries()) {
      this.#rows.push({ call, shown: grant.calls[index] ?? call, order, groups: new Map(), used: 0 });
      for (const by of Object.values(call.returned ?? {})) this.#wanted.add(by.call);
    }
  }

  /** The rules about the calls before a call, of all grants. */
  get order(): readonly OrderRule[] {
    return [...new Set(this.#rows.flatMap(({ order }) => order))];
  }

  /** The calls that may still be made. */
  get left(): readonly GrantedCall[] {
    return this.#rows.map(({ call, used }) => (call.times === undefined ? call : { ...call, times: call.times - used }));
  }

  /**
   * Counts a call. Returns why it is outside of the grant; null when it is not. Without the calls `before` it, rules of order do not count, nor
   * do those that it may still keep.
   */
  admit(made: MadeCallOf, before?: CallsBefore): Outside | null {
    const { canonicalName: name } = made.tool;
    const named = this.#rows.filter(({ call }) => call.tool === name);
    const fitting = this.#fitting(made);
    const room = roomFor({ rows: inPlace(fitting, made, before), count: 1 });
    if (room !== null) {
      settle(room);
      return null;
    }
    const [misplaced] = before === undefined ? [] : this.misplaced(made, before);
    if (misplaced !== undefined)
      return {
        rule: 'grant',
        entry: misplaced.entry,
        reason: `outside of the grant: ${misplaced.reason}`,
        instead: misplaced.instead,
      };
    return {
      rule: this.#isRefused ? 'person' : 'grant',
      entry: null,
      reason: this.#isRefused
        ? 'a person refused the plan of this program'
        : `outside of the grant: ${this.#problem(made, named, fitting)}`,
      instead: `allowed: ${this.#allowed(named)}`,
    };
  }

  /** The calls that may still be made if recorded answers are taken wherever one of the forms of their calls may fit. */
  leftWithout(taken: readonly (readonly MadeCallOf[])[]): readonly GrantedCall[] {
    const left = new Map(this.left.map((call, index) => [index, call.times ?? Number.POSITIVE_INFINITY]));
    for (const forms of taken) {
      const fitting = this.#rows.flatMap((row, index) =>
        (left.get(index) ?? 0) > 0 && forms.some((made) => this.#mayFit(row, made)) ? [{ row, index }] : [],
      );
      const [narrowest] = fitting.toSorted((a, b) => termsOf(b.row.call) - termsOf(a.row.call));
      if (narrowest !== undefined) left.set(narrowest.index, (left.get(narrowest.index) ?? 0) - 1);
    }
    return this.#rows.flatMap(({ shown }, index) => {
      const times = left.get(index) ?? 0;
      return times === 0 ? [] : [times === Number.POSITIVE_INFINITY ? shown : { ...shown, times }];
    });
  }

  /** The granted call that a call fits, whether or not it may still be made. */
  rowOf(made: MadeCallOf): GrantedCall | undefined {
    return this.#fitting(made)[0]?.shown;
  }

  /** Whether a call would be admitted, without counting it. */
  allows(made: MadeCallOf, before: CallsBefore): boolean {
    return roomFor({ rows: inPlace(this.#fitting(made), made, before), count: 1 }) !== null;
  }

  /** The rules of order that a call breaks; none when it fits a granted call whose grant has no such rule. */
  misplaced(made: MadeCallOf, before: CallsBefore): readonly Breach[] {
    const fitting = this.#fitting(made);
    const placed = inPlace(fitting, made, before);
    const rows = placed.length === 0 ? fitting : placed;
    const broken = rows.map(({ order }) => orderBreaches(order, { tool: made.tool, before }, 'its'));
    return broken.find((breaches) => breaches.length === 0) ?? broken[0] ?? [];
  }

  /** Notes the answer to an admitted call: arguments of later calls may have to be this answer. */
  answered(made: MadeCallOf, value: TaggedJson): void {
    if (this.#wanted.size === 0) return;
    for (const { call } of this.#fitting(made)) {
      if (!this.#wanted.has(call.number)) continue;
      this.#note({ call: call.number }, value);
      for (const element of elementsOf(value)) this.#note({ call: call.number, part: 'item' }, element);
    }
  }

  #note(by: ReturnedBy, value: TaggedJson): void {
    const key = keyOfAnswer(by);
    const known = this.#answers.get(key);
    if (known === undefined) this.#answers.set(key, new Set([digestOf(value)]));
    else known.add(digestOf(value));
  }

  #fitting({ tool, args }: MadeCallOf): readonly Row[] {
    const known = args.map(knownOf);
    return this.#rows.filter(
      ({ call: { tool: name, when = {}, returned } }) =>
        name === tool.canonicalName &&
        meetsRow(when, tool, known) === true &&
        (returned === undefined || this.#unreturned(returned, tool, args) === null),
    );
  }

  /** Whether a call fits a row, or will if an answer that has not come is one of its arguments. */
  #mayFit({ call: { tool: name, when = {}, returned = {} } }: Row, { tool, args }: MadeCallOf): boolean {
    const known = Object.entries(returned).filter(([, by]) => this.#answers.has(keyOfAnswer(by)));
    return (
      name === tool.canonicalName &&
      meetsRow(when, tool, args.map(knownOf)) === true &&
      this.#unreturned(Object.fromEntries(known), tool, args) === null
    );
  }

  /** The first argument that is not the answer that it must be. */
  #unreturned(
    returned: Readonly<Record<string, ReturnedBy>>,
    tool: CalledTool,
    args: readonly TaggedJson[],
  ): readonly [name: string, by: ReturnedBy] | null {
    const unmet = Object.entries(returned).find(([name, by]) => {
      const answers = this.#answers.get(keyOfAnswer(by));
      return !placesOf(tool, name).some((place) => answers?.has(digestOf(args[place] ?? null)));
    });
    return unmet ?? null;
  }

  #problem({ tool, args }: MadeCallOf, named: readonly Row[], fitting: readonly Row[]): string {
    const { canonicalName: name } = tool;
    if (named.length === 0) return `it has no call of ${name}`;
    if (fitting.length > 0) {
      const numbers = fitting.map(({ shown }) => shown.number).join(', ');
      return `call ${numbers} of it, ${name}, was made as often as it may be`;
    }
    const rows = named.map(({ call }) => call.when ?? {});
    const { argument } = firstUnmet(rows, tool, args.map(knownOf));
    const left = named.flatMap(({ call: { returned } }) => {
      const [unmet] = (returned === undefined ? null : this.#unreturned(returned, tool, args)) ?? [];
      return unmet === undefined ? [] : [unmet];
    });
    const wrong = argument ?? left[0] ?? null;
    if (wrong !== null && !takesMap(tool) && placesOf(tool, wrong).length === 0)
      return `it names '${wrong}', no argument of ${name}`;
    return `no call of ${name} in it has ${wrong === null ? 'these arguments' : `this argument '${wrong}'`}`;
  }

  #allowed(named: readonly Row[]): string {
    if (named.length > 0) return shortened(named.map(({ shown }) => grantedText(shown)));
    const others = new Set(this.#rows.map(({ call }) => call.tool));
    return others.size === 0 ? 'no call at all' : `calls of ${shortened([...others])}`;
  }
}

/** What a program can read from a value by a key, an index or a loop. A map without a key gives nil. */
function elementsOf(value: TaggedJson): Iterable<TaggedJson> {
  if (typeof value === 'string') return new Set(value);
  if (isList(value)) return value;
  const { entries } = knownOf(value);
  return entries === undefined || typeof value !== 'object' || value === null ? [] : [null, ...Object.values(value)];
}

export function grantedText({ when = {}, returned = {}, times }: GrantedCall): string {
  const conditions = [
    ...(Object.keys(when).length === 0 ? [] : [rowText(when)]),
    ...Object.entries(returned).map(([name, by]) => `${name} ${returnedText(by)}`),
  ];
  return `${conditions.length === 0 ? 'any arguments' : conditions.join(', ')}, ${timesText(times)}`;
}

export function returnedText({ call, part }: ReturnedBy): string {
  return part === undefined ? `what call ${call} returned` : `an item of what call ${call} returned`;
}

export function timesText(times: number | undefined): string {
  if (times === undefined) return 'any number of times';
  if (times === 0) return 'not again';
  return times === 1 ? 'at most once' : `at most ${grouped(times)} times`;
}

/** How many conditions a granted call has. */
function termsOf({ when = {}, returned = {} }: GrantedCall): number {
  return Object.keys(when).length + Object.keys(returned).length;
}

/** Most calls that a message names. */
const MOST_SHOWN = 4;

function shortened(texts: readonly string[]): string {
  const left = texts.length - MOST_SHOWN;
  return [...texts.slice(0, MOST_SHOWN), ...(left > 0 ? [`${left} more`] : [])].join('; ');
}

function keyOfAnswer({ call, part }: ReturnedBy): string {
  return `${call} ${part ?? 'whole'}`;
}

function digestOf(value: TaggedJson): string {
  return hash('sha256', JSON.stringify(sortedJson(value)), 'base64url');
}

/** The rows whose grants have no rule of order by which the call is refused for certain. */
function inPlace(rows: readonly Row[], { tool }: MadeCallOf, before: CallsBefore | undefined): readonly Row[] {
  if (before === undefined) return rows;
  const refuses = ({ sure, outcome }: Breach): boolean => sure && outcome === 'refuse';
  return rows.filter(({ order }) => !orderBreaches(order, { tool, before }).some(refuses));
}

/** A step of a path to a row with room: one call of `group` would move from `from` to this row. */
interface RoomStep {
  readonly row: Row;
  readonly group: Group;
  readonly from: RoomStep | null;
}

/** How one call can be counted for one of its rows; null when all are full, however the other calls are distributed. */
function roomFor(group: Group): RoomStep | null {
  const seen = new Set<Row>();
  const steps: RoomStep[] = [];
  const reach = (own: Group, from: RoomStep | null): void => {
    for (const row of own.rows) {
      if (seen.has(row)) continue;
      seen.add(row);
      steps.push({ row, group: own, from });
    }
  };
  reach(group, null);
  for (const step of steps) {
    const { call, groups, used } = step.row;
    if (call.times === undefined || used < call.times) return step;
    for (const other of groups.values()) reach(other, step);
  }
  return null;
}

/** Moves calls along the path, so that its first row has room for the new one. */
function settle(last: RoomStep): void {
  last.row.used++;
  for (let step: RoomStep | null = last; step !== null; step = step.from) {
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
  return rows.map(({ call }) => call.number).join();
}
