// @module-tag slow
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ROOT } from '../architecture/source.ts';
import { markedBlocks } from '../readme/blocks.ts';
import { ENTRIES, PROGRAM, prepared, projectOf, run, succeed, TOOLS } from './kit.ts';

const RUN = `createRuntime().then(async (runtime) => {
  console.log((await runtime.run(${JSON.stringify(PROGRAM)})).emits);
  await runtime.close();
});`;
const node = (cwd: string, file: string): string => succeed(process.execPath, [join(cwd, file)], { cwd });

describe('a project in JavaScript', () => {
  it('of modules imports every entry point, and runs a program', () => {
    const imports = ENTRIES.map((entry, index) => `import * as e${index} from '${entry}';`).join('\n');
    const kinds = `console.log([${ENTRIES.map((_, index) => `e${index}`)}].every((entry) => typeof entry === 'object'));`;
    const cwd = projectOf({ 'index.mjs': `${imports}\nconst { createRuntime } = e0;\n${kinds}\n${RUN}\n` });
    expect(node(cwd, 'index.mjs')).toBe("true\n[ '3' ]\n");
  });

  it('of CommonJS requires every entry point, and runs a program', () => {
    const required = `${JSON.stringify(ENTRIES)}.every((entry) => typeof require(entry) === 'object')`;
    const cwd = projectOf({
      'index.cjs': `console.log(${required});\nconst { createRuntime } = require('neuroscript-runtime');\n${RUN}\n`,
    });
    expect(node(cwd, 'index.cjs')).toBe("true\n[ '3' ]\n");
  });
});

const HOST = `
import { type BusyError, createRuntime, defineTool, type RunResult, type Runtime, type ToolRuntime } from 'neuroscript-runtime';
${ENTRIES.slice(1)
  .map((entry, index) => `import * as e${index} from '${entry}';`)
  .join('\n')}
const double = defineTool({ name: 'tool.my.Double', args: [{ name: 'n', type: 'int' }], run: ({ n }) => n * 2 });
await using runtime = await createRuntime({ tools: [double], policy: { allow: ['tool.my.*'] } });
const { emits }: RunResult = await runtime.run('command\\n  emit tool.my.Double(4)\\nendcommand');
// What these give has a name, so that a project that writes declarations need not write types.
export const known = (runtime: Runtime) => [runtime.stats(), runtime.lacks, runtime.foresee(''), runtime.parse([])] as const;
export const told = ({ labels }: RunResult, { call }: ToolRuntime, { limit }: BusyError) => ({ labels, call, limit });
console.log(emits, [${ENTRIES.slice(1).map((_, index) => `e${index}`)}].length);
`;
const MODULES = { nodenext: { module: 'nodenext' }, bundler: { module: 'esnext', moduleResolution: 'bundler' } };
const PROJECTS = Object.entries(MODULES).map(([name, options]) => ({ name, ...options }));

describe('a project in TypeScript', () => {
  it.each(PROJECTS)('compiles, the declarations of the package too: $name', ({ name: _, ...options }) => {
    const checks = { skipLibCheck: false, strict: true, declaration: true };
    const compilerOptions = { ...options, ...checks, target: 'es2024', types: ['node'], noEmit: true };
    const cwd = projectOf({
      'package.json': '{ "type": "module" }',
      'tsconfig.json': JSON.stringify({ compilerOptions, include: ['*.ts'] }),
      'host.ts': HOST,
    });
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    expect(run(process.execPath, [tsc, '-p', '.'], { cwd })).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  it('runs what it compiles', () => {
    const cwd = projectOf({ 'package.json': '{ "type": "module" }', 'host.ts': HOST });
    expect(node(cwd, 'host.ts')).toBe(`[ '8' ] ${ENTRIES.length - 1}\n`);
  });
});

describe('a bundled program', () => {
  const page = readFileSync(join(ROOT, 'docs', 'install.md'), 'utf8');
  const [host = ''] = /(?<=```js\n)[^`]*/.exec(page) ?? [];
  const bundles = markedBlocks(page, 'bundle').map(({ code }) => ({ bundler: code.split(' ')[1], code }));

  it.each(bundles)(
    'of $bundler, made as docs/install.md says, runs a program where this package is not installed',
    ({ code }) => {
      const cwd = projectOf({ 'package.json': '{ "type": "module" }', 'host.js': host, 'app/package.json': '{}' });
      const path = [join(TOOLS, 'node_modules', '.bin'), join(ROOT, 'node_modules', '.bin')];
      // `npx` would look for the bundlers in the project, where a user has installed them.
      const script = `ln -s "$PROJECT/node_modules" node_modules\n${code.replaceAll('npx ', '')}`;
      succeed('bash', ['-euo', 'pipefail', '-c', script], { cwd, path, env: { PROJECT: prepared().project } });
      const server = mkdtempSync(join(tmpdir(), 'neuroscript-server-'));
      onTestFinished(() => rmSync(server, { recursive: true, force: true }));
      cpSync(join(cwd, 'app'), server, { recursive: true });
      expect(node(server, 'host.mjs')).toBe("[ '3' ]\n");
    },
  );

  it.each(['aeiou', 'browser', 'grammar'])('for a page can contain ./%s', (entry) => {
    const cwd = projectOf({ 'page.js': `export * from 'neuroscript-runtime/${entry}';\n` });
    // For a page, a bundler refuses modules of Node.
    succeed(join(TOOLS, 'node_modules/.bin/esbuild'), ['page.js', '--bundle', '--platform=browser', '--outfile=page.mjs'], {
      cwd,
    });
  });

  it('without its files fails with a sentence that names the option', () => {
    const cwd = projectOf({ 'host.js': `import { createRuntime } from 'neuroscript-runtime';\n${RUN}\n` });
    const rolldown = join(ROOT, 'node_modules', '.bin', 'rolldown');
    succeed(rolldown, ['host.js', '--platform', 'node', '--format', 'esm', '--file', 'app/host.mjs'], { cwd });
    const { status, stderr } = run(process.execPath, [join(cwd, 'app', 'host.mjs')], { cwd });
    expect(status).toBe(1);
    expect(stderr).toContain("a bundle does not contain the files of the worker; pass the option 'files'");
  });
});
