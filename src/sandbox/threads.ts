import { EventEmitter } from 'node:events';
import { Duplex } from 'node:stream';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { THREAD } from '../wire/codecache.ts';
import { NO_ROLE } from './codecache.ts';
import { packageFiles, type StartedWorker, type WorkerChild } from './launch.ts';
import type { PoolLimitOptions } from './limits.ts';
import { checkIsolation, type OpenPool, openWith, poolSettings, Sandbox, type SandboxOptions } from './sandbox.ts';

/** The stack of a thread, as of a worker process (`launch.ts`). */
const STACK_MB = 8;

/** Options of a sandbox of threads: those that need no process. */
export type ThreadOptions = PoolLimitOptions & Pick<SandboxOptions, 'nesting' | 'isolation'>;

/**
 * A sandbox whose workers are threads of this process: the same pool, frames and server, in a tenth of the time of a process, without native
 * code. It is for programs that are trusted: tests, and machines where nothing else runs. Nothing but the interpreter separates a program
 * from the host, and no launcher confines it. So no option of `createRuntime` selects it. Throws `ConfigError`.
 */
export async function threadSandbox(options: ThreadOptions = {}): Promise<Sandbox> {
  const isolation = checkIsolation(options.isolation);
  return new Sandbox(await openThreads(options), isolation);
}

/** The pool of {@link threadSandbox}. */
export async function openThreads(options: ThreadOptions): Promise<OpenPool> {
  const { worker, guest } = packageFiles();
  const launcher = { cage: null, reason: 'the workers are threads of this process', demands: [] };
  return openWith({ ...poolSettings(options), launcher, start: () => startThread(worker, guest) });
}

function startThread(file: string, guest: string): StartedWorker {
  const { port1, port2 } = new MessageChannel();
  const sent = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const thread = new Worker(file, {
    workerData: { guest, port: port2, sent },
    transferList: [port2],
    argv: [THREAD],
    env: {},
    execArgv: [],
    stderr: true,
    resourceLimits: { stackSizeMb: STACK_MB },
  });
  const frames = new PortStream(port1, sent);
  return { child: new ThreadChild(thread, frames), cage: null, frames, stderr: thread.stderr, caches: NO_ROLE, scopes: [] };
}

/** The host's end of the connection to a thread. */
class PortStream extends Duplex {
  readonly #port: MessagePort;
  readonly #sent: Int32Array;

  constructor(port: MessagePort, sent: Int32Array) {
    super();
    this.#port = port;
    this.#sent = sent;
    port.on('message', (bytes: Uint8Array) => this.push(bytes));
    port.on('close', () => this.push(null));
  }

  unref(): this {
    this.#port.unref();
    return this;
  }

  override _read(): void {}

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    // A copy, because a buffer of Node shares its memory with others.
    const copy = new Uint8Array(chunk);
    this.#port.postMessage(copy, [copy.buffer]);
    Atomics.add(this.#sent, 0, 1);
    Atomics.notify(this.#sent, 0);
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#port.close();
    done(error);
  }
}

/** A thread in the place of a worker process. */
class ThreadChild extends EventEmitter implements WorkerChild {
  readonly pid = undefined;
  readonly signalCode = null;
  exitCode: number | null = null;
  readonly #thread: Worker;
  #killed = false;

  constructor(thread: Worker, frames: Duplex) {
    super();
    this.#thread = thread;
    // All frames that the thread has written are read by then.
    const read = new Promise((resolve) => frames.once('end', resolve).once('close', resolve));
    thread.on('error', (error) => this.emit('error', error));
    thread.on('exit', (code) => {
      this.exitCode = code;
      void read.then(() => this.emit('close', this.#killed ? null : code, this.#killed ? 'SIGKILL' : null));
    });
  }

  kill(): boolean {
    this.#killed = true;
    void this.#thread.terminate();
    return true;
  }

  unref(): void {
    this.#thread.unref();
  }
}
