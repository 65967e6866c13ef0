import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';

/** The program that knows the approvals. It gets the UUID and the hash as its last two arguments. */
export interface Verifier {
  /** A path, or a name that is looked up in PATH. It is started without a shell. */
  readonly command: string;
  /** Arguments before the UUID and the hash. */
  readonly args: readonly string[];
  /** Milliseconds after which it is killed and counts as broken. Default 30,000. */
  readonly timeoutMs?: number;
}

/** The meaning of the verifier's exit; `uncallable` when it could not be started. */
export type Approval = 'approved' | 'not approved' | 'broken' | 'uncallable';

const TIMEOUT_MS = 30_000;

/** Programs that run another, the options that may stand before it, and those of them that take the next word as their value. */
const STARTERS: readonly (readonly [name: RegExp, option: RegExp, valued: RegExp])[] = [
  [/(?:^|\/)python[\d.]*$/, /^-(?:[bBdEiIOPqRsSuvx]*[WX].+|[bBdEiIOPqRsSuvx]+)$/, /^-[bBdEiIOPqRsSuvx]*[WX]$/],
  [
    /(?:^|\/)node$/,
    /^--(?:no|enable|disable|experimental)-[a-z-]+$|^--(?!eval|print)[a-z-]+=/,
    /^(?:-[rC]|--require|--import|--conditions)$/,
  ],
  [/(?:^|\/)(?:ba|da)?sh$/, /^[-+][eux]+$/, /^[-+][eux]*o$/],
];
const ENV = [/(?:^|\/)env$/, /^-i?$|^--ignore-environment$|^[A-Za-z_]\w*=/, /^-u$/] as const;

/**
 * Whether the files of the verifier exist: the command if it is a path, and the first argument if it looks like a script. Options
 * of an interpreter may stand before the script, and `env` before the command. A command without a path is checked only by starting it.
 */
export function isPresent({ command, args }: Verifier): boolean {
  return filesOf(command, args).every((path) => statSync(path, { throwIfNoEntry: false }) !== undefined);
}

function filesOf(command: string, args: readonly string[]): readonly string[] {
  const own = command.includes('/') ? [command] : [];
  const [, option, valued] = [ENV, ...STARTERS].find(([name]) => name.test(command)) ?? [];
  let next = 0;
  for (let word = args[0]; word !== undefined && option !== undefined; word = args[next])
    if (valued?.test(word) === true) next += 2;
    else if (option.test(word)) next += 1;
    else break;
  const [script = '', ...rest] = args.slice(next);
  if (option === ENV[1]) return [...own, ...filesOf(script, rest)];
  return /^[^-].*\/|^[^-].*\.[A-Za-z]{1,4}$/.test(script) ? [...own, script] : own;
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
