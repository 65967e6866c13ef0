import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importsOf, partOf } from '../architecture/imports.ts';
import { PARTS } from '../architecture/parts.ts';
import { filesBelow, ROOT, sourceOf } from '../architecture/source.ts';

const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');

/** One stop of a walk: a file, the function of its level, and whether another process or the isolate begins with it. */
interface Stop {
  readonly path: string;
  readonly verb: string;
  readonly crosses: boolean;
}

function walkOf(heading: string): Stop[] {
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const items = (section.split('\n## ')[0] ?? '').matchAll(/^\d+\. (_[^_]+:_ )?`([^`]+)`, `([^`]+)`:/gm);
  return [...items].map(([, crossing, path = '', verb = '']) => ({ path, verb, crosses: crossing !== undefined }));
}

/** Whether one of two files imports the other, by itself or through the index of the other's part. */
function connected(one: string, other: string): boolean {
  return reaches(one, other) || reaches(other, one);
}

function reaches(from: string, to: string): boolean {
  const face = partOf(from) === partOf(to) ? to : `src/${partOf(to)}/index.ts`;
  return importsOf(sourceOf(from)).some((each) => each.to === to || each.to === face);
}

describe('docs/architecture.md', () => {
  it('names only paths that exist', () => {
    const paths = [...page.matchAll(/`((?:[\w-]+\/)+(?:[\w-]+\.\w+)?|[\w-]+\.md)`/g)].map(([, path = '']) => path);
    expect(paths.length).toBeGreaterThan(30);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('draws every part, and only arrows that the table of parts allows', () => {
    const [, picture = ''] = page.split('```');
    const missing = PARTS.filter(({ name }) => !new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(picture));
    expect(missing).toEqual([]);
    const arrows = [...picture.matchAll(/(?<![\w-])([a-z-]+) ─+► (?=([a-z-]+))/g)];
    expect(arrows.length).toBeGreaterThan(7);
    for (const [, from = '', to = ''] of arrows) expect(PARTS.find(({ name }) => name === from)?.imports).toContain(to);
  });

  it.each(['One run', 'One tool call', 'One envelope'])('%s: at most ten files, connected by imports', (heading) => {
    const walk = walkOf(heading);
    expect(walk.length).toBeGreaterThan(5);
    expect(walk.length).toBeLessThanOrEqual(10);
    for (const [index, { path, verb, crosses }] of walk.entries()) {
      for (const name of verb.split('.')) expect(sourceOf(path).text).toMatch(new RegExp(`\\b${name}\\b`));
      // A call that has returned leads on to the next one, so an earlier file may make the connection.
      const earlier = walk.slice(0, index).map((stop) => stop.path);
      if (index > 0 && !crosses) expect(earlier.filter((stop) => connected(stop, path))).not.toEqual([]);
    }
  });
});

describe('docs/implementation.md', () => {
  it('has every file of the guest in its reading order', () => {
    const [, order = ''] = readFileSync(join(ROOT, 'docs/implementation.md'), 'utf8').split('## ');
    const named = [...order.matchAll(/`((?:flow\/)?\w+\.ts|pure\/)`/g)].map(([, name = '']) => name);
    const files = filesBelow('src/guest', '.ts').map((path) => path.replace('src/guest/', '').replace(/^pure\/.*/, 'pure/'));
    expect(named.sort()).toEqual([...new Set(files)].sort());
  });
});
