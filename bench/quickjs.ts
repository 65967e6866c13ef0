import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { encodeFrame, FrameReader, MAX_FRAME_BYTES } from '../src/wire/frames.ts';
import { FRAMES_FD } from '../src/worker/pipe.ts';

/** A script for the process: an expression or statements, whose last value counts. */
export interface QuickJsOrder {
  readonly script: string;
  readonly ms: number;
  readonly memoryMb: number;
}

/** What the process says: that it is ready, a call of `echo`, or how a script ended. */
interface Said {
  readonly call?: number;
  readonly value?: unknown;
  readonly error?: string;
}

const START_MS = 60_000;

/**
 * QuickJS as we would have to run it: in a process that can be killed, behind frames on a pipe, with calls for which it waits. Each script
 * has a new context. The other rows of peers are in the process of their host, which a program that hangs or crashes takes along.
 */
export class QuickJsProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #pipe: Socket;
  readonly #reader = new FrameReader(MAX_FRAME_BYTES);
  #said = Promise.withResolvers<Said>();

  private constructor(child: ChildProcess, pipe: Socket) {
    this.#child = child;
    this.#pipe = pipe;
    pipe.on('data', (chunk: Uint8Array) => {
      this.#reader.push(chunk);
      for (let text = this.#reader.next(); text !== null; text = this.#reader.next()) this.#said.resolve(JSON.parse(text));
    });
    child.once('exit', () => this.#said.reject(new Error('the process of QuickJS ended')));
  }

  /** Starts the process and loads the engine. */
  static async open(): Promise<QuickJsProcess> {
    const file = fileURLToPath(new URL('dist/bench/quickjschild.js', import.meta.resolve('#package')));
    const child = spawn(process.execPath, ['--no-warnings', file], { stdio: ['ignore', 'ignore', 'inherit', 'pipe'] });
    const pipe = child.stdio[FRAMES_FD];
    if (!(pipe instanceof Socket)) throw new Error('the process has no pipe');
    const opened = new QuickJsProcess(child, pipe);
    const late = setTimeout(() => child.kill('SIGKILL'), START_MS);
    await opened.#answer();
    clearTimeout(late);
    return opened;
  }

  /** Runs a script. Throws when it fails. */
  async run(order: QuickJsOrder): Promise<unknown> {
    this.#send(order);
    for (;;) {
      const { call, value, error } = await this.#answer();
      if (error !== undefined) throw new Error(error);
      if (call === undefined) return value;
      this.#send({ value: call });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = once(this.#child, 'exit');
    this.#said.promise.catch(() => {}); // its end is expected
    this.#child.kill('SIGKILL');
    await gone;
  }

  #send(frame: object): void {
    this.#pipe.write(encodeFrame(JSON.stringify(frame), MAX_FRAME_BYTES));
  }

  async #answer(): Promise<Said> {
    const said = await this.#said.promise;
    this.#said = Promise.withResolvers();
    return said;
  }
}
