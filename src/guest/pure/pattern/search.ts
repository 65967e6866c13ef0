import { WORK } from '../../kit.ts';
import type { Meter } from '../../meter.ts';
import { SubstringSearch } from '../substring.ts';
import { isWord } from './chars.ts';
import type { Program } from './program.ts';
import type { Assertion } from './syntax.ts';

/** Offsets of a match: start and end of the whole match, then of each group; −1 for a group that did not take part. */
export type Match = Int32Array;

/** Bytes of a thread of the search, besides 4 for each offset. */
const THREAD_BYTES = 96;
/** The number of offsets that can be made in the time of a step. */
const FEW_SLOTS = 64;
/** The number of steps that are paid for together. */
const BATCH = 1024;

/**
 * Runs a program over a text and follows all paths through the pattern at once (Pike's virtual machine). Every character takes
 * at most one step per instruction, for any pattern. Steps are paid for as they are taken.
 */
export class Search {
  readonly #meter: Meter;
  readonly #program: Program;
  readonly #text: string;
  readonly #slots: number;
  /** Finds the prefix of every match; null if there is none. */
  readonly #prefix: SubstringSearch | null;
  #now: Threads;
  #next: Threads;
  #steps = 0;
  readonly #bytes: number;

  /** `groups` is true to record the offsets of groups. */
  constructor(meter: Meter, program: Program, text: string, groups: boolean) {
    this.#meter = meter;
    this.#program = program;
    this.#text = text;
    this.#slots = groups ? 2 * (program.groups.length + 1) : 2;
    const { length } = program.code;
    this.#prefix = program.prefix === '' ? null : new SubstringSearch(meter, program.prefix);
    this.#bytes = 2 * length * (THREAD_BYTES + 4 * this.#slots);
    meter.pay(WORK.match, length);
    meter.allocate(this.#bytes);
    this.#now = new Threads(length);
    this.#next = new Threads(length);
  }

  /** Ends the use of the search: pays for the time of the steps that are not paid for yet. */
  settle(): void {
    this.#meter.pay(WORK.unpaidMatch, this.#steps);
  }

  /** Ends a search that ran to its end: pays for the remaining steps and releases its memory. */
  end(): void {
    this.#pay();
    this.#meter.release(this.#bytes);
  }

  /** The leftmost match at or after an offset, by Perl's order of preference; null if there is none. */
  from(start: number): Match | null {
    const { anchored } = this.#program;
    const prefix = this.#prefix;
    const text = this.#text;
    let found: Match | null = null;
    this.#now.clear();
    for (let at = start; at <= text.length; ) {
      if (this.#now.count === 0) {
        if (found !== null || (anchored && at > 0)) break;
        if (prefix !== null) {
          const ahead = prefix.first(text, at);
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

  /** Advances every thread by one character, in order of preference. A match ends the less preferred threads. */
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

  /** Adds a thread at the instructions that wait for a character. It uses an explicit stack because programs can be long. */
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
        case 'assert':
          if (holds(instruction.assertion, this.#text, at)) stack.push([pc + 1, held]);
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

/** The threads at one offset of the text, in order of preference, at most one per instruction. */
class Threads {
  readonly order: Int32Array;
  readonly offsets: Int32Array[] = [];
  count = 0;
  /** The round that last reached each instruction. */
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

  /** Returns false if this round has reached the instruction already. */
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

function holds(assertion: Assertion, text: string, at: number): boolean {
  switch (assertion) {
    case 'text start':
      return at === 0;
    case 'text end':
      return at === text.length;
    case 'line start':
      return at === 0 || text.charCodeAt(at - 1) === 0x0a;
    case 'line end':
      return at === text.length || text.charCodeAt(at) === 0x0a;
    case 'word boundary':
      return isWordBoundary(text, at);
    case 'no word boundary':
      return !isWordBoundary(text, at);
  }
}

function isWordBoundary(text: string, at: number): boolean {
  const before = at > 0 && isWord(text.charCodeAt(at - 1));
  const after = at < text.length && isWord(text.charCodeAt(at));
  return before !== after;
}
