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
 * What the calls of one run hold on the host at once, before the journal has it: the reservations of tools and the results that have
 * come. Together with the journal they stay within `journalBytes`.
 */
export class HostHold {
  readonly #quotas: CallQuotas;
  readonly #waiting: Waiting[] = [];
  #reserved = 0;
  #turns: Promise<void> = Promise.resolve();

  constructor(quotas: CallQuotas) {
    this.#quotas = quotas;
  }

  /** The hold of one call, empty at first. A call for which the call `outer` waits gets what it asks for at once, and `outer` pays. */
  begin(outer: CallHold | null = null): CallHold {
    let worked = 0;
    let reserved = 0;
    let result = 0;
    const change = (now: number, come: number): void => {
      this.#reserved += now - reserved;
      this.#quotas.heldBytes += come - result;
      [reserved, result] = [now, come];
      this.#next();
    };
    return {
      reserve: async (bytes, io) => {
        change(0, result);
        const hold = (): void => change(bytes, result);
        if (outer !== null || this.#fits(bytes)) hold();
        else await this.#wait(bytes, io, hold);
      },
      take: (value) => {
        const bytes = leastBytes(value);
        // A result that may not cross the boundary is refused next, by its own limit.
        change(0, bytes > this.#quotas.toolBytes ? 0 : bytes);
        const breach = this.#quotas.checkHeld();
        if (breach !== null) throw new Halt(breach);
      },
      release: () => change(0, 0),
      charge: async (bytes) => {
        worked += bytes;
        if (outer !== null) await outer.charge(bytes);
        else if (bytes > FREE_BYTES) await this.#turn();
      },
      get fuel() {
        return Math.floor(worked / DATA_FUEL.hostWork.amount);
      },
    };
  }

  /** Whether a reservation fits beside the others and the journal. One that is alone always fits. */
  #fits(bytes: number): boolean {
    return this.#waiting.length === 0 && this.#hasRoom(bytes);
  }

  #hasRoom(bytes: number): boolean {
    const isAlone = this.#reserved === 0 && this.#quotas.heldBytes === 0;
    return isAlone || this.#reserved + bytes <= this.#quotas.journalLeft;
  }

  #wait(bytes: number, io: CallIo, hold: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      let over = false;
      const waiting = {
        bytes,
        grant: () => {
          forget();
          // The next one may be granted within `hold`, and goes on after this one.
          resolve();
          hold();
        },
      };
      const forget = io.whenOver(() => {
        over = true;
        const place = this.#waiting.indexOf(waiting);
        if (place >= 0) this.#waiting.splice(place, 1);
        reject(new Halt(cancelledError('the call was given up')));
      });
      if (!over) this.#waiting.push(waiting);
    });
  }

  /** Gives one call of the run its turn in each round of the event loop, so that other runs keep their share of it. */
  #turn(): Promise<void> {
    this.#turns = this.#turns.then(() => nextRound());
    return this.#turns;
  }

  /** Grants the reservation that has waited longest, if it fits now. The next one is looked at when that one is counted. */
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
  reserve(bytes: number, io: CallIo): Promise<void>;
  /** Holds a result in place of the reservation. Throws {@link Halt} when the journal could not take it. */
  take(value: unknown): void;
  /** Holds nothing any more. */
  release(): void;
  /** Charges the program for work on so many bytes. Resolves when it is the turn of the call to do more. */
  charge(bytes: number): Promise<void>;
  /** The fuel that was charged so far. */
  readonly fuel: number;
}

/** Bytes that are worked on without waiting for a turn. */
const FREE_BYTES = 16 * 1024;

/** Values of a result that are looked at when it comes. */
const LOOKED_AT = 4096;

/** A lower bound for the bytes of a result as JSON. Looks at its first values only, because nobody has bounded it yet. */
export function leastBytes(result: unknown): number {
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
    for (const item of isList(value) ? value : value instanceof Map ? value.values() : Object.values(value)) {
      if (left < 0) break;
      // A map leaves such an entry out.
      if (item === undefined) left -= 1;
      else bytes += bytesOf(item);
    }
    around.delete(value);
    return bytes;
  };
  return bytesOf(result);
}
