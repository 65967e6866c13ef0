import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { layout, OTHER_FOLDERS, PARTS, withLayout } from './parts.ts';
import { ROOT } from './source.ts';

describe('the layout of the repository', () => {
  const folders = (path: string): string[] =>
    readdirSync(join(ROOT, path), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

  /** The folders at the root that git does not ignore. */
  const tracked = (): string[] => {
    const made = /^(?:node_modules|dist|coverage|\.git|\.cache|\.build-.*)$/;
    return folders('.').filter((name) => !made.test(name));
  };

  it('the table of parts names every folder of src and every other one of the repository', () => {
    const below = Object.keys(OTHER_FOLDERS).filter((name) => name.includes('/'));
    const known = [
      ...PARTS.map(({ name }) => name),
      ...Object.keys(OTHER_FOLDERS).filter((name) => !below.includes(name)),
      'src',
    ];
    expect([...tracked(), ...folders('src')].sort()).toEqual(known.sort());
    expect(below.filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
    expect(folders('apps').filter((name) => !below.includes(`apps/${name}`))).toEqual([]);
  });

  it('the repository has at most 14 folders at its root, and one configuration of tests', () => {
    expect(tracked().length).toBeLessThanOrEqual(14);
    expect(globSync('vitest*', { cwd: ROOT })).toEqual(['vitest.config.ts']);
  });

  it('no file outside of the tests has more than 400 lines', () => {
    const folders = 'apps,bench,conformance,examples,grammar,scripts,src,stdlib-tools,test/architecture';
    const made = (name: string): boolean => /^(?:node_modules|dist)$/.test(basename(name));
    const bundle = 'apps/editors/vscode/server.mjs';
    const files = globSync(`{${folders}}/**/*.{ts,tsx,mjs}`, { cwd: ROOT, exclude: made }).filter((path) => path !== bundle);
    expect(files.filter((path) => path.startsWith('grammar/')).length).toBeGreaterThan(80);
    expect(files.filter((path) => readFileSync(join(ROOT, path), 'utf8').split('\n').length > 401)).toEqual([]);
  });

  it('CONTRIBUTING.md shows it; `npx node scripts/layout.mjs` writes it', () => {
    const page = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
    expect(withLayout(page)).toBe(page);
    expect(withLayout('## Layout\n\n```\nold `lines`\n```\nmore')).toBe(`## Layout\n\n\`\`\`\n${layout()}\`\`\`\nmore`);
  });
});
