import type { Workload } from './workloads.ts';

/** Something that runs programs, open and warm: one run is one program in a sandbox of its own. */
export interface Engine extends AsyncDisposable {
  readonly name: string;
  /** What stands between the program and the host. */
  readonly boundary: string;
  /** Runs once and gives the result as the engine saw it. */
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

/** Whether an import failed because the package is not there, which is how a published installation looks. */
export function isMissing(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && (error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND')
  );
}
