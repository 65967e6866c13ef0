import { createRuntime, type RunResult, type Runtime } from '../src/entries/index.ts';
import type { Engine } from './compare.ts';
import { OURS, OURS_KEPT } from './names.ts';
import type { Workload } from './workloads.ts';

/** A run of ours in a fresh fork, from text to result. */
export interface OwnRun extends Pick<RunResult, 'usage'> {
  readonly value: unknown;
  readonly ms: number;
  readonly error: string | null;
}

/** Runs texts as one program. */
export async function perform(runtime: Runtime, texts: readonly string[]): Promise<OwnRun> {
  const fork = runtime.interpreter().fork();
  const start = performance.now();
  const { error, values, usage } = await fork.runRequest({
    sources: texts.map((text, index) => ({ name: `${index}.ns`, text })),
  });
  const ms = performance.now() - start;
  return { value: values[0], ms, usage, error: error === null ? null : `${error.code}: ${error.message}` };
}

/** As {@link perform}. Throws when the program fails or emits anything but the expected result. */
export async function performRight(runtime: Runtime, texts: readonly string[], result: unknown): Promise<OwnRun> {
  const run = await perform(runtime, texts);
  if (run.error !== null) throw new Error(run.error);
  if (run.value !== result) throw new Error(`a program emitted ${JSON.stringify(run.value)} instead of ${result}`);
  return run;
}

/** The texts of a program in the language of ours. */
export function textsOf({ library, commands }: Workload['neuroscript']): readonly string[] {
  return library === undefined ? [commands] : [library, commands];
}

/** This project: a prewarmed worker process, a fresh isolate per run or one that is kept, all limits on. */
export async function openOurs(isolation: 'run' | 'tenant' = 'run'): Promise<Engine> {
  const runtime = await createRuntime({ isolation });
  return {
    name: isolation === 'run' ? OURS : OURS_KEPT,
    boundary: 'process + isolate',
    async run({ neuroscript }) {
      const { error, ...run } = await perform(runtime, textsOf(neuroscript));
      if (error !== null) throw new Error(error);
      return run;
    },
    [Symbol.asyncDispose]: () => runtime.close(),
  };
}
