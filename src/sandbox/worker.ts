import { setImmediate as nextRound } from 'node:timers/promises';
import { encodeFrame, frameHeader, MAX_FRAME_BYTES } from '../wire/frames.ts';
import type { HostFrame } from '../wire/hostframes.ts';
import type { LimitValues } from '../wire/limits.ts';
import { inPieces, jsonBytes } from '../wire/pieces.ts';
import type { GuestReply, RunInput, WorkerFrame } from '../wire/protocol.ts';
import { type Affinity, isSameAffinity } from './affinity.ts';
import { Allowance } from './allowance.ts';
import type { Cage } from './cage.ts';
import type { Cgroup } from './cgroup.ts';
import { type Confinement, confinementOf, type Hold } from './confinement.ts';
import { idleActivity } from './idleactivity.ts';
import { HELLO_BYTES, Inbox } from './inbox.ts';
import { Isolates, KEPT_IDLE_MS, type Owner } from './isolates.ts';
import { endingOf, killGroup, killOnExit, killTree } from './kill.ts';
import { refusal, type StartedWorker, type WorkerChild } from './launch.ts';
import { areSameLimits } from './limits.ts';
import { waitedForCore, watchStart } from './proc.ts';
import { descendant, openStats, type ProcessStats, readStats, type StatsReading } from './processstats.ts';
import { SourceCache } from './sourcecache.ts';
import { limitResources } from './systemtools.ts';
import { mostBytes } from './watchdog.ts';

/** The end of a worker process. */
export interface Gone {
  /** `exit code 70`, `signal SIGKILL`. */
  readonly how: string;
  /** The violation of the protocol for which it was killed; null without one. */
  readonly violation: string | null;
  /** The end of its standard error, trimmed. */
  readonly stderr: string;
  /** Whether the kernel ended it at the memory of its cgroup. */
  readonly outOfMemory: boolean;
}

/** The receiver of a worker's frames while the worker is busy. */
export interface WorkerTask {
  /** `units` is an upper bound for `jsonUnits` of the frame. May throw `WireError` for a frame out of turn; then the worker is killed. */
  onFrame(frame: WorkerFrame, units: number): void;
  onGone(gone: Gone): void;
  /** Whether keys in the values of output and results have the `$` that keeps their place. */
  readonly marksKeys?: boolean;
}

/** Most bytes of the code caches that a worker makes before it says hello, in base64. They have 1.6 MB. */
const COMPILED_BYTES = 8 * 1024 * 1024;
const STDERR_CHARS = 4096;
/** A killed process counts as dead after this time even if the system has not reported its end. */
const KILL_MS = 500;
/** Milliseconds that a worker needs to dispose of its last isolate and to make the next. */
const PREPARED_MS = 4;
/** What the worker does at rest, each after this number of milliseconds. A run waits for a step under way. */
const AT_REST: readonly (readonly [ms: number, step: 'warm' | 'spare' | 'tidy' | 'expire'])[] = [
  [PREPARED_MS, 'warm'],
  [21, 'spare'],
  [975, 'tidy'],
  [KEPT_IDLE_MS - 1000, 'expire'],
];
/** A reading of the statistics older than this is repeated for the next task. */
const STALE_MS = 100;

/**
 * The host's end of one worker process. It checks the worker's frames, passes them to the current task, and kills the worker at
 * the first violation of the protocol. None of its handles keeps the host's event loop alive.
 */
export class WorkerProcess {
  /** Resolves after a valid `hello` frame; rejects when the worker cannot be used. */
  readonly ready: Promise<void>;
  readonly #ended = Promise.withResolvers<Gone>();
  /** Resolves when the process is gone. Never rejects. */
  readonly gone = this.#ended.promise;
  readonly #violated = Promise.withResolvers<void>();
  /** Resolves at the first violation of the protocol, before the process is gone. Never rejects. */
  readonly violated = this.#violated.promise;
  /** Set at the `hello` frame; null where the system has no statistics. */
  stats: ProcessStats | null = null;
  /** Set with {@link stats}; null where there are no cgroups. */
  cgroup: Cgroup | null = null;
  /** Set before it is ready. */
  confinement: Confinement = new Map();
  /** The number of finished runs. */
  runs = 0;
  /** The number of runs in kept isolates. */
  reused = 0;
  readonly #isolates = new Isolates();
  /** Whether the last run had a kept isolate, so that the next one stands ready as it did before. */
  #reuses = false;
  /** The affinity of its last run. */
  affinity: Affinity | null = null;
  #idleSince = 0;
  /** Resident bytes at its `hello` frame, one prepared isolate included; null where the system does not tell. */
  baseRss: number | null = null;
  /** Resident bytes at the start of the last program that ran for some time: the memory that earlier programs left behind. */
  restRss: number | null = null;
  /** Set before it is ready; null where the system has no statistics. */
  allowance: Allowance | null = null;
  #rest: NodeJS.Timeout | undefined;
  #atRest: StatsReading | null = null;
  readonly #child: WorkerChild;
  readonly #cage: Cage | null;
  readonly #frames: StartedWorker['frames'];
  readonly #inbox: Inbox;
  readonly #sources = new SourceCache();
  /** The limits of the last run. */
  #limits: LimitValues | null = null;
  readonly #release: () => void;
  #task: WorkerTask | null = null;
  #violation: string | null = null;
  #stderr = '';
  #dead = false;
  #killed = false;

  constructor(started: StartedWorker, demands: readonly Hold[] = []) {
    const { child, cage, frames, stderr } = started;
    this.#child = child;
    this.#cage = cage;
    this.#frames = frames;
    this.#inbox = new Inbox(frames, {
      isOver: () => this.#violation !== null || this.#dead,
      onFrame: (frame, units) => {
        if (this.#task === null) throw new Error(`a frame '${frame.t}' came while nothing was asked`);
        this.#task.onFrame(frame, units);
      },
      onViolation: (what) => this.retire(what),
    });
    this.#release = killOnExit(() => this.#end());
    this.ready = this.#awaitHello(demands, started);
    child.unref();
    frames.unref();
    stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_CHARS);
    });
    if ('unref' in stderr && typeof stderr.unref === 'function') stderr.unref();
    stderr.on('error', () => {});
    // A broken pipe is handled when the process closes.
    frames.on('error', () => {});
    child.on('error', (error) => this.#markDead(error.message));
    child.on('close', (code, signal) => this.#markDead(endingOf(code, signal)));
  }

  /** The session of the worker, which no other process shares but those that it starts; null in a cage and where there are none. */
  get session(): number | null {
    return this.#cage !== null || process.platform === 'win32' ? null : (this.#child.pid ?? null);
  }

  /** Whether the process is dead or was killed. A killed process may still send a result, and must not get another run. */
  get dead(): boolean {
    return this.#dead || this.#killed;
  }

  /** Gives the worker to a task, during which it may send frames of at most `maxBytes` and `maxValues`. */
  assign(task: WorkerTask, maxBytes: number, maxValues: number): void {
    clearTimeout(this.#rest);
    this.#atRest = null;
    this.#task = task;
    this.#inbox.bound({ bytes: maxBytes, values: maxValues, marked: task.marksKeys });
  }

  /** The statistics of the process without a task: the reading that was taken at rest, if there is one. */
  reading(): StatsReading {
    return this.#atRest ?? readStats(this.stats);
  }

  /**
   * Describes suspicious activity since the worker came to rest; null without any. It then must not get another task. Renews the
   * baseline.
   */
  moved(): string | null {
    const before = this.#atRest;
    if (before === null || performance.now() - this.#idleSince < STALE_MS) return null;
    this.#atRest = readStats(this.stats);
    return idleActivity(before, this.#atRest);
  }

  /** Marks the worker as idle. */
  rest(): void {
    this.#idleSince = performance.now();
  }

  /** Whether it has an isolate of the owner of a run of this affinity, or its next one is ready and suits the run. */
  isReadyFor(affinity: Affinity | null): boolean {
    if (affinity?.owner !== undefined && this.#isolates.has(affinity.owner)) return true;
    return performance.now() - this.#idleSince >= PREPARED_MS && isSameAffinity(this.affinity, affinity);
  }

  /**
   * Ends the task. From now on every frame is a violation, also bytes that have come already: the next task would take them for its own.
   */
  free(): void {
    this.#task = null;
    this.#inbox.bound({ bytes: HELLO_BYTES, values: HELLO_BYTES });
    if (this.#inbox.hasMore) this.retire('it sent more than its answer');
  }

  /**
   * Sends a run without the parts that the worker has: kept sources, and limits equal to the last run's. With an owner, the run has the
   * isolate that is kept for it. Throws as {@link send}.
   */
  run(id: number, input: RunInput, owner?: Owner): void {
    const { ahead, sources } = this.#sources.refer(input.sources);
    for (const frame of ahead) this.send(frame);
    const { limits } = input;
    const known = this.#limits !== null && areSameLimits(limits, this.#limits);
    if (!known) this.cgroup?.limit(mostBytes(limits, this.restRss ?? this.baseRss ?? 0));
    this.#reuses = false;
    const isolate = owner === undefined ? undefined : this.#isolateOf(owner, limits);
    this.send({ t: 'run', id, isolate, input: { ...input, sources, limits: known ? undefined : limits } });
    // Limits that are not frozen are copied, because they may change.
    this.#limits = Object.isFrozen(limits) ? limits : { ...limits };
  }

  #isolateOf(owner: Owner, limits: LimitValues): number {
    const { number, known } = this.#isolates.refer(owner, limits, performance.now());
    this.#reuses = known;
    if (known) this.reused++;
    this.#discard();
    return number;
  }

  #discard(): void {
    const isolates = this.#isolates.takeDiscarded();
    if (isolates.length > 0) this.send({ t: 'discard', isolates });
  }

  /**
   * Tells the worker to make the isolate of the next run, and at rest to warm it up and to make a spare. The host decides when, because
   * this takes 3 ms and could take a core from the host, which the result has just woken. After a run in a kept isolate the next one
   * is there, and a frame would only wake the worker.
   */
  prepare(): void {
    if (!this.#reuses) this.send({ t: 'prepare' });
    // Two runs may have ended since: then this is the second call, and the timer of the first would fire during a run.
    clearTimeout(this.#rest);
    this.#stayAtRest();
  }

  #stayAtRest([next, ...later] = AT_REST): void {
    if (next === undefined) return;
    const [ms, step] = next;
    this.#rest = setTimeout(() => {
      if (step === 'expire') {
        this.#isolates.expire(performance.now());
        this.#discard();
      } else if (step === 'tidy') this.send({ t: 'tidy' });
      else if (step === 'spare' || !this.#reuses) this.send({ t: 'prepare' });
      // Takes 40 µs, so it is done while no run waits. The worker's own work at rest is far below the bounds of `idleActivity`.
      this.#atRest = readStats(this.stats);
      this.#stayAtRest(later);
    }, ms).unref();
  }

  /** Throws `WireError` for a frame that is too large and `TypeError` for a value that JSON cannot hold. Does nothing once dead. */
  send(frame: HostFrame): void {
    const bytes = encodeFrame(JSON.stringify(frame), MAX_FRAME_BYTES);
    if (!this.#dead) this.#frames.write(bytes);
  }

  /** As {@link send}, in pieces. The worker waits for this frame, so no other may be sent meanwhile. */
  async sendInPieces(frame: GuestReply): Promise<void> {
    const parts = await inPieces(jsonBytes(frame), nextRound);
    for (const bytes of [frameHeader(parts, MAX_FRAME_BYTES), ...parts]) if (!this.#dead) this.#frames.write(bytes);
  }

  /** Calls `then` after reading the frames that have arrived. */
  afterArrived(then: () => void): void {
    this.#inbox.afterArrived(then);
  }

  /** Kills the process for a violation. */
  retire(violation: string): void {
    this.#violation ??= violation;
    this.#violated.resolve();
    this.kill();
  }

  /** Kills the process. Frames that it has written still arrive before `gone` resolves. */
  kill(): void {
    if (this.#dead) return;
    this.#killed = true;
    this.#end();
    setTimeout(() => this.#markDead('signal SIGKILL'), KILL_MS).unref();
  }

  /** Kills the process, with everything that a launcher or the worker has started. */
  #end(): void {
    const { pid, exitCode, signalCode } = this.#child;
    if (exitCode !== null || signalCode !== null) return;
    if (pid !== undefined && this.#cage !== null) killTree(pid);
    else if (this.session === null || !killGroup(this.session)) this.#child.kill('SIGKILL');
  }

  async #awaitHello(demands: readonly Hold[], { caches, scopes, cgroups }: StartedWorker): Promise<void> {
    const hello = Promise.withResolvers<void>();
    let greeted = false;
    const stop = watchStart(
      () => waitedForCore(this.#pid() ?? this.#child.pid ?? null),
      (ms) => this.afterArrived(() => greeted || this.retire(`it did not say hello within ${ms} ms`)),
    );
    this.assign(
      {
        onFrame: (frame) => {
          if (frame.t === 'compiled' && caches.keep !== null) {
            caches.keep(frame);
            return;
          }
          const pid = this.#pid();
          const complaint = refusal(frame, scopes);
          if (complaint !== null) {
            this.retire(complaint);
            return;
          }
          if (frame.t === 'hello') caches.settle(frame.cachesUsed);
          greeted = true;
          this.free();
          this.cgroup = pid === null ? null : (cgroups?.enter(pid) ?? null);
          this.stats = pid === null ? null : openStats(pid, this.cgroup);
          this.baseRss = this.stats?.rssBytes() ?? null;
          hello.resolve();
        },
        onGone: ({ how, violation, stderr }) =>
          hello.reject(new Error(`the worker process ended while starting: ${violation ?? (stderr === '' ? how : stderr)}`)),
      },
      caches.keep === null ? HELLO_BYTES : COMPILED_BYTES,
      HELLO_BYTES,
    );
    try {
      await hello.promise;
      const pid = this.#pid();
      if (pid !== null) await limitResources(pid);
      const held = this.stats?.holdings() ?? null;
      this.allowance = held && new Allowance(held);
      this.#atRest = readStats(this.stats);
      this.confinement = confinementOf(pid);
      const lack = demands.map((hold) => this.confinement.get(hold)).find((reason) => reason !== undefined);
      if (lack !== undefined) this.retire(`the operating system does not confine it: ${lack}`);
      if (this.dead) throw new Error(`the worker process ended while starting: ${this.#violation ?? 'it was killed'}`);
    } finally {
      stop();
    }
  }

  /** The process that runs scripts, some generations below the launcher; null when the system does not tell. */
  #pid(): number | null {
    const { pid } = this.#child;
    return pid === undefined ? null : descendant(pid, this.#cage?.generations ?? 0);
  }

  #markDead(how: string): void {
    if (this.#dead) return;
    if (this.#inbox.reading !== null) {
      void this.#inbox.reading.then(() => this.#markDead(how));
      return;
    }
    this.#dead = true;
    this.#release();
    clearTimeout(this.#rest);
    this.stats?.close();
    const outOfMemory = this.cgroup?.outOfMemory() ?? false;
    this.cgroup?.close();
    this.#frames.destroy();
    if (!this.#killed && this.#inbox.partial) this.#violation ??= 'its last frame is cut off';
    if (this.#violation !== null) this.#violated.resolve();
    const gone: Gone = { how, violation: this.#violation, stderr: this.#stderr.trim(), outOfMemory };
    const task = this.#task;
    this.#task = null;
    task?.onGone(gone);
    this.#ended.resolve(gone);
  }
}
