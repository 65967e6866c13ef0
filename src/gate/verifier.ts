import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';

/** The program that knows the approvals. It gets the UUID and the hash as its last two arguments. */
export interface Verifier {
  /** A path, or a name that is looked up in PATH. It is started without a shell. */
  readonly command: string;
  /** Arguments before the UUID and the hash. */
  readonly args: readonly string[];
  /** Milliseconds after which it is killed and counts as broken. Default 30 000. */
  readonly timeoutMs?: number;
}

/** The meaning of the verifier's exit; `uncallable` when it could not be started. */
export type Approval = 'approved' | 'not approved' | 'broken' | 'uncallable';

const TIMEOUT_MS = 30_000;

/** Interpreters, and the flags without a value that may stand before their script. */
const INTERPRETERS: readonly (readonly [RegExp, RegExp])[] = [
  [/(?:^|\/)python[\d.]*$/, /^-[bBdEiIOPqRsSuvx]+$/],
  [/(?:^|\/)node$/, /^--(?:no|enable|disable|experimental)-[a-z-]+$/],
  [/(?:^|\/)(?:ba|da)?sh$/, /^-[eux]+$/],
];

/**
 * Whether the files of the verifier exist: the command if it is a path, and the first argument if it looks like a script. Flags
 * of an interpreter may stand before the script. A command without a path is checked only by starting it.
 */
export function isPresent({ command, args }: Verifier): boolean {
  const flags = INTERPRETERS.find(([name]) => name.test(command))?.[1];
  const script = args.find((word) => flags?.test(word) !== true) ?? '';
  const files = [command.includes('/') ? command : '', /^[^-].*\/|^[^-].*\.[A-Za-z]{1,4}$/.test(script) ? script : ''];
  return files.filter((path) => path !== '').every((path) => statSync(path, { throwIfNoEntry: false }) !== undefined);
}

/**
 * Starts the verifier once and waits for its exit code, which alone decides. Its output goes to the standard error of this
 * process and is not read.
 */
export function runVerifier({ command, args, timeoutMs = TIMEOUT_MS }: Verifier, intentId: string, hash: string): Approval {
  // `spawnSync` takes a timeout of 0 for no timeout.
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

const WORD = /^\s+|^(?:'[^']*'|"[^"]*"|[^\s'"|&;<>()$`]+)+/;

/**
 * Parses the verifier of a command line: words, which single or double quotes may hold together. Nothing is expanded,
 * because no shell runs. Null for no word, for an open quote, and for unquoted characters that only a shell would interpret
 * (`|`, `;`, `$` …).
 */
export function parseVerifier(text: string): Verifier | null {
  const words: string[] = [];
  for (let rest = text; rest !== ''; ) {
    const [piece = ''] = WORD.exec(rest) ?? [];
    if (piece === '') return null;
    rest = rest.slice(piece.length);
    if (piece.trim() !== '') words.push(piece.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'));
  }
  const [command = '', ...args] = words;
  return command === '' ? null : { command, args };
}
