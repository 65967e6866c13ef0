import { expect, it } from 'vitest';
import { createRuntime, defineTool, type Runtime } from '../../src/entries/index.ts';
import { command } from './sources.ts';

const SOURCE = { name: 'a.ns', text: command('emit 1') };

const QUESTIONS: Readonly<Record<string, (runtime: Runtime) => Promise<unknown>>> = {
  parse: (runtime) => runtime.parse([SOURCE]),
  check: (runtime) => runtime.check([SOURCE]),
  format: (runtime) => runtime.format(SOURCE),
  foresee: (runtime) => runtime.foresee(SOURCE.text),
};

/** Two programs at once whose tools ask this of their own runtime, when both have a worker. */
async function asked(question: (runtime: Runtime) => Promise<unknown>, maxWorkers: number) {
  let waiting = 0;
  const both = Promise.withResolvers<void>();
  const ask = defineTool({
    name: 'tool.t.Ask',
    run: async () => {
      if (++waiting === 2) both.resolve();
      await both.promise;
      await question(runtime);
      return 'answered';
    },
  });
  await using runtime: Runtime = await createRuntime({
    ...{ tools: [ask], policy: { allow: ['tool.t.*'] } },
    ...{ concurrency: 2, maxWorkers, limits: { toolMs: 5000 } },
  });
  const run = async () => {
    const { emits, error } = await runtime.run(command('emit tool.t.Ask()'));
    return error?.message ?? emits[0];
  };
  return (await Promise.all([run(), run()])).toSorted();
}

it.each(Object.entries(QUESTIONS))(
  'what a tool asks by %s does not wait for runs that wait for tools',
  async (_name, question) => {
    expect(await asked(question, 4)).toEqual(['answered', 'answered']);
    for (const outcome of await asked(question, 2))
      expect(outcome).toMatch(/^(answered|.*what a tool runs or checks needs a worker of its own, and all 2 are taken)$/);
  },
);
