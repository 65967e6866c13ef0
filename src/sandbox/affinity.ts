import type { RunInput, Source } from '../wire/protocol.ts';
import type { Owner } from './isolates.ts';
import { isCacheable } from './sourcecache.ts';

/**
 * The properties that let a worker start a second run sooner if both runs share them: after a run, the worker prepares an isolate with
 * the heap limit of that run, and keeps the trees of its library.
 */
export interface Affinity {
  readonly memoryBytes: number;
  /** The longest source that may be used again; null without one. A weak reference, so that a worker does not keep it alive. */
  readonly library: WeakRef<Source> | null;
  /** Whose kept isolate the run may have; absent for a run in a fresh one. */
  readonly owner?: Owner | undefined;
}

export function affinityOf({ sources, limits }: RunInput, owner?: Owner): Affinity {
  let library: Source | null = null;
  for (const source of sources) if (isCacheable(source) && source.text.length > (library?.text.length ?? 0)) library = source;
  return { memoryBytes: limits.memoryBytes, library: library === null ? null : new WeakRef(library), owner };
}

/** A library that was collected counts as none. */
export function isSameAffinity(one: Affinity | null, other: Affinity | null): boolean {
  if (one === null || other === null || one.memoryBytes !== other.memoryBytes) return false;
  return one.library?.deref() === other.library?.deref();
}
