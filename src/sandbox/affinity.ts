import type { RunInput, Source } from '../wire/protocol.ts';
import { isCacheable } from './sourcecache.ts';

/**
 * What two runs must share for a worker to start the second one sooner: the isolate that the worker prepares after a run has the
 * heap limit of that run, and the worker has the trees of that run's library.
 */
export interface Affinity {
  readonly memoryBytes: number;
  /** The longest source that may be used again; null when there is none. A weak reference, so that no worker keeps it alive. */
  readonly library: WeakRef<Source> | null;
}

export function affinityOf({ sources, limits }: RunInput): Affinity {
  let library: Source | null = null;
  for (const source of sources) if (isCacheable(source) && source.text.length > (library?.text.length ?? 0)) library = source;
  return { memoryBytes: limits.memoryBytes, library: library === null ? null : new WeakRef(library) };
}

/** A library that was collected counts as none. */
export function isSameAffinity(one: Affinity | null, other: Affinity | null): boolean {
  if (one === null || other === null || one.memoryBytes !== other.memoryBytes) return false;
  return one.library?.deref() === other.library?.deref();
}
