import { ConfigError } from '../wire/errors.ts';
import { type Bubblewrap, findBubblewrap } from './bubblewrap.ts';

/**
 * Whether workers stand in a cage of the operating system: `auto` where the machine can, `required` or not at all, `none`
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

/** Why the launcher that was found does not work here, once that has been seen. */
let broken: string | null = null;

/** Throws {@link ConfigError} for an unknown choice, and when a launcher is required that this machine does not have. */
export function chooseLauncher(choice: LauncherChoice): Launcher {
  if (!LAUNCHERS.includes(choice))
    throw new ConfigError(`launcher must be one of ${LAUNCHERS.join(', ')}, got '${String(choice)}'`);
  if (choice === 'none') return { bubblewrap: null, reason: 'it was switched off' };
  const found = broken ?? findBubblewrap();
  if (typeof found !== 'string') return { bubblewrap: found, reason: null };
  if (choice === 'required') throw new ConfigError(`the launcher is required and cannot be used: ${found}`);
  return { bubblewrap: null, reason: found };
}

/** Starts without the launcher that was tried in vain; its reason is remembered once the sandbox works without it. */
export function withoutLauncher(reason: string): { readonly launcher: Launcher; remember(): void } {
  return {
    launcher: { bubblewrap: null, reason },
    remember() {
      broken = reason;
    },
  };
}
