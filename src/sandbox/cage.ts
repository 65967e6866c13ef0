import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Hold } from './confinement.ts';

/** A file or folder of this machine, and its path for the worker. */
export interface Bind {
  readonly from: string;
  readonly to: string;
}

/** The command that the host spawns to start a worker in a sandbox. */
export interface CageCommand {
  readonly path: string;
  readonly args: readonly string[];
  /** The bytes that the program reads from descriptor 4; null when it has no such descriptor. */
  readonly input: Uint8Array | null;
}

/** A program of this machine that starts a worker in a sandbox of the operating system. */
export interface Cage {
  readonly name: 'bubblewrap' | 'unshare';
  /** The restrictions that it must impose on a worker. */
  readonly holds: readonly Hold[];
  /** Processes between the program and the worker. */
  readonly generations: number;
  /** Starts `program` in a root that holds the libraries of Node and `binds`, and nothing else. All of it is read-only. */
  command(binds: readonly Bind[], program: readonly string[]): CageCommand;
}

/**
 * The libraries of a program, at the paths where its loader finds them. Asks the loader, as `ldd` does, without running the program.
 * Empty when the loader is not the GNU one.
 */
export function librariesOf(binary: string): Bind[] {
  const { stdout } = spawnSync(binary, ['--version'], {
    env: { LD_TRACE_LOADED_OBJECTS: '1' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 5_000,
  });
  return [...(stdout ?? '').matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm)].flatMap(([, path]) =>
    path !== undefined && existsSync(path) ? [{ from: path, to: path }] : [],
  );
}
