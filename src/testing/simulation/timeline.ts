import { AsyncLocalStorage } from 'node:async_hooks';
import type { Random } from './random.ts';

/** Node's own function, because a world replaces the global later. */
const nextRound = setImmediate;

/** Number of events after which Node can do work outside of the world, such as printing. */
const ROUND = 64;

/** A process of a world, or its store. Events of a process that died never happen; those of a stopped one wait. */
export interface Actor {
  readonly name: string;
  readonly timeline: Timeline;
  readonly alive: boolean;
  /** Milliseconds of the world until which its events wait. */
  readonly stoppedUntil: number;
  /** Unix milliseconds, as this process reads its clock. */
  now(): number;
  /** Milliseconds since some moment, as this process measures them. */
  monotonic(): number;
}

export interface Event {
  /** Milliseconds since the beginning of the world. */
  at: number;
  /** Order among events of the same time. */
  readonly tie: number;
  readonly actor: Actor;
  readonly run: () => void;
  cancelled: boolean;
  /** Whether it is a timer that keeps its process alive. */
  holds: boolean;
}

/** The actor of the current code. Code outside of all worlds has none. */
export const acting = new AsyncLocalStorage<Actor>();

/** Runs all microtasks of the last event. Node ends them before the next tick, which costs less than a round of the event loop. */
function settled(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

/** Lets Node do other work. */
function rounded(): Promise<void> {
  return new Promise((resolve) => nextRound(resolve));
}

/**
 * The simulated time of a world. The clock jumps to the next event, and events happen one at a time. A seed orders events of the same
 * time.
 */
export class Timeline {
  /** Milliseconds since the beginning of the world. */
  now = 0;
  steps = 0;
  /** Orders events, and gives random numbers to all code of the world. */
  readonly random: Random;
  readonly #heap: Event[] = [];

  constructor(random: Random) {
    this.random = random;
  }

  /** Events that are still to come. */
  get waiting(): number {
    return this.#heap.length;
  }

  /** Timers of an actor that keep it alive. */
  timersOf(actor: Actor): number {
    return this.#heap.filter((event) => event.actor === actor && !event.cancelled && event.holds).length;
  }

  /** Schedules an event of an actor in `ms` milliseconds. */
  after(ms: number, actor: Actor, run: () => void): Event {
    const event = { at: this.now + Math.max(0, ms), tie: this.random.next(), actor, run, cancelled: false, holds: false };
    this.#push(event);
    return event;
  }

  /** Runs events until there are none, or until `done` returns true after one. */
  async run(done: () => boolean | Promise<boolean>): Promise<void> {
    for (let event = this.#pop(); event !== undefined; event = this.#pop()) {
      const { actor, cancelled, run } = event;
      if (cancelled || !actor.alive) continue;
      if (actor.stoppedUntil > event.at) {
        event.at = actor.stoppedUntil;
        this.#push(event);
        continue;
      }
      this.now = event.at;
      this.steps += 1;
      acting.run(actor, run);
      await (this.steps % ROUND === 0 ? rounded() : settled());
      if (await done()) return;
    }
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let index = heap.push(event) - 1;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || !isBefore(event, parent)) break;
      heap[index] = parent;
      index = above;
    }
    heap[index] = event;
  }

  #pop(): Event | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let index = 0;
    for (;;) {
      const [left, right] = [heap[2 * index + 1], heap[2 * index + 2]];
      if (left === undefined) break;
      const isRight = right !== undefined && isBefore(right, left);
      const least = isRight ? right : left;
      if (!isBefore(least, last)) break;
      heap[index] = least;
      index = 2 * index + (isRight ? 2 : 1);
    }
    heap[index] = last;
    return first;
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.at < other.at || (one.at === other.at && one.tie < other.tie);
}
