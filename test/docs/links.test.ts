import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { paths } from '../../apps/site/pages.ts';
import { ROOT } from '../architecture/source.ts';
import { anchorsOf, linksOf, orphansOf } from './links.ts';

/** Packing the tarball writes one more page, which git ignores. The pages of templates are for the folders that they are copied to. */
const WRITTEN = 'THIRD-PARTY-NOTICES.md';
const PAGES = globSync(['*.md', '{docs,examples,bench,conformance}/**/*.md'], {
  cwd: ROOT,
  exclude: [WRITTEN, 'examples/templates/**'],
}).sort();

describe('the pages name what exists', () => {
  it('finds the pages', () => {
    expect(PAGES).toEqual(expect.arrayContaining(['README.md', 'docs/loop.md', 'docs/errors/NS1.md', 'examples/mcp/README.md']));
  });

  it('every relative link leads to a file, and to a heading of it', () => {
    expect(PAGES.flatMap(brokenLinks)).toEqual([]);
  });

  it('every page and example that a page names is there', () => {
    expect(PAGES.flatMap(missingPaths)).toEqual([]);
  });

  it('there are at most 32 pages beside those of errors, and README.md leads to each in two steps', () => {
    const pages = globSync('docs/*.md', { cwd: ROOT });
    expect(pages.length).toBeLessThanOrEqual(32);
    const near = linksFrom('README.md').filter((path) => path.endsWith('.md'));
    const reached = new Set([...near, ...near.filter((path) => existsSync(join(ROOT, path))).flatMap(linksFrom)]);
    expect(pages.filter((page) => !reached.has(page))).toEqual([]);
  });
});

describe('every page', () => {
  /** Folders of pages that the site makes a list of. */
  const listed = /^docs\/errors\//;
  const linked = (without = ''): Map<string, string[]> =>
    new Map(PAGES.filter((page) => !listed.test(page)).map((page) => [page, linksFrom(page).filter((path) => path !== without)]));

  it('is in a menu of the site, or a page that is in one leads to it', () => {
    expect(orphansOf(paths, linked())).toEqual([]);
  });

  it('is missed when its menu entry, or the link to it, is removed', () => {
    expect(
      orphansOf(
        paths.filter((path) => path !== 'docs/commands.md'),
        linked('docs/commands.md'),
      ),
    ).toEqual(['docs/commands.md']);
    expect(orphansOf(paths, linked('examples/mcp/README.md'))).toEqual(['examples/mcp/README.md']);
    expect(
      orphansOf(
        ['a'],
        new Map([
          ['a', ['b']],
          ['b', ['c']],
          ['c', []],
          ['d', ['a']],
        ]),
      ),
    ).toEqual(['d']);
  });
});

describe('reading links', () => {
  it('leaves out code and addresses, and takes headings apart', () => {
    const page = '[a](b.md#c-d) [x](https://example.test/) `[no](code.md)`\n```md\n[no](block.md)\n```\n[e](#f)';
    expect(linksOf(page)).toEqual([
      ['b.md', 'c-d'],
      ['', 'f'],
    ]);
  });

  it('knows the anchors of headings as code hosts make them', () => {
    expect(anchorsOf('# One `two`, three\n## A/B: c_d\n')).toEqual(['one-two-three', 'ab-c_d']);
  });
});

function read(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

/** The pages that a page links to: a link to a folder leads to its README. */
function linksFrom(page: string): string[] {
  return linksOf(read(page)).flatMap(([path]) => {
    const target = join(dirname(page), path).replace(/\/$/, '');
    return [target, join(target, 'README.md')];
  });
}

function brokenLinks(page: string): string[] {
  return linksOf(read(page)).flatMap(([path, anchor]) => {
    const target = path === '' ? page : join(dirname(page), path);
    const found = existsSync(join(ROOT, target));
    const whole = found && (anchor === '' || anchorsOf(read(target)).includes(anchor));
    return whole ? [] : [`${page}: ${path}${anchor === '' ? '' : `#${anchor}`}`];
  });
}

/** Paths in code spans: from the root of the repository, or from the page's own folder. */
function missingPaths(page: string): string[] {
  const named = read(page).matchAll(
    /`((?:docs|examples|schemas|conformance|bench|scripts|src|stdlib-tools|test)\/[\w./-]*\w\/?|[\w-]+\.md)`/g,
  );
  return [...named].flatMap(([, path = '']) =>
    ['', dirname(page), 'docs'].some((folder) => existsSync(join(ROOT, folder, path))) ? [] : [`${page}: ${path}`],
  );
}
