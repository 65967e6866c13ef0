import { ConfigError } from '../wire/errors.ts';
import { type Bubblewrap, findBubblewrap } from './bubblewrap.ts';

/**
 * Whether bubblewrap confines the workers: `auto` where the machine supports it, `required` always or there is no sandbox, `none`
 * never.
 */
export type LauncherChoice = 'auto' | 'required' | 'none';

export const LAUNCHERS: readonly LauncherChoice[] = ['auto', 'required', 'none'];

/** How the workers of a sandbox are started. */
export interface Launcher {
  readonly bubblewrap: Bubblewrap | null;
  /** Why there is no bubblewrap; null when there is. */
  readonly reason: string | null;
}

/** Why bubblewrap does not work on this machine although it is installed; null while that is not known. */
let broken: string | null = null;

/** Throws {@link ConfigError} for an unknown choice, and when the launcher is required and this machine has none. */
export function chooseLauncher(choice: LauncherChoice): Launcher {
  if (!LAUNCHERS.includes(choice))
    throw new ConfigError(`launcher must be one of ${LAUNCHERS.join(', ')}, got '${String(choice)}'`);
  if (choice === 'none') return { bubblewrap: null, reason: 'it was switched off' };
  const found = broken ?? findBubblewrap();
  if (typeof found !== 'string') return { bubblewrap: found, reason: null };
  if (choice === 'required') throw new ConfigError(`the launcher is required and cannot be used: ${found}`);
  return { bubblewrap: null, reason: found };
}

/** No launcher, because bubblewrap failed. Call `remember` when the sandbox works without it: later sandboxes then do not try. */
export function withoutLauncher(reason: string): { readonly launcher: Launcher; remember(): void } {
  return {
    launcher: { bubblewrap: null, reason },
    remember() {
      broken = reason;
    },
  };
}
