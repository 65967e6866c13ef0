import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';

export interface RawScript {
  readonly script: string;
  readonly timeoutMs: number;
  /** Commands that the process parses first. The script gets the JSON of their block as `tree`, and a call of this process as `host`. */
  readonly source?: string;
  /** What the script is evaluated with, once in an isolate that is kept for all scripts with it. */
  readonly kept?: string;
  /** After the answer the process disposes of the isolate and makes the next one, as ours does. */
  readonly ahead?: boolean;
}

/** What the process is told to do. */
export type RawOrder = RawScript | { readonly sleepMs: number };

/** One script in a new isolate. */
export interface RawRun {
  readonly value: unknown;
  /** Elapsed milliseconds from sending the script to having its value. */
  readonly ms: number;
  /** Elapsed milliseconds of the isolate, in its process. */
  readonly insideMs: number;
  /** Milliseconds of CPU time in the isolate. */
  readonly usedMs: number;
}

/** The descriptor of the process for its calls of `host`. */
export const CALLS_FD = 4;
const TIMEOUT_MS = 60_000;
const ENDLESS = 'for (;;);';

/**
 * A bare V8 isolate in a process that can be killed, as one would build it by hand: no language, no meter, a message there and one back.
 * It needs of a machine what ours needs: two processes awake, an isolate made and disposed of. Therefore promises about time are multiples
 * of what it takes in the same run. isolated-vm needs the process also for a flag of Node.
 */
export class RawProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #gone: Promise<never>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#gone = once(child, 'exit').then(() => Promise.reject(new Error('the process of the raw isolate ended')));
    this.#gone.catch(() => {}); // its end is expected at disposal
  }

  /** Starts the process, with further flags of V8. */
  static async open(flags: readonly string[] = []): Promise<RawProcess> {
    const file = new URL('dist/bench/child.js', import.meta.resolve('#package'));
    const stdio = ['inherit', 'inherit', 'inherit', 'ipc', 'pipe'] as const;
    const child = fork(file, { execArgv: ['--no-node-snapshot', '--no-warnings', ...flags], stdio: [...stdio] });
    // The answer to a call is the call itself.
    const calls = child.stdio[CALLS_FD];
    if (calls instanceof Socket) calls.on('data', (bytes) => calls.write(bytes)).unref();
    const raw = new RawProcess(child);
    const ready = await raw.#answer();
    if (ready !== 'ready') throw new Error(`the process of the raw isolate answered ${JSON.stringify(ready)}`);
    return raw;
  }

  /** Runs a script in a new or kept isolate. An error is a value: its text. */
  async run(script: string, timeoutMs: number = TIMEOUT_MS, more: Omit<RawScript, 'script' | 'timeoutMs'> = {}): Promise<RawRun> {
    const start = performance.now();
    this.#send({ script, timeoutMs, ...more });
    const answer = await this.#answer();
    const ms = performance.now() - start;
    if (!isAnswer(answer)) throw new Error(`the process of the raw isolate answered ${JSON.stringify(answer)}`);
    return { value: answer.value, ms, insideMs: answer.ms, usedMs: answer.usedMs };
  }

  /** Milliseconds until an endless loop with a time limit has ended, and the host knows it. */
  async spin(ms: number): Promise<number> {
    return (await this.run(ENDLESS, ms)).ms;
  }

  /** Milliseconds until the process has slept for a time, and the host knows it. */
  async sleep(ms: number): Promise<number> {
    const start = performance.now();
    this.#send({ sleepMs: ms });
    await this.#answer();
    return performance.now() - start;
  }

  /** Milliseconds until the process, which runs an endless loop, was killed after a time, and the host knows it. */
  async killAfter(ms: number): Promise<number> {
    const start = performance.now();
    this.#send({ script: ENDLESS, timeoutMs: TIMEOUT_MS });
    setTimeout(() => this.#child.kill('SIGKILL'), ms);
    await this.#gone.catch(() => {});
    return performance.now() - start;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    await this.#gone.catch(() => {});
  }

  #send(order: RawOrder): void {
    this.#child.send(order);
  }

  async #answer(): Promise<unknown> {
    const [message] = await Promise.race([once(this.#child, 'message'), this.#gone]);
    return message;
  }
}

/** A plain loop of V8: twenty million additions. */
export const ADDITIONS = '(() => { let sum = 0; for (let i = 0; i < 20_000_000; i++) sum = (sum + i) | 0; return sum; })()';

/** Milliseconds from nothing to the first value of a raw isolate in a new process. */
export async function rawColdStart(): Promise<number> {
  const start = performance.now();
  await using raw = await RawProcess.open();
  await raw.run('1');
  return performance.now() - start;
}

function isAnswer(message: unknown): message is { readonly value: unknown; readonly ms: number; readonly usedMs: number } {
  return (
    typeof message === 'object' &&
    message !== null &&
    'value' in message &&
    'ms' in message &&
    typeof message.ms === 'number' &&
    'usedMs' in message &&
    typeof message.usedMs === 'number'
  );
}
