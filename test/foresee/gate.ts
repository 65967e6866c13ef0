import type { Random } from '../../conformance/language/generate/random.ts';
import { Bound, type CalledTool, type Grant, type GrantedCall } from '../../src/tools/index.ts';
import { type CallsBefore, meetsRow } from '../../src/tools/policy/decide.ts';
import { knownOf } from '../../src/wire/foreseen.ts';
import type { GuestCall, TaggedJson } from '../../src/wire/protocol.ts';
import type { DriveOptions } from '../guest/driver.ts';

/** A call that was asked for, and whether it was made. */
export interface Passed {
  readonly name: string;
  readonly args: readonly TaggedJson[];
  readonly shown: string;
  /** Why it was refused; null for a call that was made. */
  readonly refusal: string | null;
  /** What it returned, if it was made and did not fail. */
  answer?: TaggedJson;
}

/** Lets a run make the calls of a grant, as a host does. */
export class Gate {
  readonly passed: Passed[] = [];
  readonly hooks: Required<Pick<DriveOptions, 'refusal' | 'onAnswer'>>;
  readonly #bound: Bound;
  readonly #open = new Map<number, Passed>();

  constructor(grant: Grant) {
    this.#bound = new Bound(grant);
    this.hooks = {
      refusal: (call) => {
        const [name, args] = partsOf(call);
        const outside = this.#bound.admit({ tool: toolOf(name), args }, before(this.passed));
        const shown = `${name}(${JSON.stringify(args)}) at ${call.at.line}:${call.at.column}`;
        const refusal = outside === null ? null : `${outside.reason}; ${outside.instead}`;
        const passed = { name, args, shown, refusal };
        this.passed.push(passed);
        this.#open.set(call.seq, passed);
        return refusal;
      },
      onAnswer: (call, value) => {
        const passed = this.#open.get(call.seq);
        if (passed === undefined) return;
        passed.answer = value;
        this.#bound.answered({ tool: toolOf(passed.name), args: passed.args }, value);
      },
    };
  }

  get refused(): Passed | undefined {
    return this.passed.find(({ refusal }) => refusal !== null);
  }
}

function before(passed: readonly Passed[]): CallsBefore {
  return { called: (wanted) => passed.some(({ name, answer }) => name === wanted && answer !== undefined) && wanted };
}

/** Whether a call breaks a rule of order after others. */
function isEarly({ order = [] }: Grant, name: string, passed: readonly Passed[]): boolean {
  return order.some(
    ({ tool, needs }) => tool === name && !passed.some((call) => call.name === needs && call.answer !== undefined),
  );
}

/** A grant that allows one call less, or one argument less, than another; null where there is nothing to take. */
export function narrower(grant: Grant, random: Random): Grant | null {
  const place = random.int(Math.max(1, grant.calls.length));
  const call = grant.calls[place];
  if (call === undefined) return null;
  const times = call.times === undefined ? random.int(3) : call.times - 1;
  const less: readonly GrantedCall[] = times < 1 || random.once(3) ? [] : [{ ...call, times }];
  return { ...grant, calls: grant.calls.toSpliced(place, 1, ...less) };
}

/**
 * What is wrong with how a gate decided: a call is outside of a grant exactly if the calls made so far and this one cannot be given to rows
 * that fit, each as often as it says. Null when nothing is.
 */
export function misjudged(grant: Grant, passed: readonly Passed[]): string | null {
  const made: { readonly rows: readonly number[]; row: number }[] = [];
  const used = grant.calls.map(() => 0);
  const answers = grant.calls.map(() => ({ whole: new Set<string>(), item: new Set<string>() }));
  const fits = (row: GrantedCall, { name, args }: Passed): boolean =>
    row.tool === name &&
    meetsRow(row.when ?? {}, toolOf(name), args.map(knownOf)) === true &&
    Object.entries(row.returned ?? {}).every(([argument, { call, part }]) => {
      const from = answers[grant.calls.findIndex(({ number }) => number === call)];
      return from?.[part ?? 'whole'].has(JSON.stringify(args[Number(argument.slice(1))] ?? null)) === true;
    });
  const makeRoom = (row: number, seen: Set<number>): boolean => {
    if (seen.has(row)) return false;
    seen.add(row);
    if ((used[row] ?? 0) < (grant.calls[row]?.times ?? Number.POSITIVE_INFINITY)) return true;
    for (const call of made.filter((one) => one.row === row))
      for (const other of call.rows)
        if (makeRoom(other, seen)) {
          used[row] = (used[row] ?? 0) - 1;
          used[other] = (used[other] ?? 0) + 1;
          call.row = other;
          return true;
        }
    return false;
  };
  for (const [index, call] of passed.entries()) {
    if (isEarly(grant, call.name, passed.slice(0, index))) {
      if (call.refusal === null) return `${call.shown} was made too early`;
      continue;
    }
    const rows = grant.calls.flatMap((row, index) => (fits(row, call) ? [index] : []));
    const seen = new Set<number>();
    const row = rows.find((one) => makeRoom(one, seen));
    if ((row === undefined) !== (call.refusal !== null))
      return `${call.shown} was ${call.refusal ?? 'made outside of the grant'}`;
    if (row === undefined) continue;
    used[row] = (used[row] ?? 0) + 1;
    made.push({ rows, row });
    const { answer } = call;
    if (answer === undefined) continue;
    for (const one of rows) {
      answers[one]?.whole.add(JSON.stringify(answer));
      for (const part of partsIn(answer)) answers[one]?.item.add(JSON.stringify(part));
    }
  }
  return null;
}

function partsIn(answer: TaggedJson): readonly TaggedJson[] {
  if (typeof answer === 'string') return [...answer];
  if (typeof answer !== 'object' || answer === null) return [];
  if (Array.isArray(answer)) return answer;
  return Object.keys(answer)[0]?.startsWith('$') === true ? [] : [null, ...Object.values(answer)];
}

/** The name and the arguments of a call, as a bound sees them. */
export function partsOf(made: GuestCall): readonly [name: string, args: readonly TaggedJson[]] {
  if (made.t === 'tool') return [made.name, made.args];
  return made.t === 'ask' ? ['ask', [made.model, made.prompt, made.options]] : ['promptuser', [made.text]];
}

const PARAMETERS = Array.from({ length: 12 }, (_, index) => ({ name: `a${index}` }));

/** A tool with enough arguments, or what a grant takes for one. */
export function toolOf(name: string): CalledTool {
  return { canonicalName: name, parameters: PARAMETERS };
}
