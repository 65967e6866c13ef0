import { createRequire, syncBuiltinESMExports } from 'node:module';
import { type Actor, acting, type Event } from './timeline.ts';

/** A timer of a world, with the methods of those of Node. */
class WorldTimer {
  readonly #actor: Actor;
  readonly #ms: number;
  readonly #again: boolean;
  readonly #run: () => void;
  #event: Event;

  constructor(actor: Actor, ms: unknown, again: boolean, run: () => void) {
    this.#actor = actor;
    this.#ms = Math.max(1, Number(ms) || 1);
    this.#again = again;
    this.#run = run;
    this.#event = this.#next(true);
  }

  #next(holds: boolean): Event {
    const event = this.#actor.timeline.after(this.#ms, this.#actor, () => {
      if (this.#again) this.#event = this.#next(this.#event.holds);
      this.#run();
    });
    event.holds = holds;
    return event;
  }

  close(): this {
    this.#event.cancelled = true;
    return this;
  }
  refresh(): this {
    this.close();
    this.#event = this.#next(this.#event.holds);
    return this;
  }
  ref(): this {
    this.#event.holds = true;
    return this;
  }
  unref(): this {
    this.#event.holds = false;
    return this;
  }
  hasRef(): boolean {
    return this.#event.holds;
  }
  [Symbol.dispose](): void {
    this.close();
  }
}

type Arguments = readonly unknown[];

/** Gives a property of a Node object another value for code of a world. */
interface Replaced {
  readonly target: object;
  readonly name: string;
  readonly value: unknown;
}

/** A function that behaves differently when code of a world calls it. */
function inWorld(target: object, name: string, virtual: (actor: Actor, args: Arguments) => unknown): Replaced {
  const real = functionOf(target, name);
  return {
    target,
    name,
    value(this: unknown, ...args: Arguments): unknown {
      const actor = acting.getStore();
      return actor === undefined ? Reflect.apply(real, this, args) : virtual(actor, args);
    },
  };
}

function functionOf(target: object, name: string): CallableFunction {
  const found: unknown = Reflect.get(target, name);
  if (typeof found !== 'function') throw new TypeError(`this version of Node has no function ${name}`);
  return found;
}

function timer(again: boolean) {
  return (actor: Actor, [run, ms, ...args]: Arguments): WorldTimer => {
    if (typeof run !== 'function') throw new TypeError('a timer needs a function');
    return new WorldTimer(actor, ms, again, () => void Reflect.apply(run, undefined, args));
  };
}

/** Clears a timer of a world, or a timer of Node that code of a world received. */
function clearing(target: object, name: string): Replaced {
  const real = functionOf(target, name);
  const value = (given: unknown): void => {
    if (given instanceof WorldTimer) given.close();
    else Reflect.apply(real, undefined, [given]);
  };
  return { target, name, value };
}

function randomBytes(actor: Actor, [count]: Arguments): Buffer {
  return Buffer.from(Array.from({ length: Number(count) }, () => Math.floor(actor.timeline.random.next() * 256)));
}

function randomUUID(actor: Actor): string {
  const hex = randomBytes(actor, [16]).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}

function timeout(actor: Actor, [ms]: Arguments): AbortSignal {
  const controller = new AbortController();
  const late = (): void => controller.abort(new DOMException('the time is over', 'TimeoutError'));
  new WorldTimer(actor, ms, false, late).unref();
  return controller.signal;
}

/** Node keeps a signal of `AbortSignal.any` alive while it has listeners, so listeners of a dead process would stay forever. */
function any(_actor: Actor, [signals]: Arguments): AbortSignal {
  const controller = new AbortController();
  for (const signal of Array.isArray(signals) ? signals : []) {
    if (!(signal instanceof AbortSignal)) throw new TypeError('a list of signals has something else');
    const abort = (): void => controller.abort(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  }
  return controller.signal;
}

function replaced(): readonly Replaced[] {
  const load = createRequire(import.meta.url);
  const [timers, promises, crypto]: readonly object[] = ['timers', 'timers/promises', 'crypto'].map((name) =>
    load(`node:${name}`),
  );
  if (timers === undefined || promises === undefined || crypto === undefined) throw new TypeError('Node lacks a module');
  const later = (actor: Actor, ms: unknown, value: unknown) =>
    new Promise((resolve) => new WorldTimer(actor, ms, false, () => resolve(value)));
  const date = new Proxy(Date, {
    construct(target, args, made) {
      const actor = acting.getStore();
      return Reflect.construct(target, actor !== undefined && args.length === 0 ? [actor.now()] : args, made);
    },
  });
  const ofTimers = [globalThis, timers].flatMap((target) => [
    inWorld(target, 'setTimeout', timer(false)),
    inWorld(target, 'setInterval', timer(true)),
    inWorld(target, 'setImmediate', (actor, [run, ...args]) => timer(false)(actor, [run, 0, ...args])),
    ...['clearTimeout', 'clearInterval', 'clearImmediate'].map((name) => clearing(target, name)),
  ]);
  return [
    ...ofTimers,
    inWorld(promises, 'setTimeout', (actor, [ms, value]) => later(actor, ms, value)),
    inWorld(promises, 'setImmediate', (actor, [value]) => later(actor, 0, value)),
    inWorld(AbortSignal, 'timeout', timeout),
    inWorld(AbortSignal, 'any', any),
    inWorld(Date, 'now', (actor) => actor.now()),
    { target: globalThis, name: 'Date', value: date },
    inWorld(performance, 'now', (actor) => actor.monotonic()),
    inWorld(Math, 'random', (actor) => actor.timeline.random.next()),
    ...[crypto, globalThis.crypto].map((target) => inWorld(target, 'randomUUID', randomUUID)),
    inWorld(crypto, 'randomBytes', randomBytes),
  ];
}

/** The original properties of Node's objects, while at least one world exists. */
let before: readonly (() => void)[] = [];
let worlds = 0;

/**
 * Replaces Node's timers, dates, clocks and random numbers for code of a world. Code outside of all worlds is not affected. Disposing of
 * the result ends this; the originals are restored when the last world has ended.
 */
export function virtualTime(): Disposable {
  worlds += 1;
  if (worlds === 1)
    before = replaced().map(({ target, name, value }) => {
      const own = Object.getOwnPropertyDescriptor(target, name);
      Object.defineProperty(target, name, { configurable: true, writable: true, enumerable: own?.enumerable ?? false, value });
      return () => void (own === undefined ? Reflect.deleteProperty(target, name) : Object.defineProperty(target, name, own));
    });
  // Updates named imports of Node's modules to the new properties.
  if (worlds === 1) syncBuiltinESMExports();
  return {
    [Symbol.dispose]: () => {
      worlds -= 1;
      if (worlds > 0) return;
      for (const restore of before) restore();
      syncBuiltinESMExports();
    },
  };
}
