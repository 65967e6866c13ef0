import type { RunInput, Source } from '../wire/protocol.ts';
import { isKept } from './sourcecache.ts';

/**
 * What two runs have in common so that a worker does the second sooner: the isolate that it prepares after a run has a heap for
 * that run's limit and trees, and it knows the trees of that run's library already.
 */
export interface RunKind {
  readonly memoryBytes: number;
  /** The longest source that may come again, which no worker keeps alive; null where there is none. */
  readonly library: WeakRef<Source> | null;
}

/** The kind of a run. */
export function kindOf({ sources, limits }: RunInput): RunKind {
  let library: Source | null = null;
  for (const source of sources) if (isKept(source) && source.text.length > (library?.text.length ?? 0)) library = source;
  return { memoryBytes: limits.memoryBytes, library: library === null ? null : new WeakRef(library) };
}

/** A library that is gone by now counts as none. */
export function isSameKind(one: RunKind | null, other: RunKind | null): boolean {
  if (one === null || other === null || one.memoryBytes !== other.memoryBytes) return false;
  return one.library?.deref() === other.library?.deref();
}
