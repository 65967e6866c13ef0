import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ROOT } from '../architecture/source.ts';

/** How a block of code ended, and what it printed. */
export type Printed = Pick<SpawnSyncReturns<string>, 'status' | 'stdout' | 'stderr'>;

const BIN = join(ROOT, 'node_modules', '.bin');

/**
 * `npx NAME` takes most of a second of CPU time before it starts the command of this checkout. Blocks start that command at once; a test
 * compares the two.
 */
const NPX = `npx() { case $1 in -*) command npx "$@" ;; *) "${BIN}/$1" "\${@:2}" ;; esac; }\n`;

/** Runs a shell block from the root of the repository, as a reader would: with the repository's own commands in the path. */
export function execute(code: string, cwd = ROOT): Printed {
  const options = { cwd, env: environment(), encoding: 'utf8', input: '', timeout: 45_000 } as const;
  cache();
  return spawnSync('bash', ['--norc', '-euo', 'pipefail', '-c', NPX + code], options);
}

export function environment(): NodeJS.ProcessEnv {
  return {
    PATH: `${BIN}${delimiter}${process.env.PATH}`,
    HOME: process.env.HOME,
    NO_COLOR: '1',
    // The blocks load the same modules.
    NODE_COMPILE_CACHE: join(ROOT, '.cache', 'compiled'),
    // A page shows what its program prints, on machines without a launcher as well.
    NODE_OPTIONS: '--disable-warning=NEUROSCRIPT_NO_LAUNCHER',
  };
}

/** The folder of the repository for files that blocks make. */
export function cache(): string {
  const folder = join(ROOT, '.cache');
  mkdirSync(folder, { recursive: true });
  return folder;
}
