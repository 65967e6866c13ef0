// @module-tag slow
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { BUNDLED } from '../../scripts/bundled.ts';
import { installed, prepared, run, TOOLS } from './kit.ts';

const MB = 1_000_000;
const tool = (name: string): string => join(TOOLS, 'node_modules', '.bin', name);

describe('the tarball', () => {
  let files: readonly string[] = [];
  const read = (path: string): string => readFileSync(join(installed(), path), 'utf8');
  beforeAll(() => {
    files = globSync('**/*', { cwd: installed(), exclude: ['node_modules'] }).filter((path) =>
      statSync(join(installed(), path)).isFile(),
    );
  });

  it('has at most 2.2 MB', () => {
    expect(statSync(prepared().tarball).size).toBeLessThan(2.2 * MB);
  });

  it('holds what is built and what describes it, and neither sources, tests nor maps', () => {
    const folders = [...new Set(files.filter((path) => path.includes('/')).map((path) => path.split('/')[0]))];
    expect(folders).toEqual(expect.arrayContaining(['bin', 'conformance', 'dist', 'docs', 'examples']));
    expect(files.filter((path) => /\.map$|^(?:test|src|scripts)\/|^apps\/(?!inspector\/dist\/)/.test(path))).toEqual([]);
    // The library and the command line are bundled, and comments are with the types.
    const modules = files.filter((path) => /^dist\/.*\.js$/.test(path) && !/^dist\/(?:chunks\/|[^/]+$)/.test(path));
    const programs = [
      'bench/child',
      'bench/echo',
      'bench/main',
      'bench/ours',
      'bench/quickjschild',
      'src/entries/supported',
      'src/gate/main',
    ];
    expect(modules.sort()).toEqual([...entries(read('package.json')), ...programs.map((path) => `dist/${path}.js`)].sort());
    expect(files.filter((path) => /^dist\/(?:src\/(?:cli|lsp)\/|bench\/.*\.d\.ts$)/.test(path))).toEqual([]);
    expect(files.filter((path) => path.startsWith('dist/chunks/') && read(path).includes('/**'))).toEqual([]);
  });

  it('brings the page of the inspector along: one script, one style sheet, and the licences of what they contain', () => {
    const page = files.filter((path) => path.startsWith('apps/inspector/'));
    expect(page.map((path) => path.replace(/-[\w-]{8}\./, '-HASH.')).sort()).toEqual([
      'apps/inspector/dist/THIRD-PARTY-NOTICES.md',
      'apps/inspector/dist/assets/index-HASH.js',
      'apps/inspector/dist/assets/style-HASH.css',
      'apps/inspector/dist/index.html',
    ]);
    const notices = read('apps/inspector/dist/THIRD-PARTY-NOTICES.md');
    for (const name of ['preact', 'diff', 'd3-flame-graph', '@noble/ed25519']) expect(notices).toContain(`## ${name} `);
  });

  it('its manifest has no script of a checkout, and no package for development', () => {
    const own = JSON.parse(read('package.json'));
    expect(own.scripts).toEqual({ preinstall: 'node bin/preinstall.cjs' });
    expect(own).not.toHaveProperty('devDependencies');
  });

  it('publint finds no fault', () => {
    expect(run(tool('publint'), ['run', '--strict', prepared().tarball], { cwd: TOOLS })).toMatchObject({
      status: 0,
      stderr: '',
    });
  });

  it('the types of every entry point resolve for importers', () => {
    // The entry points are modules only; a CommonJS project reads them with `require` of Node 24, which TypeScript knows as `nodenext`.
    const report = run(tool('attw'), ['--profile', 'esm-only', '--quiet', prepared().tarball], { cwd: TOOLS });
    expect(report.status, report.stdout.slice(-2000)).toBe(0);
  });

  it('has a bill of its dependencies, and their licences', () => {
    const { components } = bill.parse(JSON.parse(read('sbom.cdx.json')));
    const { dependencies } = manifest.parse(JSON.parse(read('package.json')));
    const named = components.map(({ group, name }) => (group === undefined ? name : `${group}/${name}`));
    expect(named).toEqual(expect.arrayContaining(Object.keys(dependencies)));
    expect(components.filter(({ scope }) => scope === 'excluded')).toEqual([]);
    const notices = read('THIRD-PARTY-NOTICES.md');
    expect(named.filter((name) => !notices.includes(`## ${name} `))).toEqual([]);
  });

  it('SECURITY.md names the packages whose code the bundles contain', () => {
    const code = files
      .filter((path) => /^dist\/.*\.js$/.test(path))
      .map(read)
      .join('\n');
    const imports = [...code.matchAll(/(?:\bfrom|\bimport\(?) ?["'`]((?:@[\w-]+\/)?[a-z][\w.-]*)/g)].map(([, name]) => name);
    expect(BUNDLED.filter((name) => imports.includes(name))).toEqual([]);
    const [, said = ''] = /contain the code of (.*?)\. A fix/s.exec(read('SECURITY.md')) ?? [];
    expect(said.split(/,\s|\sand\s/).sort()).toEqual([...BUNDLED].sort());
  });
});

/** The modules that a package.json exports. */
function entries(text: string): string[] {
  const { exports: exported } = z.object({ exports: z.record(z.string(), z.unknown()) }).parse(JSON.parse(text));
  const module = z.object({ default: z.string().transform((path) => path.slice('./'.length)) });
  return Object.values(exported).flatMap((each) => (typeof each === 'string' ? [] : [module.parse(each).default]));
}

const manifest = z.object({ dependencies: z.record(z.string(), z.string()) });
const bill = z.object({
  components: z.array(z.object({ group: z.string().optional(), name: z.string(), scope: z.string().optional() })),
});
