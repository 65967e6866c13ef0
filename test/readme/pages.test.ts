// @module-tag slow
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { ROOT } from '../architecture/source.ts';
import { type Block, markedBlocks, matches } from './blocks.ts';
import { cache, execute } from './execute.ts';
import { Modules } from './modules.ts';

/** The pages that have blocks to run. A page that loses its last one must be taken off this list. */
const PAGES = [
  'README.md',
  'examples/injection/README.md',
  ...['aeiou', 'embedding', 'keys', 'loop', 'mcp', 'operations', 'policy', 'security', 'testing', 'tools'].map(
    (name) => `docs/${name}.md`,
  ),
];

const blocksOf = (page: string): readonly Block[] => markedBlocks(readFileSync(join(ROOT, page), 'utf8'));

it('all pages with blocks to run are known', () => {
  const all = [
    'README.md',
    ...globSync('{docs,examples,bench,conformance,apps/lab}/**/*.md', { cwd: ROOT, exclude: ['**/node_modules/**'] }),
  ];
  expect(all.filter((page) => blocksOf(page).length > 0).sort()).toEqual([...PAGES].sort());
});

const modules = new Modules();
afterAll(() => modules.close());

describe.each(PAGES)('%s', (page) => {
  it.each(blocksOf(page))('the $language block at line $line prints what the page says', async ({ language, code, output }) => {
    const { status, stdout, stderr } = language === 'ts' ? await modules.execute(code) : execute(code);
    expect(status, stderr).toBe(0);
    if (language === 'ts') expect(stderr).toBe('');
    if (output !== null && !matches(stdout, output)) expect(stdout).toBe(output);
  });
});

describe('how blocks are executed', () => {
  it('npx of a block does what npx does, in a folder below the root as well', () => {
    const below = mkdtempSync(join(cache(), 'below-'));
    onTestFinished(() => rmSync(below, { recursive: true }));
    writeFileSync(join(below, 'my tools.yaml'), 'tools:\n  tool.a.B:\n    otherwise: { returns: 1 }\n');
    const program = 'command\\n  emit tool.a.B()\\n  fail "so"\\nendcommand\\n';
    const ends = ['npx', 'command npx'].map((npx) => {
      const { status, stdout, stderr } = execute(`printf '${program}' | ${npx} neuroscript run - --tools 'my tools.yaml'`, below);
      return { status, stdout, stderr };
    });
    expect(ends[0]).toMatchObject({ status: 1, stdout: '1\n', stderr: expect.stringContaining('so') });
    expect(ends[0]).toEqual(ends[1]);
  });

  it('modules one after the other end as they would in processes of their own', async () => {
    const runs: [code: string, printed: object][] = [
      ["console.log('a'); setTimeout(() => console.error('b'), 20);", { status: 0, stdout: 'a\n', stderr: 'b\n' }],
      ["process.exitCode = 3; console.log('c');", { status: 3, stdout: 'c\n', stderr: '' }],
      ["throw new Error('no');", { status: 1, stdout: '', stderr: expect.stringContaining('Error: no') }],
      ['await new Promise(() => {});', { status: 13, stdout: '' }],
      ['console.log(1); process.exit();', { status: 0, stdout: '1\n', stderr: '' }],
      ['setInterval(() => {}, 10);', { status: null }],
      [
        "import { createRuntime } from 'neuroscript-runtime';\nconsole.log(typeof createRuntime);",
        { status: 0, stdout: 'function\n' },
      ],
    ];
    for (const [code, printed] of runs) expect(await modules.execute(code, 5000), code).toMatchObject(printed);
  });
});
