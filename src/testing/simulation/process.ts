import { StoreError } from '../../loop/index.ts';
import type { Fault, Faults } from './faults.ts';
import type { Actor, Timeline } from './timeline.ts';

/** Unix milliseconds at which every world begins. */
const BEGINNING = Date.UTC(2030, 0, 1);

/** Most milliseconds of a usual request, in each direction. */
const TRIP_MS = 20;

/** Milliseconds after which a process gives up a request that cannot reach its destination. */
const UNREACHABLE_MS = 1000;

/** The parts that the processes of a world share. */
export interface Surroundings {
  readonly timeline: Timeline;
  readonly faults: Faults;
  readonly leaseMs: number;
  /** Milliseconds of the world until which all disks are full. */
  readonly fullUntil: number;
  /** Adds an event to the trace. */
  readonly note: (line: string) => void;
  died(process: Process): void;
}

/** A request to something outside of a process. */
export interface Request<T> {
  readonly faults: readonly Fault[];
  /** Performs the request and returns the answer. */
  readonly work: () => Promise<T>;
  /** The error of a failed request. */
  readonly failure?: (why: string) => Error;
  /** Most milliseconds of each direction. */
  readonly ms?: number;
}

/** A process in a world. Its code reaches the rest of the world only through requests, so it can die or stop at any of them. */
export class Process implements Actor {
  readonly name: string;
  readonly timeline: Timeline;
  readonly #surroundings: Surroundings;
  readonly #counts = new Map<string, number>();
  readonly #bootedAt: number;
  #offset = 0;
  #alive = true;
  stoppedUntil = 0;
  /** Milliseconds of the world until which no request reaches the store. */
  cutOffUntil = 0;

  constructor(name: string, surroundings: Surroundings) {
    this.name = name;
    this.timeline = surroundings.timeline;
    this.#surroundings = surroundings;
    this.#bootedAt = this.timeline.now - 1000;
  }

  get alive(): boolean {
    return this.#alive;
  }

  readonly now = (): number => BEGINNING + this.timeline.now + this.#offset;

  readonly monotonic = (): number => this.timeline.now - this.#bootedAt;

  /** Moves the wall clock by `ms` milliseconds. */
  jump(ms: number): void {
    this.#offset += ms;
  }

  /** Ends stops and disconnections of the process, and corrects its clock. */
  recover(): void {
    this.stoppedUntil = 0;
    this.cutOffUntil = 0;
    this.#offset = 0;
  }

  /** Kills the process: none of its events happens any more. */
  die(): void {
    if (!this.#alive) return;
    this.#alive = false;
    this.#surroundings.note(`${this.name} dies`);
    this.#surroundings.died(this);
  }

  /** The name of the next place of this kind. */
  place(kind: string): string {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    return `${this.name}.${kind}.${count}`;
  }

  /** Resolves in `ms` milliseconds, or never if the process has died by then. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.timeline.after(ms, this, resolve));
  }

  /** Never resolves, because the process of the waiting code is dead. */
  dead(): Promise<never> {
    this.die();
    return new Promise(() => {});
  }

  /** The fault of a write to a disk of the process. `share` of the bytes, from 0 and below 1, are then written. */
  writes(kind: string): { readonly fault: Fault | null; readonly share: number } {
    const { faults, note } = this.#surroundings;
    const place = this.place(kind);
    const fault = this.isFull ? 'full' : faults.at(place, ['refused', 'torn']);
    note(fault === null ? place : `${place} ${fault}`);
    return { fault, share: faults.share(`${place} share`) };
  }

  /** Whether a worker process of this one is killed now. */
  killsWorker(kind: string): boolean {
    const { faults, note } = this.#surroundings;
    const place = this.place(kind);
    const isKilled = faults.at(place, ['killed']) !== null;
    if (isKilled) note(`${place} killed`);
    return isKilled;
  }

  /** Whether the disks are full at the moment. */
  get isFull(): boolean {
    return this.#surroundings.fullUntil > this.timeline.now;
  }

  /** Performs work outside of the store under faults, such as a request to an agent. */
  async disturbed<T>(kind: string, ms: number, failure: (why: string) => Error, work: () => Promise<T>): Promise<T> {
    if (!this.#alive) return this.dead();
    const { faults, note, leaseMs } = this.#surroundings;
    const place = this.place(kind);
    const fault = faults.at(place, ['refused', 'lost', 'slow', 'stops', 'dies-before', 'dies-after']);
    note(fault === null ? place : `${place} ${fault}`);
    await this.pause(faults.delay(`${place}>`, ms) + (fault === 'slow' ? this.#lateness(place) : 0));
    if (fault === 'dies-before') return this.dead();
    if (fault === 'refused') throw failure('it refuses the request');
    const result = await work();
    if (fault === 'dies-after') return this.dead();
    // What the process does when it goes on is late: another one may have claimed its sessions.
    if (fault === 'stops') this.stoppedUntil = this.timeline.now + leaseMs * (1 + 2 * faults.share(`${place} stop`));
    await this.pause(faults.delay(`${place}<`, ms));
    if (fault === 'lost') throw failure('its answer was lost');
    return result;
  }

  /** The duration of a slow request: about a lease. */
  #lateness(place: string): number {
    const { faults, leaseMs } = this.#surroundings;
    return leaseMs * (0.3 + 1.5 * faults.share(`${place} late`));
  }

  /** Uses a disk of the process. */
  async local<T>(kind: string, work: () => Promise<T>): Promise<T> {
    if (!this.#alive) return this.dead();
    const { faults, note } = this.#surroundings;
    const place = this.place(kind);
    const fault = faults.at(place, ['refused', 'dies-before', 'dies-after']);
    note(fault === null ? place : `${place} ${fault}`);
    if (fault === 'dies-before') return this.dead();
    if (fault === 'refused') throw new Error('EIO: i/o error');
    const [result] = await Promise.allSettled([work()]);
    if (fault === 'dies-after' || !this.alive) return this.dead();
    if (result.status === 'rejected') throw result.reason;
    await this.pause(faults.delay(place, 2));
    return result.value;
  }

  /** Sends a request to the store and waits for its answer. */
  send<T>(kind: string, destination: Actor, { faults: possible, work, failure = away, ms = TRIP_MS }: Request<T>): Promise<T> {
    // A dead process sends nothing: other work that it had begun ends with it.
    if (!this.#alive) return this.dead();
    const { faults, note } = this.#surroundings;
    const place = this.place(kind);
    const fault = faults.at(place, possible);
    note(fault === null ? place : `${place} ${fault}`);
    if (fault === 'dies-before') return this.dead();
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const late = fault === 'slow' ? this.#lateness(place) : 0;
    const isRequestLate = late > 0 && faults.share(`${place} way`) < 0.5;
    const slow = (way: string): number => (isRequestLate === (way === '>') ? late : 0) + faults.delay(place + way, ms);
    const back = (settle: () => void): void => void this.timeline.after(slow('<'), this, settle);
    const arrive = async (): Promise<void> => {
      // Some requests that are under way when a process dies end with its connections.
      if (!this.#alive && faults.share(`${place} gone`) < 0.5) return note(`${place} is gone`);
      if (this.cutOffUntil > this.timeline.now)
        return void this.timeline.after(UNREACHABLE_MS, this, () => reject(failure('it cannot be reached')));
      if (fault === 'refused') return back(() => reject(failure('it refuses the request')));
      try {
        if (fault === 'twice') await work().catch(() => {});
        const answer = await work();
        if (fault === 'dies-after') this.die();
        else if (fault === 'lost') back(() => reject(failure('its answer was lost')));
        else back(() => resolve(answer));
      } catch (error) {
        back(() => reject(error));
      }
    };
    this.timeline.after(slow('>'), destination, () => void arrive());
    return promise;
  }
}

function away(why: string): Error {
  return new StoreError('io', `the store is away: ${why}`);
}
