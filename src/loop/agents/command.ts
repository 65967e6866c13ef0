import { type ChildProcess, spawn } from 'node:child_process';
import { ConfigError } from '../../wire/errors.ts';
import { checkList, checkOptions, type KeysOf } from '../../wire/options.ts';
import { type Agent, AgentError, type AgentRequest, REPLY_CHARACTERS } from './agent.ts';
import { checkTimeout, fullPrompt } from './brief.ts';

/** What a {@link commandAgent} is made from. */
export interface CommandAgentOptions {
  /** The program and its arguments. There is no shell: nothing in them is expanded. */
  readonly argv: readonly string[];
  /** Most milliseconds of one reply; two minutes when absent. Then the command is killed. */
  readonly timeoutMs?: number;
  /** Where it runs; the working directory of this process when absent. */
  readonly cwd?: string;
  /** Its whole environment; that of this process when absent. */
  readonly env?: Readonly<Record<string, string>>;
}

const KEYS: KeysOf<CommandAgentOptions> = { argv: true, timeoutMs: true, cwd: true, env: true };

const TIMEOUT_MS = 120_000;
/** Bytes of standard error that are kept for the message of a command that failed. */
const ERROR_BYTES = 2000;

/**
 * An agent that is a command, started anew for every reply: the system text and the prompt on its standard input, the
 * reply on its standard output, exit code 0. `NEUROSCRIPT_SID`, `NEUROSCRIPT_TURN` and `NEUROSCRIPT_ATTEMPT` tell it where
 * it is. It is killed, with all it has started in its process group, when its time is up, the session is cancelled, or it
 * has said more than an envelope can hold. Throws {@link ConfigError} for options that cannot be used.
 */
export function commandAgent(options: CommandAgentOptions): Agent {
  checkOptions('the options of a command agent', options, KEYS);
  checkList('argv of a command agent', options.argv);
  const [file, ...args] = options.argv;
  if (file === undefined || file === '' || options.argv.some((word) => typeof word !== 'string' || word.includes('\0')))
    throw new ConfigError('argv of a command agent must be texts, and the first one names a program');
  const timeoutMs = checkTimeout(options.timeoutMs ?? TIMEOUT_MS);
  return { name: file, reply: (request) => runCommand(file, args, { ...options, timeoutMs }, request) };
}

type Running = Omit<CommandAgentOptions, 'argv'> & { readonly timeoutMs: number };

function runCommand(file: string, args: readonly string[], options: Running, request: AgentRequest): Promise<string> {
  const { sid, turn, attempt, signal } = request;
  const where = { NEUROSCRIPT_SID: sid, NEUROSCRIPT_TURN: String(turn), NEUROSCRIPT_ATTEMPT: String(attempt) };
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      env: { ...(options.env ?? process.env), ...where },
      // A group of its own: what it starts ends with it.
      detached: true,
      windowsHide: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    });
    const fail = (why: string, reason?: 'ERR_TIMEOUT' | 'ERR_CANCELLED', cause?: unknown): void =>
      end(() => reject(new AgentError(turn, `turn ${turn} has no reply: ${why}`, reason, { cause })));
    const cancel = (): void => fail('the agent was given up', 'ERR_CANCELLED');
    const timer = setTimeout(() => fail(`${file} was killed after ${options.timeoutMs} ms`, 'ERR_TIMEOUT'), options.timeoutMs);
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      killGroup(child);
      child.stdout.destroy();
      child.stderr.destroy();
      child.stdin.destroy();
      settle();
    };
    signal.addEventListener('abort', cancel, { once: true });
    let reply = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      reply += text;
      // More than an envelope: what is there is refused for its size, so nobody needs the rest.
      if (reply.length >= REPLY_CHARACTERS) end(() => resolve(reply));
    });
    let complaint = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-ERROR_BYTES);
    });
    child.on('error', (error) => fail(`${file} could not be started: ${reasonOf(error)}`, undefined, error));
    child.on('close', (code, by) => {
      if (code === 0) return end(() => resolve(reply));
      fail(`${file} ended with ${code === null ? by : `code ${code}`}${lastLine(complaint)}`);
    });
    // One that answers without reading closes its end early, which is its own business.
    child.stdin.on('error', () => {});
    child.stdin.end(fullPrompt(request));
  });
}

function killGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    if (process.platform !== 'win32') process.kill(-pid, 'SIGKILL');
    else if (exitCode === null && signalCode === null) process.kill(pid, 'SIGKILL');
  } catch {
    // Nobody is left of it.
  }
}

function reasonOf(error: Error): string {
  const code = 'code' in error ? error.code : undefined;
  return code === 'ENOENT' ? 'there is no such program' : code === 'EACCES' ? 'it is not executable' : error.message;
}

function lastLine(text: string): string {
  const line = text.trimEnd().split('\n').at(-1)?.trim() ?? '';
  return line === '' ? '' : `: ${line.slice(0, 300)}`;
}
