import { characterAfter, holds, kindBefore } from './assertions.ts';
import type { Program } from './program.ts';
import type { Steps } from './steps.ts';

/**
 * Runs a program over a text and follows all paths through the pattern at once (Pike's virtual machine). Every character takes at most
 * one step per instruction, for any pattern.
 */
export class Threads {
  /** Offsets of the latest match: start and end of the whole match, then of each group; −1 for a group that did not take part. */
  readonly match: Int32Array;
  readonly #program: Program;
  readonly #text: string;
  readonly #steps: Steps;
  readonly #slots: number;
  /** Steps for keeping the offset of a group. */
  readonly #saving: number;
  #now: List;
  #next: List;
  /** The offsets of the thread that is being followed. */
  readonly #held: Int32Array;
  /** Instructions yet to be followed. A negative number takes an offset back: it names the slot, and the offset is below it. */
  readonly #stack: number[] = [];

  constructor(program: Program, text: string, steps: Steps, slots: number, saving: number) {
    this.#program = program;
    this.#text = text;
    this.#steps = steps;
    this.#slots = slots;
    this.#saving = saving;
    const { length } = program.code;
    this.#now = new List(length, slots);
    this.#next = new List(length, slots);
    this.#held = new Int32Array(slots);
    this.match = new Int32Array(slots);
  }

  get count(): number {
    return this.#now.count;
  }

  clear(): void {
    this.#now.clear();
  }

  /** Adds a thread at an instruction. Its match would begin at `start`. */
  begin(pc: number, start: number, at: number): void {
    this.#held.fill(-1);
    this.#held[0] = start;
    this.#follow(this.#now, pc, at);
  }

  /** Advances every thread by one character, in order of preference. A match ends the less preferred threads: then the result is true. */
  advance(code: number, at: number, next: number): boolean {
    const now = this.#now;
    const slots = this.#slots;
    let matched = false;
    for (let index = 0; index < now.count; index++) {
      this.#steps.add(1);
      const pc = now.order[index] ?? 0;
      const instruction = this.#program.code[pc];
      const row = index * slots;
      if (instruction?.op === 'match') {
        for (let slot = 0; slot < slots; slot++) this.match[slot] = now.offsets[row + slot] ?? -1;
        this.match[1] = at;
        matched = true;
        break;
      }
      if (instruction?.op !== 'chars' || code < 0) continue;
      this.#steps.ask(instruction.chars, code);
      if (!instruction.chars.has(code)) continue;
      for (let slot = 0; slot < slots; slot++) this.#held[slot] = now.offsets[row + slot] ?? -1;
      this.#follow(this.#next, pc + 1, next);
    }
    this.#now = this.#next;
    this.#next = now;
    now.clear();
    return matched;
  }

  /** Follows a thread to the instructions that wait for a character. It uses an explicit stack because programs can be long. */
  #follow(threads: List, start: number, at: number): void {
    const stack = this.#stack;
    const held = this.#held;
    stack.push(start);
    for (let pc = stack.pop(); pc !== undefined; pc = stack.pop()) {
      if (pc < 0) {
        held[~pc] = stack.pop() ?? -1;
        continue;
      }
      if (!threads.enter(pc)) continue;
      this.#steps.add(1);
      const instruction = this.#program.code[pc];
      switch (instruction?.op) {
        case 'jump':
          stack.push(instruction.to);
          break;
        case 'split':
          stack.push(instruction.second, instruction.first);
          break;
        case 'save':
          this.#steps.add(this.#saving);
          if (instruction.slot < this.#slots) {
            stack.push(held[instruction.slot] ?? -1, ~instruction.slot);
            held[instruction.slot] = at;
          }
          stack.push(pc + 1);
          break;
        case 'assert':
          if (holds(instruction.assertion, kindBefore(this.#text, at), characterAfter(this.#text, at))) stack.push(pc + 1);
          break;
        default:
          threads.wait(pc, held);
      }
    }
  }
}

/** The threads at one offset of the text, in order of preference, at most one per instruction. */
class List {
  readonly order: Int32Array;
  /** The offsets of all threads, one thread after the other. */
  readonly offsets: Int32Array;
  count = 0;
  readonly #slots: number;
  /** The round that last reached each instruction. */
  readonly #met: Int32Array;
  #round = 1;

  constructor(length: number, slots: number) {
    this.order = new Int32Array(length);
    this.offsets = new Int32Array(length * slots);
    this.#met = new Int32Array(length);
    this.#slots = slots;
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

  wait(pc: number, held: Int32Array): void {
    this.order[this.count] = pc;
    const row = this.count * this.#slots;
    for (let slot = 0; slot < this.#slots; slot++) this.offsets[row + slot] = held[slot] ?? -1;
    this.count++;
  }
}
