import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../architecture/source.ts';

export interface OtherNode {
  readonly binary: string;
  readonly version: string;
}

/** The package with the binary alone; the package `node` installs it by a script, with an npm of its own. */
const PACKAGE = `node-${process.platform}-${process.arch}`;
const CACHE = join(ROOT, '.cache');
const cachedIn = (major: number): string => join(CACHE, `node-${major}`);
const binaryIn = (folder: string): string => join(folder, 'node_modules', PACKAGE, 'bin', 'node');

/** A Node of one of the major versions: of the search path, else npm's, which stays in `.cache/` for the next test. */
export async function otherNode(wanted: readonly [number, ...number[]]): Promise<OtherNode> {
  const offered = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  for (const binary of [...offered, ...wanted.map((major) => binaryIn(cachedIn(major)))]) {
    const version = versionOf(binary);
    if (version !== null && wanted.includes(majorOf(version))) return { binary, version };
  }
  mkdirSync(CACHE, { recursive: true });
  const fresh = mkdtempSync(join(CACHE, 'fresh-node-'));
  const flags = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', fresh];
  await promisify(execFile)('npm', ['install', ...flags, `${PACKAGE}@${wanted[0]}`], { cwd: fresh });
  const folder = cachedIn(wanted[0]);
  try {
    renameSync(fresh, folder);
  } catch {
    // Another test was first.
    rmSync(fresh, { recursive: true });
  }
  const binary = binaryIn(folder);
  const version = versionOf(binary);
  if (version === null || majorOf(version) !== wanted[0])
    throw new Error(`${PACKAGE}@${wanted[0]} gave ${version ?? 'no binary'}`);
  return { binary, version };
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
