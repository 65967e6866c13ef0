import { defined } from '../../wire/defined.ts';
import { knownOf } from '../../wire/foreseen.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import type { CallsBefore } from '../policy/decide.ts';
import { Bound, type MadeCallOf } from './bound.ts';
import { conditionFor } from './conditions.ts';
import { missingCalls, withNamed } from './cover.ts';
import { type Grant, type GrantedCall, mayChange } from './granted.ts';

/** What a person has allowed of the calls of a program. */
export interface Allowed {
  /** All that may be called; undefined as long as nothing may. */
  readonly bound: Bound | undefined;
  /** The part of it that a person has approved, for this program or an earlier one of its turn; null in a rehearsal, where all is. */
  readonly approved: Bound | null;
  /** The part that a person has approved for this program; null as above. */
  readonly own: Bound | null;
  /** Whether a person may be asked; not after the plan of this program was narrowed, nor in a rehearsal. */
  readonly mayAsk: boolean;
}

/** How far a person's approval covers a call. */
export interface Coverage {
  readonly isApproved: boolean;
  readonly isOwn: boolean;
}

/**
 * The approvals of a program while it runs. What it asks for is what is new at that moment: what the program may still do, less what is
 * approved, and less the calls that may take answers of earlier attempts. One that does not take such an answer after all asks again.
 */
export class Approvals {
  readonly #grant: Grant;
  readonly #allowed: Allowed;
  /** Counts the calls of the program for the calls that were foreseen. */
  readonly #program: Bound;
  /** What was asked for last: calls that run together with that one may be among it. */
  #asked: { readonly grant: Grant; readonly bound: Bound } | null = null;

  /** `grant` is all that the program can do. */
  constructor(grant: Grant, allowed: Allowed) {
    this.#grant = grant;
    this.#allowed = allowed;
    this.#program = new Bound(grant);
  }

  /** What a person is asked before anything was approved; null for a program that changes nothing. */
  get whole(): Grant | null {
    const { bound, mayAsk } = this.#allowed;
    return mayAsk && bound === undefined && this.#grant.calls.some(mayChange) ? this.#grant : null;
  }

  /**
   * Counts a call of the program. Returns what a person has to approve before it is made, null for nothing. `changes` says whether it may
   * change something; `untaken` are the recorded calls of which the program may still take the answers, each in all its forms.
   */
  asks(made: MadeCallOf, before: CallsBefore, changes: boolean, untaken: () => readonly (readonly MadeCallOf[])[]): Grant | null {
    const { bound, mayAsk } = this.#allowed;
    if (bound === undefined) return changes ? this.whole : null;
    const row = this.#program.rowOf(made);
    if (!mayAsk || row === undefined || bound.allows(made, before)) return null;
    if (this.#asked?.bound.admit(made, before) === null) return this.#asked.grant;
    const left = this.#program.leftWithout(untaken());
    const missing = missingCalls({ calls: left }, { calls: bound.left });
    const grant = withNamed(this.#grant, [exactly(made, row, missing, this.#grant), ...missing]);
    this.#asked = { grant, bound: new Bound(grant) };
    this.#asked.bound.admit(made, before);
    return grant;
  }

  /** Counts a call that the program makes, also one that takes a recorded answer. */
  makes(made: MadeCallOf): void {
    this.#program.admit(made);
  }

  /** Counts a call for what was approved. */
  admit(made: MadeCallOf, before: CallsBefore): Coverage {
    const { approved, own } = this.#allowed;
    const covers = (each: Bound | null): boolean => each === null || each.admit(made, before) === null;
    return { isApproved: covers(approved), isOwn: covers(own) };
  }

  answered(made: MadeCallOf, value: TaggedJson): void {
    const { approved, own } = this.#allowed;
    for (const each of [this.#program, approved, own]) each?.answered(made, value);
  }
}

/** The call that waits, with its arguments as they are. Its number is that of its row, unless `others` need that number. */
function exactly(
  { tool, args }: MadeCallOf,
  row: GrantedCall,
  others: readonly GrantedCall[],
  { calls: all }: Grant,
): GrantedCall {
  const when = tool.parameters.flatMap(({ name }, place) => {
    const condition = conditionFor(knownOf(args[place] ?? null));
    return condition === undefined ? [] : [[name, condition] as const];
  });
  const named = others.flatMap(({ number, returned = {} }) => [number, ...Object.values(returned).map(({ call }) => call)]);
  const number = named.includes(row.number) ? 1 + Math.max(...all.map((call) => call.number)) : row.number;
  const { effects, carries, at } = row;
  const call = { number, tool: tool.canonicalName, when: when.length === 0 ? undefined : Object.fromEntries(when), times: 1 };
  return defined({ ...call, effects, carries, at });
}
