import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** A Node of another line, and what to do when it is no longer needed. */
export interface OtherNode extends Disposable {
  readonly binary: string;
  readonly version: string;
}

/** A Node of one of the major versions: one that the search path offers, else the npm package `node` in a temporary folder. */
export function otherNode(wanted: readonly [number, ...number[]]): OtherNode {
  const found = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  for (const binary of found) {
    const version = versionOf(binary);
    if (version !== null && wanted.includes(majorOf(version))) return { binary, version, [Symbol.dispose]: () => {} };
  }
  const folder = mkdtempSync(join(tmpdir(), 'neuroscript-node-'));
  execFileSync('npm', ['install', '--no-save', '--no-package-lock', '--prefix', folder, `node@${wanted[0]}`], {
    cwd: folder,
    stdio: 'pipe',
  });
  const binary = join(folder, 'node_modules', 'node', 'bin', 'node');
  const version = versionOf(binary);
  if (version === null || majorOf(version) !== wanted[0])
    throw new Error(`npm's node@${wanted[0]} gave ${version ?? 'no binary'}`);
  return { binary, version, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

function majorOf(version: string): number {
  return Number(/^v(\d+)\./.exec(version)?.[1]);
}

/** What a binary says it is; null when there is none or it cannot be run. */
function versionOf(binary: string): string | null {
  try {
    return execFileSync(binary, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch (error) {
    if (error instanceof Error) return null;
    throw error;
  }
}
