import { globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { layout, OTHER_FOLDERS, PARTS, withLayout } from './parts.ts';
import { ROOT } from './source.ts';

describe('the layout of the repository', () => {
  const folders = (path: string): string[] =>
    readdirSync(join(ROOT, path), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

  it('the table of parts names every folder of src and every other one of the repository', () => {
    const made = new Set(['node_modules', 'dist', 'coverage', 'src', 'bin']);
    const top = folders('.').filter((name) => !name.startsWith('.') && !made.has(name));
    const known = [...PARTS.map(({ name }) => name), ...Object.keys(OTHER_FOLDERS)];
    expect([...top, ...folders('src')].sort()).toEqual(known.sort());
  });

  it('no file outside of the tests has more than 400 lines', () => {
    const folders =
      'bench,conformance,editors,examples,grammar,inspector,lab,playground,scripts,site,src,stdlib-tools,test/architecture';
    const made = (name: string): boolean => /^(?:node_modules|dist|out|build)$/.test(basename(name));
    const files = globSync(`{${folders}}/**/*.{ts,tsx,mjs}`, { cwd: ROOT, exclude: made });
    expect(files.filter((path) => path.startsWith('grammar/')).length).toBeGreaterThan(80);
    expect(files.filter((path) => readFileSync(join(ROOT, path), 'utf8').split('\n').length > 401)).toEqual([]);
  });

  it('CONTRIBUTING.md shows it; `npx node scripts/layout.mjs` writes it', () => {
    const page = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
    expect(withLayout(page)).toBe(page);
    expect(withLayout('## Layout\n\n```\nold `lines`\n```\nmore')).toBe(`## Layout\n\n\`\`\`\n${layout()}\`\`\`\nmore`);
  });
});
