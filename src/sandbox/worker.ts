import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { encodeFrame, FrameReader, MAX_FRAME_BYTES } from '../wire/frames.ts';
import { type HostFrame, PROTOCOL_VERSION, type RunInput, type WorkerFrame } from '../wire/protocol.ts';
import { isSameKind, type RunKind } from './affinity.ts';
import { killTree } from './killtree.ts';
import { type Launched, requiredScopes } from './launch.ts';
import { descendant, openMeter, type ProcessMeter, type Reading, readingOf } from './processstats.ts';
import { adopt } from './reaper.ts';
import { KeptSources } from './sourcecache.ts';
import { readWorkerFrame } from './workerframes.ts';

/** How a worker process ended. */
export interface Gone {
  /** `exit code 70`, `signal SIGKILL`. */
  readonly how: string;
  /** What it did against the protocol, when that is why it was killed. */
  readonly violation: string | null;
  /** The end of what it wrote to its standard error, trimmed. */
  readonly stderr: string;
}

/** Who a worker's frames are for while it is busy. */
export interface WorkerTask {
  /** May throw `WireError` for a frame out of turn: the worker is killed then. */
  onFrame(frame: WorkerFrame): void;
  onGone(gone: Gone): void;
}

const HELLO_BYTES = 64 * 1024;
const START_MS = 10_000;
const STDERR_CHARS = 4096;
/** A killed process is taken for dead after this time even when the system has not said so. */
const KILL_MS = 500;
/** By then a worker has thrown its last isolate away, and made and warmed the next. */
const PREPARED_MS = 4;

/**
 * The host's end of one worker process. Reads and checks its frames, hands them to the task at hand, and kills the worker
 * at the first violation. None of its handles keeps the host's event loop alive.
 */
export class WorkerProcess {
  /** Settles when the worker has said hello as it should; rejects when it cannot be used. */
  readonly ready: Promise<void>;
  /** Resolves, always, when the process is gone. */
  readonly gone: Promise<Gone>;
  /** Set by its hello. */
  meter: ProcessMeter | null = null;
  /** Runs finished so far. */
  runs = 0;
  /** Of what kind its last run was. */
  kind: RunKind | null = null;
  #idleSince = 0;
  /** Resident bytes at its hello, one prepared isolate included; null where the system does not tell. */
  baseRss: number | null = null;
  /** Resident bytes when the last program that took its time had just started: what those before it have left behind. */
  restRss: number | null = null;
  #rest: NodeJS.Timeout | undefined;
  #atRest: Reading | null = null;
  readonly #child: ChildProcess;
  readonly #generations: number;
  readonly #frames: Socket;
  readonly #reader = new FrameReader(HELLO_BYTES);
  readonly #kept = new KeptSources();
  readonly #release: () => void;
  #task: WorkerTask | null = null;
  #violation: string | null = null;
  #stderr = '';
  #dead = false;
  #killed = false;
  #onGone: (gone: Gone) => void = () => {};

  constructor({ child, generations, frames, stderr }: Launched) {
    this.#child = child;
    this.#generations = generations;
    this.#frames = frames;
    this.#release = adopt(() => this.#end());
    this.gone = new Promise((resolve) => {
      this.#onGone = resolve;
    });
    this.ready = this.#greet();
    child.unref();
    frames.unref();
    stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_CHARS);
    });
    if ('unref' in stderr && typeof stderr.unref === 'function') stderr.unref();
    stderr.on('error', () => {});
    // A broken pipe shows up as an end too; that is where it is handled.
    frames.on('error', () => {});
    frames.on('data', (chunk: Buffer) => this.#receive(chunk));
    child.on('error', (error) => this.#bury(error.message));
    child.on('close', (code, signal) => this.#bury(endingOf(code, signal)));
  }

  /** Dead, or about to be: a killed process may still say that its run has ended, and must not get another. */
  get dead(): boolean {
    return this.#dead || this.#killed;
  }

  /** Gives the worker to a task; `maxBytes` caps the frames it may send meanwhile. */
  assign(task: WorkerTask, maxBytes: number): void {
    clearTimeout(this.#rest);
    this.#atRest = null;
    this.#task = task;
    this.#reader.maxBytes = maxBytes;
  }

  /** What the process uses while it has no task: as it was seen at rest, if it has come to that. */
  reading(): Reading {
    return this.#atRest ?? readingOf(this.meter);
  }

  /** It has nothing to do from now on. */
  rest(): void {
    this.#idleSince = performance.now();
  }

  /** Whether it has rested long enough to be ready for a run of the kind of its last one. */
  isReadyFor(kind: RunKind | null): boolean {
    return performance.now() - this.#idleSince >= PREPARED_MS && isSameKind(this.kind, kind);
  }

  /** The task is over. From now on a frame is a violation. */
  free(): void {
    this.#task = null;
    this.#reader.maxBytes = HELLO_BYTES;
  }

  /** Sends a run; sources that the worker keeps are only named. Throws as {@link send}. */
  run(id: number, input: RunInput): void {
    const { ahead, sources } = this.#kept.refer(input.sources);
    for (const frame of ahead) this.send(frame);
    this.send({ t: 'run', id, input: { ...input, sources } });
  }

  /**
   * Lets the worker make the next run's isolate. That takes 3 ms, in which it may keep a core from the host that has just been
   * woken by its result; so it waits for this.
   */
  prepare(): void {
    this.send({ t: 'prepare' });
    // Read while nobody waits for it: that takes 40 µs.
    this.#rest = setTimeout(() => {
      this.#atRest = readingOf(this.meter);
    }, PREPARED_MS).unref();
  }

  /** Throws `WireError` for a frame that is too large, `TypeError` for what is no JSON; a dead worker's pipe takes anything. */
  send(frame: HostFrame): void {
    const bytes = encodeFrame(JSON.stringify(frame), MAX_FRAME_BYTES);
    if (!this.#dead) this.#frames.write(bytes);
  }

  /** Ends the process for good; what it had already written still arrives before `gone`. */
  kill(): void {
    if (this.#dead) return;
    this.#killed = true;
    this.#end();
    setTimeout(() => this.#bury('signal SIGKILL'), KILL_MS).unref();
  }

  /** Ends the process, and all that a launcher has started, at once. */
  #end(): void {
    const { pid } = this.#child;
    if (this.#generations > 0 && pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null)
      killTree(pid);
    else this.#child.kill('SIGKILL');
  }

  async #greet(): Promise<void> {
    const late = setTimeout(() => {
      this.#violation ??= `it did not say hello within ${START_MS} ms`;
      this.kill();
    }, START_MS);
    late.unref();
    const hello = Promise.withResolvers<void>();
    this.assign(
      {
        onFrame: (frame) => {
          const complaint = refusal(frame);
          if (complaint !== null) {
            this.#violation = complaint;
            this.kill();
            return;
          }
          this.free();
          this.meter = this.#openMeter();
          this.baseRss = this.meter?.rssBytes() ?? null;
          hello.resolve();
        },
        onGone: ({ how, violation, stderr }) =>
          hello.reject(new Error(`the worker process ended while starting: ${violation ?? (stderr === '' ? how : stderr)}`)),
      },
      HELLO_BYTES,
    );
    try {
      await hello.promise;
    } finally {
      clearTimeout(late);
    }
  }

  /** Of the process that runs scripts, which stands some generations below the launcher's. */
  #openMeter(): ProcessMeter | null {
    const { pid } = this.#child;
    const own = pid === undefined ? null : descendant(pid, this.#generations);
    return own === null ? null : openMeter(own);
  }

  #receive(chunk: Uint8Array): void {
    if (this.#violation !== null) return;
    try {
      const whole = this.#reader.whole(chunk);
      if (whole !== null) {
        this.#take(whole);
        return;
      }
      this.#reader.push(chunk);
      for (let text = this.#reader.next(); text !== null && this.#violation === null; text = this.#reader.next())
        this.#take(text);
    } catch (error) {
      this.#violation = error instanceof Error ? error.message : String(error);
      this.kill();
    }
  }

  #take(text: string): void {
    const frame = readWorkerFrame(text);
    if (this.#task === null) throw new Error(`a frame '${frame.t}' came while nothing was asked`);
    this.#task.onFrame(frame);
  }

  #bury(how: string): void {
    if (this.#dead) return;
    this.#dead = true;
    this.#release();
    clearTimeout(this.#rest);
    this.meter?.close();
    this.#frames.destroy();
    if (this.#violation === null && this.#reader.partial) this.#violation = 'its last frame is cut off';
    const gone: Gone = { how, violation: this.#violation, stderr: this.#stderr.trim() };
    const task = this.#task;
    this.#task = null;
    task?.onGone(gone);
    this.#onGone(gone);
  }
}

/** A launcher ends with 128 and the number of the signal that ended what it launched. */
function endingOf(code: number | null, signal: string | null): string {
  const name = signal ?? Object.entries(constants.signals).find(([, number]) => 128 + number === code)?.[0];
  return name === undefined ? `exit code ${code}` : `signal ${name}`;
}

/** Why a worker that introduces itself like this cannot be used; null when it can. */
function refusal(frame: WorkerFrame): string | null {
  if (frame.t !== 'hello') return `its first frame is '${frame.t}'`;
  if (frame.version !== PROTOCOL_VERSION) return `it speaks version ${frame.version} of the protocol, not ${PROTOCOL_VERSION}`;
  const open = requiredScopes().filter((scope) => !frame.dropped.includes(scope));
  return open.length === 0 ? null : `it still has the permissions ${open.join(', ')}`;
}
