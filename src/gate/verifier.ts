import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';

/** The program that knows what was approved: it is given the UUID and the hash as its last two arguments. */
export interface Verifier {
  /** A path, or a name that is looked up in PATH. No shell reads it. */
  readonly command: string;
  /** Arguments before the UUID and the hash. */
  readonly args: readonly string[];
  /** Milliseconds after which it is killed and counts as broken; 30 000 when absent (AMB-53i). */
  readonly timeoutMs?: number;
}

/** What the end of the verifier means; `uncallable` is one that never started. */
export type Approval = 'approved' | 'not approved' | 'broken' | 'uncallable';

const TIMEOUT_MS = 30_000;

/**
 * Whether the files that make up the verifier are there (ARGO-3-1): the command where it is a path, and the script where its
 * first argument looks like one. A bare command name is left to the attempt to start it.
 */
export function isPresent({ command, args: [script = ''] }: Verifier): boolean {
  const files = [command.includes('/') ? command : '', /^[^-].*\/|^[^-].*\.[A-Za-z]{1,4}$/.test(script) ? script : ''];
  return files.filter((path) => path !== '').every((path) => statSync(path, { throwIfNoEntry: false }) !== undefined);
}

/**
 * Starts the verifier once, waits for its end and looks at its exit code and at nothing else. What it prints goes to our
 * standard error and cannot be read here (ARGO-3-3d, AMB-53g).
 */
export function runVerifier({ command, args, timeoutMs = TIMEOUT_MS }: Verifier, intentId: string, hash: string): Approval {
  // A timeout of 0 would mean none.
  if (!(timeoutMs > 0)) throw new RangeError(`the verifier's timeoutMs must be above 0, got ${timeoutMs}`);
  const { error, status } = spawnSync(command, [...args, intentId, hash], {
    shell: false,
    stdio: ['ignore', 2, 2],
    env: { PATH: process.env['PATH'] },
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  if (error !== undefined) return 'code' in error && error.code === 'ETIMEDOUT' ? 'broken' : 'uncallable';
  if (status === 0) return 'approved';
  return status === 1 ? 'not approved' : 'broken';
}
