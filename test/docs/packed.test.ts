import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ROOT } from '../architecture/source.ts';
import { linksOf } from './links.ts';

/** Pages for those who change the sources: they name paths of the repository. */
const INSIDE = ['bench/README.md', ...['architecture', 'implementation', 'performance'].map((name) => `docs/${name}.md`)];
/** Packing writes it. */
const WRITTEN = 'THIRD-PARTY-NOTICES.md';

const packing = z.array(z.object({ files: z.array(z.object({ path: z.string() })) }));
/** The files of the tarball, and their folders. */
function packed(): ReadonlySet<string> {
  const said = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    shell: process.platform === 'win32',
  });
  const found: unknown = JSON.parse(said);
  const [pack] = packing.parse(Array.isArray(found) ? found : Object.values(found ?? {}));
  const paths = new Set(pack?.files.map(({ path }) => path));
  for (const path of paths) if (path.includes('/')) paths.add(dirname(path));
  return paths;
}

const PACKED = packed();
const PAGES = [...PACKED].filter((path) => path.endsWith('.md') && path !== WRITTEN).sort();
const read = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

/** Paths of the repository in code spans: from its root, or from the page's folder. */
function namedPaths(page: string, text: string): readonly string[] {
  const spans = text.matchAll(
    /`((?:\.ci|apps|bench|conformance|docs|examples|grammar|schemas|scripts|src|stdlib-tools|test)\/[\w./-]*|[\w-]+\.md)`/g,
  );
  return [...spans].flatMap(([, named = '']) => {
    const places = [named, join(dirname(page), named), join('docs', named)].map((path) => path.replace(/\/$/, ''));
    const there = places.find((path) => existsSync(join(ROOT, path)));
    return there === undefined ? [] : [there];
  });
}

const missing = (page: string, paths: readonly string[]): string[] =>
  paths.filter((path) => !PACKED.has(path)).map((path) => `${page}: ${path}`);

describe('the pages of the tarball', () => {
  it('are all of docs/, those of the root, and those of examples', () => {
    const expected = ['README.md', 'SECURITY.md', 'docs/errors/NS1.md', 'docs/tutorial.md', 'examples/mcp/README.md', ...INSIDE];
    expect(PAGES).toEqual(expect.arrayContaining(expected));
  });

  it('link only to files of the tarball', () => {
    const links = (page: string): string[] =>
      linksOf(read(page)).flatMap(([path]) => (path === '' ? [] : [join(dirname(page), path).replace(/\/$/, '')]));
    expect(PAGES.flatMap((page) => missing(page, links(page)))).toEqual([]);
  });

  it('name only paths of the tarball, but for pages about the sources', () => {
    const pages = PAGES.filter((page) => !INSIDE.includes(page));
    expect(pages.flatMap((page) => missing(page, namedPaths(page, read(page))))).toEqual([]);
  });

  it('are seen to name or link what is not packed', () => {
    expect(
      missing('docs/a.md', namedPaths('docs/a.md', 'see `src/loop/` and `docs/loop.md`, `loop.md` and `src/none.ts`')),
    ).toEqual(['docs/a.md: src/loop']);
  });
});
