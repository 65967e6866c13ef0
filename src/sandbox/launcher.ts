import { ConfigError } from '../wire/errors.ts';
import { messageOf } from '../wire/unknown.ts';
import { findBubblewrap } from './bubblewrap.ts';
import type { Cage } from './cage.ts';
import { ALL_HOLDS, type Hold } from './confinement.ts';
import { findUnshare } from './unshare.ts';

/**
 * How workers are started. `auto`: in the best sandbox of the operating system that works on this machine, or without one. `required`:
 * only in a sandbox for which the kernel confirms own namespaces, no rights of root, a filter of system calls, and resource limits.
 * `bubblewrap`, `unshare`: only in this sandbox. `none`: without a sandbox.
 */
export type LauncherChoice = 'auto' | 'required' | Cage['name'] | 'none';

export const LAUNCHERS: readonly LauncherChoice[] = ['auto', 'required', 'bubblewrap', 'unshare', 'none'];

/** How the workers of a sandbox are started. */
export interface Launcher {
  /** The sandbox of the operating system; null when there is none. */
  readonly cage: Cage | null;
  /** Why there is no sandbox, or no better one; null for the best one. */
  readonly reason: string | null;
  /** The restrictions that the kernel must confirm before a worker gets a job. */
  readonly demands: readonly Hold[];
}

/** The best comes first. */
const CAGES: ReadonlyMap<Cage['name'], () => Cage | string> = new Map([
  ['bubblewrap', findBubblewrap],
  ['unshare', findUnshare],
]);

/** Why a sandbox of the operating system does not work on this machine although it is installed. */
const broken = new Map<Cage['name'], string>();

/**
 * Calls `open` with one launcher after another, the best first, until one works. A launcher that failed is not tried again once another
 * one has worked, because the failure was the launcher's own. Throws {@link ConfigError} for an unknown choice, and when `open` works
 * with no launcher of this choice.
 */
export async function withLauncher<T>(choice: LauncherChoice, open: (launcher: Launcher) => Promise<T>): Promise<T> {
  if (!LAUNCHERS.includes(choice))
    throw new ConfigError(`launcher must be one of ${LAUNCHERS.join(', ')}, got '${String(choice)}'`);
  if (choice === 'none') return open({ cage: null, reason: 'it was switched off', demands: [] });
  const failed = new Map<Cage['name'], string>();
  const reasons: string[] = [];
  const opened = async (cage: Cage | null): Promise<T> => {
    const demands = choice === 'required' ? ALL_HOLDS : (cage?.holds ?? []);
    const result = await open({ cage, reason: reasons.length === 0 ? null : reasons.join('; '), demands });
    for (const [name, reason] of failed) broken.set(name, reason);
    return result;
  };
  for (const [name, find] of CAGES) {
    if (choice !== 'auto' && choice !== 'required' && choice !== name) continue;
    const cage = broken.get(name) ?? find();
    if (typeof cage === 'string') {
      reasons.push(cage);
      continue;
    }
    try {
      return await opened(cage);
    } catch (error) {
      const reason = `${name} does not work: ${messageOf(error)}`;
      failed.set(name, reason);
      reasons.push(reason);
    }
  }
  if (choice !== 'auto') throw new ConfigError(`the launcher is required and cannot be used: ${reasons.join('; ')}`);
  return opened(null);
}
