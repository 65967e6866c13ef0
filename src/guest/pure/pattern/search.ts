import { WORK } from '../../kit.ts';
import type { Meter } from '../../meter.ts';
import type { ListBuilder } from '../results.ts';
import { SHORT, SubstringSearch } from '../substring.ts';
import { END } from './assertions.ts';
import { ASCII, Automaton, BEGINS, MATCHES, ROW, STEPS_SHIFT, type State, type Transition } from './automaton.ts';
import type { Program } from './program.ts';
import { Steps } from './steps.ts';
import { Sweep } from './sweep.ts';
import { Threads } from './threads.ts';

/** Bytes of a thread of the search, besides 4 for each offset. */
const THREAD_BYTES = 96;
/** The number of offsets that can be copied in the time of a step. */
const FEW_SLOTS = 64;
/** Steps of this many offsets each are paid for one thread after the other. */
const MANY_GROUPS = 64;
/** After so many steps a run of plain transitions ends. */
const MANY_STEPS = 2048;
/** Searches after a sweep that found nothing. */
const PAUSE = 8;
/** An offset costs a step for so many slots. */
const SLOTS_PER_STEP = 8;

/**
 * Finds the matches of a program in a text. An automaton finds where a match begins and ends, or threads do if the automaton is not worth
 * its while; the groups of a match are worked out when they are asked for. The fuel is that of threads that record the groups.
 */
export class Search {
  /** Where the latest match starts and ends. */
  start = 0;
  end = 0;
  readonly #meter: Meter;
  readonly #program: Program;
  readonly #text: string;
  readonly #slots: number;
  /** Finds the prefix of every match; null if there is none. */
  readonly #prefix: SubstringSearch | null;
  readonly #steps: Steps;
  /** Steps that cost no fuel, because those that found the match were paid for. */
  readonly #unpaid: Steps;
  readonly #bytes: number;
  #automaton: Automaton | null;
  #finder: Threads | null = null;
  #grouping: Threads | null = null;
  /** Where the threads of each block of the automaton began. */
  readonly #starts: number[] = [];
  /** Where the latest run of plain transitions came to. */
  #row = 0;
  #at = 0;
  /** Searches to be made before the next sweep. */
  #pause = 0;

  /** `groups` is true if the groups of matches may be asked for. */
  constructor(meter: Meter, program: Program, text: string, groups: boolean) {
    this.#meter = meter;
    this.#program = program;
    this.#text = text;
    this.#slots = groups ? 2 * (program.groups.length + 1) : 2;
    this.#steps = new Steps(meter, WORK.match);
    this.#unpaid = new Steps(meter, WORK.unpaidMatch);
    const { length } = program.code;
    this.#prefix = program.prefix === '' ? null : new SubstringSearch(meter, program.prefix);
    this.#bytes = 2 * length * (THREAD_BYTES + 4 * this.#slots);
    meter.pay(WORK.match, length);
    meter.allocate(this.#bytes);
    this.#automaton = this.#slots < MANY_GROUPS ? automatonOf(meter, program, this.#saving) : null;
  }

  /** Ends the use of the search: pays for the time of the steps that are not paid for yet. */
  settle(): void {
    this.#steps.settle();
    this.#unpaid.settle();
  }

  /** Ends a search that ran to its end: pays for the remaining steps and releases its memory. */
  finish(): void {
    this.#steps.pay();
    this.#meter.release(this.#bytes);
  }

  /** Finds the leftmost match at or after an offset, by Perl's order of preference. Returns false if there is none. */
  from(at: number): boolean {
    if (this.#automaton !== null) return this.#scan(this.#automaton, at);
    this.#threads.clear();
    return this.#thread(at, false);
  }

  /**
   * Adds the texts of at most so many of the next matches to a list, and returns how many. They cost what {@link from} and the list take
   * for each, but are paid for together. It adds none where transitions are not known yet, and where a limit or a census is near.
   */
  sweep(from: number, most: number, list: ListBuilder): number {
    const automaton = this.#automaton;
    const { prefix, anchored } = this.#program;
    if (automaton === null || anchored || prefix.length > SHORT || --this.#pause >= 0) return 0;
    const sweep = new Sweep(this.#text, prefix, automaton, from, this.#steps.taken);
    sweep.run(most);
    const { texts, units, start, end, taken, paid } = sweep;
    this.#pause = texts.length || PAUSE;
    if (texts.length === 0 || !list.texts(texts, units, paid / WORK.match.per)) return 0;
    this.#pause = 0;
    this.#steps.leave(taken);
    automaton.read(units);
    this.start = start;
    this.end = end;
    return texts.length;
  }

  /** The offsets of the latest match: start and end, then those of each group; −1 for a group that did not take part. */
  groups(): Int32Array {
    if (this.#slots === 2) return Int32Array.of(this.start, this.end);
    const threads = this.#grouping ?? this.#newGrouping();
    threads.clear();
    threads.begin(0, this.start, this.start);
    for (let at = this.start; at <= this.end; ) {
      if (this.#slots > FEW_SLOTS) this.#meter.pay(WORK.offset, this.#slots * threads.count);
      const code = this.#code(at);
      const next = at + (code > 0xffff ? 2 : 1);
      threads.advance(code, at, next);
      at = next;
    }
    return threads.match;
  }

  #newGrouping(): Threads {
    this.#meter.pay(WORK.groups);
    this.#grouping = new Threads(this.#program, this.#text, this.#unpaid, this.#slots, 0);
    return this.#grouping;
  }

  /** Steps for keeping the offset of a group. */
  get #saving(): number {
    return this.#slots === 2 ? 0 : Math.floor(this.#slots / SLOTS_PER_STEP);
  }

  get #threads(): Threads {
    this.#finder ??= new Threads(this.#program, this.#text, this.#steps, 2, this.#saving);
    return this.#finder;
  }

  #code(at: number): number {
    return at < this.#text.length ? (this.#text.codePointAt(at) ?? 0) : END;
  }

  /** The offset from which a match may start, when no thread runs; beyond the text if no match does. */
  #ahead(at: number): number {
    if (this.#program.anchored && at > 0) return Number.POSITIVE_INFINITY;
    if (this.#prefix === null) return at;
    const ahead = this.#prefix.first(this.#text, at);
    this.#steps.add(((ahead < 0 ? this.#text.length : ahead) - at) >> 3);
    return ahead < 0 ? Number.POSITIVE_INFINITY : ahead;
  }

  /** Searches by the automaton. */
  #scan(automaton: Automaton, start: number): boolean {
    const text = this.#text;
    let found = false;
    let state = automaton.start(text, start);
    let at = start;
    let noted = start;
    while (at <= text.length) {
      if (state.pcs.length === 0) {
        if (found) break;
        const ahead = this.#ahead(at);
        if (ahead > text.length) break;
        if (ahead > at) {
          noted += ahead - at;
          at = ahead;
          state = automaton.start(text, at);
        }
      }
      if (this.#run(automaton.table, state.row, at)) found = true;
      at = this.#at;
      state = automaton.states[this.#row] ?? state;
      const code = this.#code(at);
      let transition = state.known.get(code);
      if (transition === undefined) {
        automaton.read(at - noted);
        noted = at;
        this.#meter.pay(WORK.transition);
        const made = automaton.transition(state, code);
        if (made === null) return this.#resume(state, at, found);
        transition = made;
      }
      this.#steps.each(transition.steps);
      if (transition.asked > 0) this.#meter.pay(WORK.property, transition.asked);
      if (this.#pass(transition, at)) found = true;
      state = transition.to;
      if (transition.reads) at += code > 0xffff ? 2 : 1;
    }
    automaton.read(at - noted);
    return found;
  }

  /**
   * Reads on while transitions are plain, for a bounded number of steps. Returns whether a thread matched. This is a method of its own because
   * V8 optimises a loop fully between calls only, not while it runs.
   */
  #run(table: Int32Array, from: number, start: number): boolean {
    const text = this.#text;
    let row = from;
    let at = start;
    let steps = 0;
    let begin = -1;
    let end = -1;
    for (const { length } = text; at < length; at++) {
      const unit = text.charCodeAt(at);
      if (unit >= ASCII) break;
      const entry = table[row * ASCII + unit] ?? 0;
      if (entry <= 0 || steps >= MANY_STEPS) break;
      if ((entry & BEGINS) !== 0) begin = at;
      if ((entry & MATCHES) !== 0) end = at;
      row = entry & ROW;
      steps += entry >> STEPS_SHIFT;
    }
    this.#steps.each(steps);
    this.#row = row;
    this.#at = at;
    if (begin >= 0) this.#starts[0] = begin;
    if (end < 0) return false;
    this.start = this.#starts[0] ?? start;
    this.end = end;
    return true;
  }

  /** Notes what a transition at an offset changes besides the state. Returns whether it matches. */
  #pass({ fresh, matches, moved }: Transition, at: number): boolean {
    const starts = this.#starts;
    starts[fresh] = at;
    if (matches >= 0) {
      this.start = starts[matches] ?? at;
      this.end = at;
    }
    if (moved !== null) for (let block = 0; block < moved.length; block++) starts[block] = starts[moved[block] ?? 0] ?? at;
    return matches >= 0;
  }

  /** Goes on with threads where the automaton gave up. */
  #resume({ pcs, blocks }: State, at: number, found: boolean): boolean {
    this.#automaton = null;
    const threads = this.#threads;
    threads.clear();
    for (const [index, pc] of pcs.entries()) threads.begin(pc, this.#starts[blocks[index] ?? 0] ?? at, at);
    return this.#thread(at, found);
  }

  /** Searches by threads. `found` tells whether a match was found that the threads there are would take the place of. */
  #thread(start: number, found: boolean): boolean {
    const threads = this.#threads;
    const text = this.#text;
    let matched = found;
    for (let at = start; at <= text.length; ) {
      if (threads.count === 0) {
        if (matched) break;
        at = this.#ahead(at);
        if (at > text.length) break;
      }
      if (!matched) threads.begin(0, at, at);
      const code = this.#code(at);
      const next = at + (code > 0xffff ? 2 : 1);
      if (threads.advance(code, at, next)) {
        matched = true;
        this.start = threads.match[0] ?? at;
        this.end = at;
      }
      at = next;
    }
    return matched;
  }
}

/** How many automata a run keeps. */
const KEPT = 2;

const kept = new WeakMap<Meter, Automaton[]>();

/** The automaton of a program, kept from an earlier search if it is one of the latest. */
function automatonOf(meter: Meter, program: Program, saving: number): Automaton {
  const latest = kept.get(meter) ?? [];
  const automaton = latest.find((each) => each.isOf(program, saving)) ?? new Automaton(program, saving);
  kept.set(meter, [automaton, ...latest.filter((each) => each !== automaton)].slice(0, KEPT));
  return automaton;
}
