import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../architecture/source.ts';
import { execute } from '../readme/execute.ts';

const PROGRAM = `
import { createRuntime, defineTool } from 'neuroscript-runtime';
import { runScript } from 'neuroscript-runtime/testing';

const tool = defineTool({ name: 'tool.a.B', args: [{ name: 'x', type: 'int' }], run: ({ x }) => x + 1 });
const count: number = (await runScript('emit tool.a.B(1)', { tools: [tool] })).fuel;
await using runtime = await createRuntime({ tools: [tool] });
// @ts-expect-error: a limit is a number
await runtime.run('', { limits: { fuel: '1' } });
export { count };
`;

it.each<[string, readonly string[]]>([
  ['with @types/node', ['node']],
  ['without it', []],
])(
  'an application of strict TypeScript compiles against the declarations %s',
  (_how, types) => {
    mkdirSync(join(ROOT, '.cache'), { recursive: true });
    const folder = mkdtempSync(join(ROOT, '.cache', 'types-'));
    try {
      const compilerOptions = {
        strict: true,
        module: 'nodenext',
        target: 'es2024',
        lib: ['es2024', 'esnext.disposable'],
        types,
        skipLibCheck: true,
        noEmit: true,
      };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['main.ts'] }));
      writeFileSync(join(folder, 'main.ts'), PROGRAM);
      expect(execute(`tsc -p ${folder}\n`)).toMatchObject({ status: 0, stdout: '' });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  60_000,
);
