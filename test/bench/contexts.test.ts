import { expect, it } from 'vitest';
import { benchContexts } from '../../bench/contexts.ts';

it('the benchmark of contexts measures the build that it is given', async () => {
  const build = {
    createRuntime: () => Promise.reject(new Error('the runtime of the other build')),
    defineTool: (definition: unknown) => definition as never,
    pureTools: () => [],
  };
  await expect(benchContexts(true, build)).rejects.toThrow('the runtime of the other build');
});
