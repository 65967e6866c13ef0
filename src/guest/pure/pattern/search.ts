import { WORK } from '../../kit.ts';
import type { Meter } from '../../meter.ts';
import { SubstringSearch } from '../substring.ts';
import { isWord } from './chars.ts';
import type { Program } from './program.ts';
import type { Place } from './syntax.ts';

/** Offsets of a match: start and end of the whole, then of each group; −1 where a group took no part. */
export type Match = Int32Array;

/** Bytes that a thread of the search takes, besides 4 for each offset. */
const THREAD_BYTES = 96;
/** So many offsets are made in the time of a step. */
const FEW_SLOTS = 64;
/** Steps after which they are paid for. */
const BATCH = 1024;

/**
 * Runs a program over a text, following all ways through the pattern at once (Pike's method): every character costs at most one
 * step for each instruction, whatever the pattern. The steps are paid for as they are taken.
 */
export class Search {
  readonly #meter: Meter;
  readonly #program: Program;
  readonly #text: string;
  readonly #slots: number;
  /** What every match begins with. */
  readonly #needle: SubstringSearch | null;
  #now: Threads;
  #next: Threads;
  #steps = 0;
  readonly #bytes: number;

  /** `groups`: whether the offsets of groups are wanted. */
  constructor(meter: Meter, program: Program, text: string, groups: boolean) {
    this.#meter = meter;
    this.#program = program;
    this.#text = text;
    this.#slots = groups ? 2 * (program.groups.length + 1) : 2;
    const { length } = program.code;
    this.#needle = program.prefix === '' ? null : new SubstringSearch(meter, program.prefix);
    this.#bytes = 2 * length * (THREAD_BYTES + 4 * this.#slots);
    meter.pay(WORK.match, length);
    meter.allocate(this.#bytes);
    this.#now = new Threads(length);
    this.#next = new Threads(length);
  }

  /** Nobody asks for more: steps that are not paid for bring the next look at the clocks nearer. */
  leave(): void {
    this.#meter.pay(WORK.unpaidMatch, this.#steps);
  }

  /** The search is over; its newItems is free. */
  end(): void {
    this.#pay();
    this.#meter.release(this.#bytes);
  }

  /** The leftmost match from an offset on, by the order of preference of Perl; null when there is none. */
  from(start: number): Match | null {
    const { anchored } = this.#program;
    const needle = this.#needle;
    const text = this.#text;
    let found: Match | null = null;
    this.#now.clear();
    for (let at = start; at <= text.length; ) {
      if (this.#now.count === 0) {
        if (found !== null || (anchored && at > 0)) break;
        if (needle !== null) {
          const ahead = needle.first(text, at);
          this.#step(((ahead < 0 ? text.length : ahead) - at) >> 3);
          if (ahead < 0) break;
          at = ahead;
        }
      }
      if (this.#slots > FEW_SLOTS) this.#meter.pay(WORK.offset, this.#slots);
      if (found === null) this.#add(this.#now, 0, at, new Int32Array(this.#slots).fill(-1).fill(at, 0, 1));
      const code = at < text.length ? (text.codePointAt(at) ?? 0) : -1;
      const next = at + (code > 0xffff ? 2 : 1);
      found = this.#advance(code, at, next) ?? found;
      [this.#now, this.#next] = [this.#next, this.#now];
      this.#next.clear();
      at = next;
    }
    return found;
  }

  /** Takes one character with every thread, in order; a match ends those that are preferred less. */
  #advance(code: number, at: number, next: number): Match | null {
    const now = this.#now;
    for (let index = 0; index < now.count; index++) {
      this.#step(1);
      const pc = now.order[index] ?? 0;
      const offsets = now.offsets[index];
      const instruction = this.#program.code[pc];
      if (instruction === undefined || offsets === undefined) continue;
      if (instruction.op === 'match') {
        const match = offsets.slice();
        match[1] = at;
        return match;
      }
      if (instruction.op !== 'chars' || code < 0) continue;
      const { asked } = instruction.chars;
      if (asked > 1 && code >= 128) this.#meter.pay(WORK.property, asked);
      if (instruction.chars.has(code)) this.#add(this.#next, pc + 1, next, offsets);
    }
    return null;
  }

  /** Puts a thread where it waits for a character, following what takes none. The stack is our own: programs are long. */
  #add(threads: Threads, start: number, at: number, offsets: Int32Array): void {
    const stack: (readonly [number, Int32Array])[] = [[start, offsets]];
    for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
      const [pc, held] = top;
      if (!threads.enter(pc)) continue;
      this.#step(1);
      const instruction = this.#program.code[pc];
      switch (instruction?.op) {
        case 'jump':
          stack.push([instruction.to, held]);
          break;
        case 'split':
          stack.push([instruction.second, held], [instruction.first, held]);
          break;
        case 'save': {
          if (instruction.slot >= this.#slots) {
            stack.push([pc + 1, held]);
            break;
          }
          this.#step(this.#slots >> 3);
          const saved = held.slice();
          saved[instruction.slot] = at;
          stack.push([pc + 1, saved]);
          break;
        }
        case 'place':
          if (holds(instruction.place, this.#text, at)) stack.push([pc + 1, held]);
          break;
        default:
          threads.wait(pc, held);
      }
    }
  }

  #step(steps: number): void {
    this.#steps += steps;
    if (this.#steps >= BATCH) this.#pay();
  }

  #pay(): void {
    const steps = this.#steps;
    this.#steps %= WORK.match.per;
    this.#meter.pay(WORK.match, steps);
  }
}

/** The threads of one place in the text, in order of preference, each instruction once. */
class Threads {
  readonly order: Int32Array;
  readonly offsets: Int32Array[] = [];
  count = 0;
  /** In which round an instruction was met last. */
  readonly #met: Int32Array;
  #round = 1;

  constructor(length: number) {
    this.order = new Int32Array(length);
    this.#met = new Int32Array(length);
  }

  clear(): void {
    this.count = 0;
    this.#round++;
  }

  /** False when the instruction was met already. */
  enter(pc: number): boolean {
    if (this.#met[pc] === this.#round) return false;
    this.#met[pc] = this.#round;
    return true;
  }

  wait(pc: number, offsets: Int32Array): void {
    this.order[this.count] = pc;
    this.offsets[this.count] = offsets;
    this.count++;
  }
}

function holds(place: Place, text: string, at: number): boolean {
  switch (place) {
    case 'text start':
      return at === 0;
    case 'text end':
      return at === text.length;
    case 'line start':
      return at === 0 || text.charCodeAt(at - 1) === 0x0a;
    case 'line end':
      return at === text.length || text.charCodeAt(at) === 0x0a;
    case 'word edge':
      return edge(text, at);
    case 'no word edge':
      return !edge(text, at);
  }
}

function edge(text: string, at: number): boolean {
  const before = at > 0 && isWord(text.charCodeAt(at - 1));
  const after = at < text.length && isWord(text.charCodeAt(at));
  return before !== after;
}
