import { getHeapStatistics } from 'node:v8';

/** Growth since the last collection for which another one is worth its 30 ms. */
const GROWTH = 8 * 1024 * 1024;

/**
 * Returns a function that collects the garbage of the worker's own realm, and gives pages back that it no longer needs: a tenth of the memory
 * of a worker at rest. It does so at the first call, and when the heap has grown since.
 */
export function tidier(collect: NodeJS.GCFunction): () => void {
  let kept = 0;
  return () => {
    if (getHeapStatistics().total_heap_size < kept + GROWTH) return;
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    kept = getHeapStatistics().total_heap_size;
  };
}
