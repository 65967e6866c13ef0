import { type Before, holds, kindBefore, kindOf, START } from './assertions.ts';
import type { Program } from './program.ts';

/**
 * A place in a search: where its threads go on, in order of preference, and what stands before them. All threads of a block began at
 * the same offset; blocks are numbered in the order of these offsets.
 */
export interface State {
  /** Its row in the table. */
  readonly row: number;
  readonly pcs: readonly number[];
  /** The block of each thread. */
  readonly blocks: readonly number[];
  /** Whether new threads begin here, since no match was found yet. */
  readonly searching: boolean;
  readonly before: Before;
  /** Known transitions by character; −1 is the end of the text. */
  readonly known: Map<number, Transition>;
}

export interface Transition {
  readonly to: State;
  /** The steps that a search thread by thread takes. */
  readonly steps: number;
  /** False if every thread of the state ended before the character. The character is then still to be read. */
  readonly reads: boolean;
  /** The block of the thread that matches before the character; −1 for none. */
  readonly matches: number;
  /** The block of the thread that begins before the character. */
  readonly fresh: number;
  /** For each block of the next state its block in this one; null if none changes its number. */
  readonly moved: readonly number[] | null;
  /** How many Unicode properties the character was tested for. */
  readonly asked: number;
}

/** Characters below this are ASCII: the columns of the table. */
export const ASCII = 128;

/**
 * How an entry of the table reads: the row of the next state, whether the first block matches or begins there, and the steps. An entry below 0
 * is one with the other sign, after which no thread is left.
 */
export const ROW = 0x7f;
export const MATCHES = 0x80;
export const BEGINS = 0x100;
export const STEPS_SHIFT = 9;

/** The most that an automaton keeps. Beyond that it forgets everything, so that its memory is bounded: half a megabyte. */
const MOST_STATES = ROW;
const MOST_TRANSITIONS = 2048;
const MOST_THREADS = 8192;
/** Rows of the first table. */
const FEW_STATES = 8;
/** An automaton that makes a transition more often than for every 8th character is slower than a search thread by thread. */
const WORTHWHILE = 8;

/**
 * A program as a deterministic automaton, built while it is used. A state stands for all threads at one offset, and a transition for all
 * that they do with a character: it is worked out once, together with the number of steps that it replaces.
 */
export class Automaton {
  readonly #program: Program;
  /** Steps for keeping the offset of a group. */
  readonly #saving: number;
  /** Whether an assertion asks what stands before an offset. */
  readonly looks: boolean;
  /** Whether a search without threads looks for a place to begin, in place of beginning at every character. */
  readonly #waits: boolean;
  /**
   * The plain transitions by state and ASCII character: those after which a search only reads on or ends, with all blocks as they were or with
   * its first. 0 where there is none. One load from it takes the place of all that threads do with a character.
   */
  table = new Int32Array(FEW_STATES * ASCII);
  /** The states by row. */
  readonly states: State[] = [];
  readonly #byName = new Map<string, State>();
  /** The states without threads. */
  #empty: (State | undefined)[] = [];
  #transitions = 0;
  #threads = 0;
  /** Characters read since the automaton was empty. */
  #read = 0;
  readonly #met: Int32Array;
  #round = 0;

  constructor(program: Program, saving: number) {
    this.#program = program;
    this.#saving = saving;
    this.looks = program.code.some(({ op }) => op === 'assert');
    this.#waits = program.anchored || program.prefix !== '';
    this.#met = new Int32Array(program.code.length);
  }

  /** Whether this is the automaton of a program, for searches that pay so much for an offset. */
  isOf(program: Program, saving: number): boolean {
    return program === this.#program && saving === this.#saving;
  }

  /** The state without threads at an offset, where a search begins. */
  start(text: string, at: number): State {
    const kind = this.looks ? kindBefore(text, at) : START;
    const known = this.#empty[kind];
    if (known !== undefined) return known;
    const state = this.#state([], [], true, kind);
    this.#empty[kind] = state;
    return state;
  }

  /** Notes how many characters were read. */
  read(characters: number): void {
    this.#read += characters;
  }

  /** Makes a transition; null if the automaton is not worth its while for this text. */
  transition(from: State, code: number): Transition | null {
    let state = from;
    if (this.#isFull()) {
      if (this.#read < WORTHWHILE * this.#transitions) return null;
      this.#byName.clear();
      this.states.length = 0;
      this.table.fill(0);
      this.#empty = [];
      this.#transitions = 0;
      this.#threads = 0;
      this.#read = 0;
      state = this.#state(from.pcs, from.blocks, from.searching, from.before);
    }
    this.#transitions++;
    const made = this.#make(state, code);
    state.known.set(code, made);
    return made;
  }

  #isFull(): boolean {
    return this.states.length === MOST_STATES || this.#transitions >= MOST_TRANSITIONS || this.#threads >= MOST_THREADS;
  }

  #make(state: State, code: number): Transition {
    const { code: program } = this.#program;
    const reached = new Reached();
    const fresh = (state.blocks.at(-1) ?? -1) + 1;
    this.#round++;
    for (const [index, pc] of state.pcs.entries()) this.#reach(reached, pc, state.blocks[index] ?? 0, state.before, code);
    if (reached.pcs.length === 0 && state.pcs.length > 0 && (!state.searching || this.#waits)) {
      const to = this.#state([], [], state.searching, state.before);
      return { to, steps: reached.steps, reads: false, matches: -1, fresh, moved: null, asked: 0 };
    }
    if (state.searching) this.#reach(reached, 0, fresh, state.before, code);
    const pcs: number[] = [];
    const blocks: number[] = [];
    const from: number[] = [];
    let { steps } = reached;
    let matches = -1;
    let asked = 0;
    for (const [index, pc] of reached.pcs.entries()) {
      steps++;
      const block = reached.blocks[index] ?? 0;
      const instruction = program[pc];
      if (instruction?.op === 'match') {
        matches = block;
        break;
      }
      if (instruction?.op !== 'chars' || code < 0) continue;
      const { chars } = instruction;
      if (chars.asked > 1 && code >= 128) asked += chars.asked;
      if (!chars.has(code)) continue;
      if (from.at(-1) !== block) from.push(block);
      pcs.push(pc + 1);
      blocks.push(from.length - 1);
    }
    const to = this.#state(pcs, blocks, state.searching && matches < 0, this.looks ? kindOf(code) : START);
    const moved = from.every((block, index) => block === index && block < fresh) ? null : from;
    const runs = to.pcs.length > 0 || (to.searching && !this.#waits);
    const begins = fresh === 0 && from.length > 0 && matches < 0;
    const plain = (moved === null || begins) && (matches < 0 || (matches === 0 && fresh > 0));
    if (plain && code >= 0 && code < ASCII) {
      const entry = to.row | (matches < 0 ? 0 : MATCHES) | (begins ? BEGINS : 0) | (steps << STEPS_SHIFT);
      this.table[state.row * ASCII + code] = runs ? entry : -entry;
    }
    return { to, steps, reads: true, matches, fresh, moved, asked };
  }

  /** Follows a thread to the instructions that wait for a character, as `Threads.add` does. */
  #reach(reached: Reached, start: number, block: number, before: Before, after: number): void {
    const stack = [start];
    for (let pc = stack.pop(); pc !== undefined; pc = stack.pop()) {
      if (this.#met[pc] === this.#round) continue;
      this.#met[pc] = this.#round;
      reached.steps++;
      const instruction = this.#program.code[pc];
      switch (instruction?.op) {
        case 'jump':
          stack.push(instruction.to);
          break;
        case 'split':
          stack.push(instruction.second, instruction.first);
          break;
        case 'save':
          reached.steps += this.#saving;
          stack.push(pc + 1);
          break;
        case 'assert':
          if (holds(instruction.assertion, before, after)) stack.push(pc + 1);
          break;
        default:
          reached.pcs.push(pc);
          reached.blocks.push(block);
      }
    }
  }

  #state(pcs: readonly number[], blocks: readonly number[], searching: boolean, before: Before): State {
    const name = `${searching} ${before} ${pcs.join()} ${blocks.join()}`;
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const state: State = { row: this.states.length, pcs, blocks, searching, before, known: new Map() };
    this.#byName.set(name, state);
    this.states.push(state);
    if (this.states.length * ASCII > this.table.length) {
      const wider = new Int32Array(2 * this.table.length);
      wider.set(this.table);
      this.table = wider;
    }
    this.#threads += pcs.length;
    return state;
  }
}

/** The instructions that threads reach before a character, in order of preference. */
class Reached {
  readonly pcs: number[] = [];
  readonly blocks: number[] = [];
  steps = 0;
}
