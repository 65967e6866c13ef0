import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../architecture/source.ts';

/** The native interface of each version of Node, as Node publishes it. */
const ABI = { 24: 137, 25: 141, 26: 147 } as const;

const MACHINES: Readonly<Record<string, readonly [folder: string, libc?: string]>> = {
  'Linux x64, glibc': ['linux-x64', 'glibc'],
  'Linux x64, musl': ['linux-x64', 'musl'],
  'Linux arm64, glibc': ['linux-arm64', 'glibc'],
  'Linux arm64, musl': ['linux-arm64', 'musl'],
  'macOS arm64': ['darwin-arm64'],
  'Windows x64': ['win32-x64'],
  'macOS x64, others': ['darwin-x64'],
};

it('issue 50: the page of installation says for which machines and versions isolated-vm has a binary', () => {
  const binaries = join(dirname(createRequire(import.meta.url).resolve('isolated-vm')), 'prebuilds');
  const has = ([folder, ...libc]: (typeof MACHINES)[string], abi: number): string =>
    existsSync(join(binaries, folder, ['isolated-vm', `abi${abi}`, ...libc, 'node'].join('.'))) ? 'yes' : 'no';
  const rows = Object.entries(MACHINES).map(([name, machine]) => [name, ...Object.values(ABI).map((abi) => has(machine, abi))]);
  expect(rows.flat().filter((cell) => cell === 'yes').length).toBeGreaterThan(0);
  const page = readFileSync(join(ROOT, 'docs/install.md'), 'utf8');
  const table = page.slice(page.indexOf('| machine '), page.indexOf('A test compares this table'));
  const cells = table
    .trim()
    .split('\n')
    .map((line) =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1),
    );
  expect(cells[0]).toEqual(['machine', ...Object.keys(ABI).map((version) => `Node ${version}`)]);
  expect(cells.slice(2)).toEqual(rows);
});

it('and this Node is one of them, with the number that the test takes for its interface', () => {
  expect(Object.entries(ABI)).toContainEqual([process.versions.node.split('.')[0], Number(process.versions.modules)]);
});
