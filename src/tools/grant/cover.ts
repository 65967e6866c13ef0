import { rowImplies } from './conditions.ts';
import type { Grant, GrantedCall, ReturnedBy } from './granted.ts';

/**
 * The calls of a grant that another one does not allow as often; none when the other allows everything. A call that is among them may still
 * be allowed, because only what is evident counts. The first parameter's rules of order do not matter: they only restrict.
 */
export function callsOutside(grant: Pick<Grant, 'calls'>, allowed: Pick<Grant, 'calls'>): readonly GrantedCall[] {
  return [...shortfall(grant, allowed).keys()];
}

/** As {@link callsOutside}, each with the number of calls that is missing. */
export function missingCalls(grant: Pick<Grant, 'calls'>, allowed: Pick<Grant, 'calls'>): readonly GrantedCall[] {
  const missing = shortfall(grant, allowed);
  return [...missing].map(([call, times]) => (times === Number.POSITIVE_INFINITY ? call : { ...call, times }));
}

function shortfall(grant: Pick<Grant, 'calls'>, allowed: Pick<Grant, 'calls'>): ReadonlyMap<GrantedCall, number> {
  const room = new Map(allowed.calls.map((call) => [call, call.times ?? Number.POSITIVE_INFINITY]));
  const missing = new Map<GrantedCall, number>();
  for (const call of grant.calls) {
    let needed = call.times ?? Number.POSITIVE_INFINITY;
    for (const wide of coversOf(call, grant.calls, allowed.calls)) {
      const left = room.get(wide) ?? 0;
      const taken = Math.min(left, needed);
      // What is left of any number is any number.
      room.set(wide, left === Number.POSITIVE_INFINITY ? left : left - taken);
      needed = needed === Number.POSITIVE_INFINITY && taken === needed ? 0 : needed - taken;
      if (needed === 0) break;
    }
    if (needed > 0) missing.set(call, needed);
  }
  return missing;
}

/** The calls of which the call is a narrower form, the one with its number first. */
function coversOf(call: GrantedCall, own: readonly GrantedCall[], calls: readonly GrantedCall[]): readonly GrantedCall[] {
  const isSame = (by: ReturnedBy | undefined, other: ReturnedBy): boolean => isSameAnswer(by, own, other, calls);
  return calls
    .filter((wide) => isNarrower(call, wide, isSame))
    .toSorted((a, b) => Number(b.number === call.number) - Number(a.number === call.number));
}

/** Whether every answer of the one call is also one of the other, which another grant has. */
function isSameAnswer(
  by: ReturnedBy | undefined,
  own: readonly GrantedCall[],
  other: ReturnedBy,
  calls: readonly GrantedCall[],
): boolean {
  if (by === undefined || by.part !== other.part) return false;
  const made = own.find(({ number }) => number === by.call);
  const wide = calls.find(({ number }) => number === other.call);
  // What no call of a grant returns, no argument is.
  if (made === undefined) return true;
  const isEqual = (one: ReturnedBy | undefined, two: ReturnedBy): boolean => JSON.stringify(one) === JSON.stringify(two);
  return wide !== undefined && isNarrower(made, wide, isEqual);
}

function isNarrower(
  call: GrantedCall,
  wide: GrantedCall,
  isSame: (by: ReturnedBy | undefined, other: ReturnedBy) => boolean,
): boolean {
  return (
    call.tool === wide.tool &&
    rowImplies(call.when ?? {}, wide.when ?? {}) &&
    Object.entries(wide.returned ?? {}).every(([name, by]) => isSame(call.returned?.[name], by))
  );
}

/**
 * Why a grant is no narrower form of another one; null when it is. Its calls must be allowed by the other, and it must have all rules of
 * order of the other.
 */
export function widerThan(grant: Grant, wide: Grant): string | null {
  const [outside] = callsOutside(grant, wide);
  if (outside !== undefined) return `call ${outside.number} of ${outside.tool} is not within the other grant`;
  const rules = new Set((grant.order ?? []).map((rule) => JSON.stringify(rule)));
  const lost = (wide.order ?? []).find((rule) => !rules.has(JSON.stringify(rule)));
  return lost === undefined ? null : `the rule of order for ${lost.tool} is missing`;
}

/** Some calls of a grant as a grant of their own: with them the calls that they name, which may not be made again. */
export function withNamed(grant: Grant, calls: readonly GrantedCall[]): Grant {
  const kept = new Map(calls.map((call) => [call.number, call]));
  const add = ({ returned = {} }: GrantedCall): void => {
    for (const { call } of Object.values(returned)) {
      const named = kept.has(call) ? undefined : grant.calls.find(({ number }) => number === call);
      if (named === undefined) continue;
      const { cost: _, ...rest } = named;
      kept.set(call, { ...rest, times: 0 });
      add(named);
    }
  };
  for (const call of calls) add(call);
  return { ...grant, calls: [...kept.values()] };
}

/** What became of a call since another grant. */
export type CallChange = 'same' | 'narrower' | 'new';

/** How the calls of a grant differ from those of an earlier one. */
export function changesSince(grant: Pick<Grant, 'calls'>, earlier: Pick<Grant, 'calls'>): ReadonlyMap<number, CallChange> {
  const outside = new Set(callsOutside(grant, earlier));
  const texts = new Set(earlier.calls.map(essence));
  return new Map(
    grant.calls.map((call) => [call.number, outside.has(call) ? 'new' : texts.has(essence(call)) ? 'same' : 'narrower']),
  );
}

function essence({ tool, when = {}, returned = {}, times }: GrantedCall): string {
  return JSON.stringify([tool, when, returned, times]);
}

/** A grant among others, whose calls have numbers up to `base`: its own get higher ones. */
export function apartFrom({ calls, order = [] }: Pick<Grant, 'calls' | 'order'>, base: number): Pick<Grant, 'calls' | 'order'> {
  const numbered = calls.map((call) => {
    const returned = Object.entries(call.returned ?? {}).map(([name, by]) => [name, { ...by, call: by.call + base }] as const);
    const number = call.number + base;
    return returned.length === 0 ? { ...call, number } : { ...call, number, returned: Object.fromEntries(returned) };
  });
  return { calls: numbered, order };
}
