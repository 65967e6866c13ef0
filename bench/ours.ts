import { createRuntime } from '../src/entries/index.ts';
import { type Engine, timed } from './engine.ts';
import { OURS, OURS_KEPT } from './names.ts';

/** This project: a prewarmed worker process, a fresh isolate per run or one that is kept, all limits on. */
export async function openOurs(isolation: 'run' | 'tenant' = 'run'): Promise<Engine> {
  const runtime = await createRuntime({ isolation });
  return {
    name: isolation === 'run' ? OURS : OURS_KEPT,
    boundary: 'process + isolate',
    run: ({ neuroscript: { library, commands } }) =>
      timed(async () => {
        const sources = library === undefined ? [] : [{ name: 'lib', text: library }];
        const fork = runtime.interpreter().fork();
        const { error, values } = await fork.runRequest({ sources: [...sources, { name: 'src', text: commands }] });
        if (error !== null) throw new Error(`${error.code}: ${error.message}`);
        return values[0];
      }),
    [Symbol.asyncDispose]: () => runtime.close(),
  };
}
