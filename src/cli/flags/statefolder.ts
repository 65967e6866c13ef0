import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** The folder for what the command line keeps for its user; null without a home directory. */
export function stateFolder(env: Readonly<Record<string, string | undefined>> = process.env): string | null {
  const state = env['XDG_STATE_HOME'] ?? '';
  // The XDG specification says to ignore relative paths.
  const base = isAbsolute(state) ? state : join(homedir(), '.local', 'state');
  return isAbsolute(base) ? join(base, 'neuroscript') : null;
}
