/** Runs generated programs in workers, as a user does. */

import type { Program } from '../../conformance/language/generate/programs.ts';
import { createHostContext, createRuntime, SILENT_LOGGER } from '../../src/entries/index.ts';
import { jsonText } from '../../src/wire/tagged.ts';
import { type Done, difference, expected, LIMITS, NAME, summary, treeOf } from './both.ts';
import { programOf } from './cases.ts';
import type { Tally } from './compare.ts';

/** Programs that are under way at once. */
const AT_ONCE = 8;

/** Compares the first programs of a seed, without tools and constants, run in the sandbox, with what they must do. */
export async function throughSandbox(seed: number, programs: number, into: Tally): Promise<void> {
  await using runtime = await createRuntime({ limits: { maxWorkers: 2 } });
  const one = async (index: number): Promise<void> => {
    const program = { ...programOf(seed, index, false), constants: {} };
    const file = treeOf(program);
    if (file === null) {
      into.refused++;
      return;
    }
    into.programs++;
    const wanted = expected(file, program, LIMITS);
    const end = wanted.error?.code ?? 'ok';
    into.ends.set(end, (into.ends.get(end) ?? 0) + 1);
    const what = difference(wanted, await inSandbox(runtime, program));
    if (what !== undefined) into.disagreements.push({ program, limits: LIMITS, seed, index, what });
  };
  for (let from = 0; from < programs; from += AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, programs - from) }, (_, at) => one(from + at)));
}

async function inSandbox(runtime: Awaited<ReturnType<typeof createRuntime>>, program: Program): Promise<Done> {
  const { source, call, globals, stdin, events } = program;
  const host = createHostContext({
    logger: SILENT_LOGGER,
    stdout: { write: () => true },
    ...(stdin === null ? {} : { stdin: stdin.map((line) => `${line}\n`) }),
  });
  const done = await runtime
    .interpreter({ host })
    .fork()
    .runRequest({
      sources: [{ name: NAME, text: source }],
      globals,
      limits: LIMITS,
      markedKeys: true,
      events,
      ...(call === null ? {} : { call: { name: call, args: [] } }),
    });
  return {
    emits: done.emits,
    values: done.values.map(jsonText),
    whispers: done.whispers,
    result: jsonText(done.result),
    eventErrors: done.eventErrors.map(({ event, error }) => ({ event, error: summary(error) })),
    error: done.error === null ? null : summary(done.error),
    fuel: done.usage.fuel,
    calls: [],
  };
}
