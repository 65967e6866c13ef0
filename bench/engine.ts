import type { Workload } from './workloads.ts';

/** An engine that is open and warm. One run is one program in a sandbox of its own. */
export interface Engine extends AsyncDisposable {
  readonly name: string;
  /** What stands between the program and the host. */
  readonly boundary: string;
  /** Runs a workload once. */
  run(workload: Workload): Promise<Timed>;
}

/** One run: its result, and its milliseconds from handing over the text to holding the result. */
export interface Timed {
  readonly value: unknown;
  readonly ms: number;
}

/** Opens an engine. Rejects when its package is not installed. */
export type Opener = () => Promise<Engine>;

/** Times a run that happens in this process. */
export async function timed(run: () => unknown): Promise<Timed> {
  const start = performance.now();
  const value = await run();
  return { value, ms: performance.now() - start };
}

/** Whether an import failed because the package is missing, as in a published installation. */
export function isMissing(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && (error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND')
  );
}
