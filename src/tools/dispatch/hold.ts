import { setImmediate as nextRound } from 'node:timers/promises';
import type { CallIo } from '../../wire/call.ts';
import { DATA_FUEL } from '../../wire/costs.ts';
import { cancelledError } from '../../wire/errorinfo.ts';
import { isList } from '../../wire/tagged.ts';
import { Halt } from '../errors.ts';
import type { CallQuotas } from './quotas.ts';

/** A reservation that does not fit yet. */
interface Waiting {
  readonly bytes: number;
  grant(): void;
}

/**
 * What the calls of one run hold on the host at once, before the journal has it: the reservations of calls under way, and the results
 * that have come. Together with the journal they stay within `journalBytes`. What does not fit waits, unless no call is at work: one
 * always goes on.
 */
export class HostHold {
  readonly #quotas: CallQuotas;
  readonly #waiting: Waiting[] = [];
  /** Number of calls that have begun and wait for no other call. */
  #atWork = 0;
  #reserved = 0;
  #turns: Promise<void> = Promise.resolve();

  constructor(quotas: CallQuotas) {
    this.#quotas = quotas;
  }

  /** The hold of one call, empty at first. `outer` is the call whose tool makes this one. */
  begin(outer: CallHold | null = null): CallHold {
    return new Call(this, outer instanceof Call ? outer : null);
  }

  /** Changes what calls hold: bytes reserved, and bytes of results that have come. */
  change(reserved: number, come: number): void {
    this.#reserved += reserved;
    this.#quotas.heldBytes += come;
    this.#next();
  }

  /** Calls `grant` when so many bytes fit, at once if they do now. The calls of tools come before those that have not begun. */
  ask(bytes: number, nested: boolean, io: CallIo, grant: () => void): void | Promise<void> {
    if (this.#waiting.length === 0 && this.#hasRoom(bytes)) return grant();
    return new Promise((resolve, reject) => {
      let over = false;
      const waiting = {
        bytes,
        grant: () => {
          forget();
          // The next one may be granted within `grant`, and goes on after this one.
          resolve();
          grant();
        },
      };
      const forget = io.whenOver(() => {
        over = true;
        const place = this.#waiting.indexOf(waiting);
        if (place >= 0) this.#waiting.splice(place, 1);
        reject(new Halt(givenUp()));
        this.#next();
      });
      if (over) return;
      if (nested) this.#waiting.unshift(waiting);
      else this.#waiting.push(waiting);
      this.#next();
    });
  }

  /** A call begins to work, or ends it: it has begun, has not ended, and waits for no call of its tool. */
  works(works: boolean): void {
    this.#atWork += works ? 1 : -1;
    if (!works) this.#next();
  }

  /** Gives one call of the run its turn in each round of the event loop, so that other runs keep their share of it. */
  turn(): Promise<void> {
    this.#turns = this.#turns.then(() => nextRound());
    return this.#turns;
  }

  /** The least bytes of a result. */
  weigh(value: unknown): number {
    const bytes = leastBytes(value);
    // A result that may not cross the boundary is refused next, by its own limit.
    return bytes > this.#quotas.toolBytes ? 0 : bytes;
  }

  /** Throws {@link Halt} when the journal cannot take the results that have come. */
  check(): void {
    const breach = this.#quotas.checkHeld();
    if (breach !== null) throw new Halt(breach);
  }

  #hasRoom(bytes: number): boolean {
    return this.#atWork === 0 || this.#reserved + bytes <= this.#quotas.journalLeft;
  }

  /** Grants the reservation that is first, if it fits now. The next one is looked at when that one is counted. */
  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined || !this.#hasRoom(first.bytes)) return;
    this.#waiting.shift();
    first.grant();
  }
}

/** What one call takes from the host. */
export interface CallHold {
  /** Waits until so many bytes fit, and holds them. They replace an earlier reservation of the call. Rejects when the call is over. */
  reserve(bytes: number, io: CallIo): void | Promise<void>;
  /** Holds a result in place of the reservation. Throws {@link Halt} when the journal could not take it. */
  take(value: unknown): void;
  /** Holds nothing any more. */
  release(): void;
  /** Charges the program for work on so many bytes. Resolves when it is the turn of the call to do more. */
  charge(bytes: number, io: CallIo): Promise<void>;
  /** The fuel that was charged so far. */
  readonly fuel: number;
}

class Call implements CallHold {
  readonly #all: HostHold;
  readonly #outer: Call | null;
  #reserved = 0;
  #result = 0;
  #worked = 0;
  #begun = false;
  #works = false;
  /** Calls of its tool that have not ended. */
  #nested = 0;

  constructor(all: HostHold, outer: Call | null) {
    this.#all = all;
    this.#outer = outer;
    if (outer !== null) outer.#nests(1);
  }

  get fuel(): number {
    return Math.floor(this.#worked / DATA_FUEL.hostWork.amount);
  }

  reserve(bytes: number, io: CallIo): void | Promise<void> {
    this.#hold(0, this.#result);
    this.#begun = false;
    this.#tell();
    return this.#all.ask(bytes, this.#outer !== null, io, () => {
      this.#begun = true;
      this.#tell();
      this.#hold(bytes, this.#result);
    });
  }

  take(value: unknown): void {
    this.#hold(0, this.#all.weigh(value));
    this.#all.check();
  }

  release(): void {
    this.#hold(0, 0);
    this.#begun = false;
    this.#tell();
    if (this.#outer !== null) this.#outer.#nests(-1);
  }

  async charge(bytes: number, io: CallIo): Promise<void> {
    const before = this.fuel;
    this.#worked += bytes;
    if (this.#outer !== null) return this.#outer.charge(bytes, io);
    io.work?.(this.fuel - before);
    if (bytes > FREE_BYTES) await this.#all.turn();
    if (io.over) throw new Halt(givenUp());
  }

  #nests(change: number): void {
    this.#nested += change;
    this.#tell();
  }

  #tell(): void {
    const works = this.#begun && this.#nested === 0;
    if (works === this.#works) return;
    this.#works = works;
    this.#all.works(works);
  }

  #hold(reserved: number, result: number): void {
    const [wasReserved, was] = [this.#reserved, this.#result];
    [this.#reserved, this.#result] = [reserved, result];
    this.#all.change(reserved - wasReserved, result - was);
  }
}

const givenUp = () => cancelledError('the call was given up');

/** Bytes that are worked on without waiting for a turn. */
const FREE_BYTES = 16 * 1024;

/** Values of a result that are looked at when it comes. */
const LOOKED_AT = 4096;

/**
 * A lower bound for the bytes of a result as JSON. Looks at its first values only, because nobody has bounded it yet. Never throws: a result
 * that cannot be read is refused when it is encoded.
 */
export function leastBytes(result: unknown): number {
  if (typeof result === 'string') return result.length;
  if (typeof result !== 'object' || result === null) return 1;
  let left = LOOKED_AT;
  /** The containers around the present value. One within itself is refused when it is encoded. */
  const around = new Set<object>();
  const bytesOf = (value: unknown): number => {
    left -= 1;
    if (typeof value === 'string') return value.length;
    if (typeof value !== 'object' || value === null || left < 0 || around.has(value)) return 1;
    if (ArrayBuffer.isView(value)) return 'length' in value ? Number(value.length) : 1;
    around.add(value);
    let bytes = 2;
    const add = (item: unknown): void => {
      // A map leaves such an entry out.
      if (item === undefined) left -= 1;
      else bytes += bytesOf(item);
    };
    if (isList(value) || value instanceof Map) {
      for (const item of isList(value) ? value : value.values()) {
        if (left < 0) break;
        add(item);
      }
    } else {
      // A list of all keys or values would take long for an object with many.
      for (const key in value) {
        if (left < 0) break;
        if (Object.hasOwn(value, key)) add(Reflect.get(value, key));
      }
    }
    around.delete(value);
    return bytes;
  };
  try {
    return bytesOf(result);
  } catch {
    return 0;
  }
}
