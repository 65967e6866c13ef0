/** Where values come from, as sets of numbered sources: bit n of a set stands for source n. */

export type Sources = bigint;

/** The sources of a value, apart for the entries of a list or map whose keys are certain. */
export interface Taint {
  /** Sources of the value itself: of its existence, its length and its keys, and of all entries that are not apart. */
  readonly own: Sources;
  /** Entries by key, or by index as text. */
  readonly parts?: ReadonlyMap<string, Taint> | undefined;
}

/** A value of the program's own text. */
export const CLEAN: Taint = { own: 0n };

/** Most entries that are told apart, and how deep they nest. */
const MOST = { parts: 32, levels: 3 } as const;

export function allOf({ own, parts }: Taint): Sources {
  let all = own;
  for (const part of parts?.values() ?? []) all |= allOf(part);
  return all;
}

export function extended(taint: Taint, sources: Sources): Taint {
  return (taint.own | sources) === taint.own ? taint : { ...taint, own: taint.own | sources };
}

export function ofParts(parts: ReadonlyMap<string, Taint>, own: Sources): Taint {
  const deep = [...parts.values()].some((part) => levelsOf(part) >= MOST.levels);
  if (!deep && parts.size <= MOST.parts) return { own, parts };
  return { own: [...parts.values()].reduce((all, part) => all | allOf(part), own) };
}

function levelsOf({ parts }: Taint): number {
  return parts === undefined ? 0 : 1 + Math.max(0, ...[...parts.values()].map(levelsOf));
}

/** The entry at a key; null for a key that is not certain. Sources of the container are sources of its entries. */
export function partAt(taint: Taint, key: string | null): Taint {
  const { own, parts } = taint;
  const part = key === null ? undefined : parts?.get(key);
  return part === undefined ? { own: allOf(taint) } : extended(part, own);
}

export function joined(a: Taint, b: Taint): Taint {
  if (a === b) return a;
  const own = a.own | b.own;
  if (a.parts === undefined && b.parts === undefined) return { own };
  if (a.parts === undefined || b.parts === undefined) return { own: own | allOf(a) | allOf(b) };
  const parts = new Map(a.parts);
  for (const [key, part] of b.parts) parts.set(key, joined(parts.get(key) ?? CLEAN, part));
  return ofParts(parts, own);
}

/** The variables of a place of the program. */
export type Variables = ReadonlyMap<string, Taint>;

export function meeting(a: Variables, b: Variables): Variables {
  if (a === b) return a;
  const all = new Map(a);
  for (const [name, taint] of b) all.set(name, joined(all.get(name) ?? CLEAN, taint));
  return all;
}

/** Whether all sources of one are in the other. */
export function isCovered(one: Variables, other: Variables): boolean {
  for (const [name, taint] of one) if (!isPart(taint, other.get(name) ?? CLEAN)) return false;
  return true;
}

function isPart(one: Taint, other: Taint): boolean {
  if (one === other) return true;
  if (one.parts === undefined || other.parts === undefined)
    return other.parts === undefined ? (allOf(one) & ~other.own) === 0n : (one.own & ~other.own) === 0n;
  if ((one.own & ~other.own) !== 0n) return false;
  for (const [key, part] of one.parts) if (!isPart(part, extended(other.parts.get(key) ?? CLEAN, other.own))) return false;
  return true;
}
