import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ROOT } from './source.ts';

const FOLDERS = [
  '.ci',
  'apps',
  'bench',
  'bin',
  'clients',
  'conformance',
  'docs',
  'examples',
  'grammar',
  'scripts',
  'src',
  'stdlib-tools',
  'test',
];
const TOP = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'package.json', 'package-lock.json', '.npmrc', 'biome.json'];

describe('files that make sense on every machine', () => {
  const made = (name: string): boolean => /(?:^|\/)(?:node_modules|dist|reference)$/.test(name);
  const below = globSync(`{${FOLDERS.join()}}/**/*`, { cwd: ROOT, exclude: made });
  const files = [...below, ...TOP].filter((path) => statSync(join(ROOT, path)).isFile());

  it('no file names an absolute path of one machine or the address of a package registry', () => {
    expect(files.length).toBeGreaterThan(50);
    expect(files.flatMap((path) => placesIn(readFileSync(join(ROOT, path), 'utf8')).map((place) => `${path}: ${place}`))).toEqual(
      [],
    );
  });

  it('finds such places, and leaves ordinary text alone', () => {
    const slash = '/';
    const text = [
      `see ${slash}work/x`,
      `"${slash}root/.npmrc"`,
      `${slash}home/ann/a`,
      `${slash}Users/ann/a`,
      `https:${slash}/registry.example/a`,
    ];
    expect(text.map((line) => placesIn(line).length)).toEqual([1, 1, 1, 1, 1]);
    expect(['a/work/b', 'framework/root/x', 'https://example.org/home/a', 'src/root.ts', './work/x'].flatMap(placesIn)).toEqual(
      [],
    );
  });

  it('the lock file names no download addresses', () => {
    expect(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).not.toMatch(/"resolved"\s*:/);
  });

  it('the lock file fits package.json', () => {
    const manifest = z.object({ dependencies: names, devDependencies: names });
    const lock = z.object({ packages: z.object({ '': manifest }) }).parse(json('package-lock.json'));
    const { dependencies, devDependencies } = manifest.parse(json('package.json'));
    expect(lock.packages['']).toMatchObject({ dependencies, devDependencies });
  });

  it('issue 50: the package of the command brings every optional package that a command imports, in the same versions', () => {
    const own = z.object({ version: z.string(), peerDependencies: names }).parse(json('package.json'));
    const command = z.object({ version: z.string(), dependencies: names }).parse(json('apps/command/package.json'));
    const { postgres: _postgres, '@restatedev/restate-sdk': _restate, ...imported } = own.peerDependencies;
    expect(command).toMatchObject({
      version: own.version,
      dependencies: { ...imported, 'neuroscript-runtime': own.version },
    });
    expect(Object.keys(command.dependencies)).toHaveLength(Object.keys(imported).length + 1);
  });
});

const names = z.record(z.string(), z.string());

function json(path: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
}

function placesIn(text: string): string[] {
  return text.match(PLACES) ?? [];
}

const PLACES = /(?<![A-Za-z0-9._/-])\/(?:work|farm|root|home\/[a-z]+|Users\/[A-Za-z]+)\/|https?:\/\/(?:registry|deb)\./g;
