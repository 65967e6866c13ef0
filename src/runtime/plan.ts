import {
  Bound,
  callOf,
  callsOutside,
  conditionFor,
  type Grant,
  type GrantedCall,
  grantable,
  mayChange,
  mergedGrants,
  type ToolView,
  withNamed,
} from '../tools/index.ts';
import { defined } from '../wire/defined.ts';
import { knownOf } from '../wire/foreseen.ts';
import type { JournalEntry } from '../wire/journal.ts';

/** A run that needs a person's approval of its plan, and what is approved already. */
export interface PlanRequest {
  /** The approved grants: of this program, or of earlier attempts at the turn. */
  readonly granted: readonly Grant[];
  /** A person's answer to the plan of this program itself: nothing more is asked then. Null while there is none. */
  readonly own: 'approved' | 'refused' | null;
}

/** What a run with a plan is bound to. */
export interface RunPlan {
  /** Undefined as long as nothing is approved. */
  readonly bound: Bound | undefined;
  /** What a person has to approve before the first call that may change something; null when nothing is missing. */
  readonly asks: Grant | null;
  /** Whether the approval answers what the policy would ask about single calls. */
  readonly isApproved: boolean;
}

/**
 * The plan of a program. `journals` are those of earlier attempts at its turn, whose calls count. `standing` is a grant that needs no approval:
 * what the policy asks about its calls is asked.
 */
export function planOf(
  grant: Grant | null,
  { granted: approved, own }: PlanRequest,
  journals: readonly (readonly JournalEntry[])[],
  tools: ToolView,
  standing: Grant | undefined,
): RunPlan {
  // A program that cannot be read makes no call.
  if (grant === null) return { bound: undefined, asks: null, isApproved: false };
  const harmless = { calls: grant.calls.filter((call) => !mayChange(call)) };
  if (own === 'refused') return { bound: new Bound(harmless, true), asks: null, isApproved: false };
  const granted = standing === undefined ? approved : [standing, ...approved];
  const isApproved = own === 'approved' || approved.length > 0;
  if (granted.length === 0 && own === null) {
    const isHarmless = harmless.calls.length === grant.calls.length;
    return { bound: undefined, asks: isHarmless ? null : grant, isApproved: false };
  }
  if (granted.length === 0) return { bound: undefined, asks: null, isApproved };
  const bound = new Bound(mergedGrants(granted));
  count(bound, journals, tools);
  if (own === 'approved') return { bound, asks: null, isApproved };
  const left = { calls: [...bound.left, ...journals.flat().flatMap((entry) => repeated(entry, tools))] };
  const missing = callsOutside(grant, left);
  if (missing.length === 0) return { bound, asks: null, isApproved };
  return { bound, asks: withNamed(grant, missing), isApproved };
}

/** Counts the calls of earlier attempts, which were made in the same turn. */
export function count(bound: Bound, journals: readonly (readonly JournalEntry[])[], tools: ToolView): void {
  for (const entry of journals.flat()) {
    const made = entry.from === undefined ? grantable(callOf(entry), tools) : null;
    if (made === null) continue;
    if (bound.admit(made) === null && entry.outcome.ok) bound.answered(made, entry.outcome.value);
  }
}

/** The call that takes the answer of a call of an earlier attempt, and so is not made again. */
function repeated(entry: JournalEntry, tools: ToolView): readonly GrantedCall[] {
  const made = entry.outcome.ok && entry.from === undefined ? grantable(callOf(entry), tools) : null;
  if (made === null) return [];
  const when = made.tool.parameters.flatMap(({ name }, place) => {
    const condition = conditionFor(knownOf(made.args[place] ?? null));
    return condition === undefined ? [] : [[name, condition] as const];
  });
  const call = { number: 1, tool: made.tool.canonicalName, times: 1 };
  return [defined({ ...call, when: when.length === 0 ? undefined : Object.fromEntries(when) })];
}
