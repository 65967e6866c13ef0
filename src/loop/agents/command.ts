import { spawn } from 'node:child_process';
import { killOnExit, signalChild } from '../../sandbox/index.ts';
import { ConfigError } from '../../wire/errors.ts';
import { checker, checkList, checkObject, checkText, required } from '../../wire/options.ts';
import { type Agent, AgentError, type AgentFailure, type AgentRequest, REPLY_CHARACTERS } from './agent.ts';
import { checkTimeout, fullPrompt } from './brief.ts';

/** Options of {@link commandAgent}. */
export interface CommandAgentOptions {
  /** The program and its arguments. No shell expands them. */
  readonly argv: readonly string[];
  /** Milliseconds after which the command is killed; two minutes when absent. */
  readonly timeoutMs?: number | undefined;
  /** Working directory; that of this process when absent. */
  readonly cwd?: string;
  /** The complete environment; that of this process when absent. */
  readonly env?: Readonly<Record<string, string>>;
}

const checkCommandOptions = checker<CommandAgentOptions>({
  argv: required(checkList),
  timeoutMs: checkTimeout,
  cwd: checkText,
  env: checkObject,
});

const TIMEOUT_MS = 120_000;
/** The exit code of a command that may reply later: EX_TEMPFAIL of sysexits.h. */
const LATER = 75;
/** Characters of standard error kept for the message of a failed command. */
const STDERR_CHARACTERS = 2000;

/**
 * Creates an agent from a command. The command starts anew for every reply: it reads the system text and the prompt from
 * standard input, writes the reply to standard output, and exits with 0. The variables `NEUROSCRIPT_SID`, `NEUROSCRIPT_TURN`
 * and `NEUROSCRIPT_ATTEMPT` identify the request. The command and its process group are killed when the time is up, when the
 * session is cancelled, when this process exits, or when the output exceeds the size of an envelope. A command that exits with 75 may reply
 * later. Throws {@link ConfigError}.
 */
export function commandAgent(options: CommandAgentOptions): Agent {
  checkCommandOptions('the options of a command agent', options);
  const [file, ...args] = options.argv;
  if (file === undefined || file === '' || options.argv.some((word) => typeof word !== 'string' || word.includes('\0')))
    throw new ConfigError('argv of a command agent must be texts, and the first one names a program');
  const { timeoutMs = TIMEOUT_MS } = options;
  return { name: file, reply: (request) => runCommand(file, args, { ...options, timeoutMs }, request) };
}

type Running = Omit<CommandAgentOptions, 'argv'> & { readonly timeoutMs: number };

function runCommand(file: string, args: readonly string[], options: Running, request: AgentRequest): Promise<string> {
  const { sid, turn, attempt, signal } = request;
  const where = { NEUROSCRIPT_SID: sid, NEUROSCRIPT_TURN: String(turn), NEUROSCRIPT_ATTEMPT: String(attempt) };
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      env: { ...(options.env ?? process.env), ...where },
      // A process group of its own, so that its children can be killed with it.
      detached: true,
      windowsHide: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      cwd: options.cwd,
    });
    const forget = killOnExit(() => signalChild(child));
    const fail = (why: string, reason?: 'ERR_TIMEOUT' | 'ERR_CANCELLED', more?: AgentFailure): void =>
      end(() => reject(new AgentError(turn, `turn ${turn} has no reply: ${why}`, reason, more)));
    const cancel = (): void => fail('the request was cancelled', 'ERR_CANCELLED');
    const timer = setTimeout(() => fail(`${file} was killed after ${options.timeoutMs} ms`, 'ERR_TIMEOUT'), options.timeoutMs);
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      signalChild(child);
      forget();
      child.stdout.destroy();
      child.stderr.destroy();
      child.stdin.destroy();
      settle();
    };
    signal.addEventListener('abort', cancel, { once: true });
    let reply = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      reply += text;
      // Larger than an envelope: the text so far will be refused for its size.
      if (reply.length >= REPLY_CHARACTERS) end(() => resolve(reply));
    });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-STDERR_CHARACTERS);
    });
    child.on('error', (cause) => fail(`${file} could not be started: ${reasonOf(cause)}`, undefined, { retryable: true, cause }));
    child.on('close', (code, by) => {
      if (code === 0) return end(() => resolve(reply));
      const why = `${file} ended with ${code === null ? by : `code ${code}`}${lastLine(stderr)}`;
      fail(why, undefined, { retryable: code === LATER });
    });
    // A command may reply without reading its input.
    child.stdin.on('error', () => {});
    child.stdin.end(fullPrompt(request));
  });
}

function reasonOf(error: Error): string {
  const code = 'code' in error ? error.code : undefined;
  return code === 'ENOENT' ? 'there is no such program' : code === 'EACCES' ? 'it is not executable' : error.message;
}

function lastLine(text: string): string {
  const line = text.trimEnd().split('\n').at(-1)?.trim() ?? '';
  return line === '' ? '' : `: ${line.slice(0, 300)}`;
}
