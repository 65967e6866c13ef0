import { Approvals, Bound, callOf, type Grant, grantable, mayChange, type ToolView } from '../tools/index.ts';
import type { JournalEntry } from '../wire/journal.ts';

/** A run that needs a person's approval of its plan, and what is approved already. */
export interface PlanRequest {
  /** The approved grants of the turn, each with the number of the attempt for whose program it was approved, from 1. */
  readonly granted: readonly { readonly attempt: number; readonly grant: Grant }[];
  /** Number of the first attempt with this program. */
  readonly first: number;
  /**
   * A person's answers to the plan of this program itself; null while there is none. `narrowed`: nothing more is asked. `all`: whatever a person
   * would be asked is allowed, for a rehearsal.
   */
  readonly own: 'approved' | 'narrowed' | 'refused' | 'all' | null;
}

/** What a run with a plan is bound to. */
export interface RunPlan {
  /** Undefined as long as nothing is approved. */
  readonly bound: Bound | undefined;
  /** Null for a program of which nothing is asked. */
  readonly approvals: Approvals | null;
}

/**
 * The plan of a program. `journals` are those of earlier attempts at its turn, whose calls count for what was approved until then. `standing`
 * is a grant that needs no approval: what the policy asks about its calls is asked.
 */
export function planOf(
  grant: Grant | null,
  { granted, first, own }: PlanRequest,
  journals: readonly (readonly JournalEntry[])[],
  tools: ToolView,
  standing: Grant | undefined,
): RunPlan {
  // A program that cannot be read makes no call.
  if (grant === null) return { bound: new Bound(NOTHING), approvals: null };
  if (own === 'refused') {
    const harmless = grant.calls.filter((call) => !mayChange(call));
    return { bound: new Bound({ calls: harmless }, true), approvals: null };
  }
  const [all, approved, ours] = [new Bound(standing ?? NOTHING), new Bound(NOTHING), new Bound(NOTHING)];
  for (let attempt = 1; attempt <= journals.length + 1; attempt++) {
    for (const each of granted) {
      if (each.attempt !== attempt) continue;
      for (const bound of attempt < first ? [all, approved] : [all, approved, ours]) bound.widen(each.grant);
    }
    for (const bound of [all, approved]) count(bound, journals[attempt - 1] ?? [], tools);
  }
  const bound = granted.length === 0 && standing === undefined ? undefined : all;
  const people =
    own === 'all' ? { approved: null, own: null, mayAsk: false } : { approved, own: ours, mayAsk: own !== 'narrowed' };
  return { bound, approvals: new Approvals(grant, { bound, ...people }) };
}

const NOTHING = { calls: [] };

/** Counts the calls of an earlier attempt at the same turn. */
export function count(bound: Bound, journal: readonly JournalEntry[], tools: ToolView): void {
  for (const entry of journal) {
    const made = entry.from === undefined ? grantable(callOf(entry), tools) : null;
    if (made === null) continue;
    if (bound.admit(made) === null && entry.outcome.ok) bound.answered(made, entry.outcome.value);
  }
}
