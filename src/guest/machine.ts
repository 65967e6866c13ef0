import { NS_CODES, type NsCodeName } from '../wire/codes.ts';
import { CENSUS_FLOOR, MAX_TEXT_UNITS, METER_INTERVAL, METER_WEIGHT, textBytes, VALUE_BYTES } from '../wire/costs.ts';
import type { LimitKey, LimitValues } from '../wire/limits.ts';
import type { GuestInput } from '../wire/protocol.ts';
import { grouped } from '../wire/text/grouped.ts';
import { CodePoints } from './codepoints.ts';
import { Constants } from './constants.ts';
import { excess } from './describe.ts';
import { Failure, type FramePlace, type Place, type Stop, stop } from './errors.ts';
import type { Flow } from './flow/flow.ts';
import type { Frame } from './frame.ts';
import { countLive } from './memory.ts';
import type { Meter } from './meter.ts';
import { NonNumericTexts } from './nonnumeric.ts';
import { Output } from './output.ts';
import type { Probe } from './probe.ts';
import type { PureTool } from './puretool.ts';
import type { Value } from './values.ts';
import { WORK, type Work } from './work.ts';

/** Bytes at which memory is first looked at. */
const FIRST_LOOK = 4096;

/** The guest's functions of the outside, see `boot`. */
export interface Ports {
  clock(measured?: boolean): number;
  host(frame: string, follows?: boolean): string;
  tree(file: number, part: number): string;
}

export type Settings = Pick<GuestInput, 'limits' | 'turn' | 'forkId' | 'stdin' | 'stopAt'>;

/**
 * The state of one run: the meters of fuel and memory, the running frame, the place of the current operation. It is one object with
 * plain fields, because compiled code uses it at every statement.
 */
export class Machine implements Meter {
  readonly limits: LimitValues;
  readonly ports: Ports;
  readonly output: Output;
  /** Root globals, `self` included; scripts cannot change them (code 43). */
  readonly globals: Map<string, Value> = new Map();
  /** Global constants: from the host, and from trusted tools while the program runs. */
  readonly constants = new Constants();
  /** The pure tools, by canonical name. All other tools are the host's. */
  readonly pure: Map<string, PureTool> = new Map();
  /** True in a turn: a breach of an output limit is `ERR_ENV_SIZE`. */
  readonly turn: boolean;
  /** Id of the fork that the command blocks run in. */
  readonly forkId: string;
  /** Whether the host can answer `promptuser`. */
  readonly stdin: boolean;
  /** In a replay: where a clock stopped the original run. */
  readonly #stopAt: GuestInput['stopAt'];

  readonly codePoints = new CodePoints(this);
  readonly nonNumeric = new NonNumericTexts();

  /** Measures the run, where the host asks for that. It is set before anything is compiled. */
  probe: Probe | null = null;
  /** The labels of values, in a run under flow rules. As `probe`, it is set before anything is compiled. */
  flow: Flow | null = null;

  frame: Frame | null = null;
  /** Frames of ended calls that are kept for the next ones. */
  spareFrames = 0;
  /** Offset of the running operation: the place of an error. It is set before anything that may fail. */
  at = 0;
  missed: Meter['missed'] = null;

  /** Copies of the limits that every call checks. */
  readonly callDepth: number;
  readonly evalDepth: number;

  /** Statements until the next check of the clocks. Together with `reserve` this is the fuel that is left. */
  untilCheck = 0;
  /** Fuel that is not part of `untilCheck` yet. */
  reserve: number;

  /** Upper bound of the bytes alive: exact after a census, then it grows with everything allocated. */
  usedBytes = 0;
  peakBytes = 0;
  /** Bytes that the running statement of the running frame has allocated. */
  statementBytes = 0;
  toolCalls = 0;
  compiled = 0;
  /** Calls of each tool so far, by its canonical name. */
  readonly callsOf: Map<string, number> = new Map();
  /** Calls to the host of all kinds: the last `seq`. */
  hostCalls = 0;
  #forks = 0;
  /** Units of the longest text that `textLength` and `valueBytes` allow. */
  readonly #longest: number;

  /** `usedBytes` is looked at before it passes this. */
  threshold: number;
  /** A census is due before `usedBytes` passes this. */
  #due: number;
  #census = 0;

  constructor({ limits, turn, forkId, stdin, stopAt }: Settings, ports: Ports) {
    this.limits = limits;
    this.turn = turn;
    this.forkId = forkId;
    this.stdin = stdin;
    this.#stopAt = stopAt;
    this.ports = ports;
    this.callDepth = limits.callDepth;
    this.evalDepth = limits.evalDepth;
    this.#longest = Math.min(limits.textLength, Math.floor((limits.valueBytes - textBytes(0)) / VALUE_BYTES.unit.amount));
    this.reserve = limits.fuel;
    this.#due = Math.min(CENSUS_FLOOR, limits.memoryBytes);
    this.threshold = Math.min(FIRST_LOOK, this.#due);
    this.output = new Output(this, (frame, follows) => ports.host(frame, follows));
  }

  get hasLabels(): boolean {
    return this.flow !== null && !this.flow.origins.isEmpty;
  }

  /** Fuel spent so far. Work that needs more fuel than is left does not start, and its fuel is not spent. */
  get fuel(): number {
    return Math.min(this.limits.fuel, this.limits.fuel - this.reserve - this.untilCheck);
  }

  pay({ base, fuel, per, time, bytes }: Work, units = 1): void {
    const times = Math.floor(units / per);
    const cost = base + fuel * times;
    const delay = METER_WEIGHT * base + time * times;
    if (delay <= this.untilCheck) {
      this.untilCheck -= delay;
      this.reserve += delay - cost;
    } else {
      this.untilCheck -= cost;
      this.refill(this.at);
    }
    if (bytes > 0) this.allocate(bytes * units);
  }

  /** Pays for one unit of work without a base or bytes: the same as {@link pay}, for what every call of a program does. */
  hasten({ fuel, time }: Work): void {
    if (time > this.untilCheck) {
      this.untilCheck -= fuel;
      this.refill(this.at);
    } else {
      this.untilCheck -= time;
      this.reserve += time - fuel;
    }
  }

  /** Pays for a step of the program: a statement with its operations, a pass of a loop, a call. `at` is its place. */
  step(fuel: number, at: number): void {
    const untilCheck = this.untilCheck - fuel;
    this.untilCheck = untilCheck;
    if (untilCheck < 0) this.refill(at);
  }

  /** Begins a statement of the running frame: pays for it, and lets go of what the one before it held. */
  begin(frame: Frame, fuel: number, at: number): void {
    const untilCheck = this.untilCheck - fuel;
    this.untilCheck = untilCheck;
    if (untilCheck < 0) this.refill(at);
    this.statementBytes = 0;
    frame.keep = null;
  }

  get fuelLeft(): number {
    return this.reserve + this.untilCheck;
  }

  /** Hands out more fuel and checks the clocks. Ends the run when fuel or time is used up. `at` is the place. */
  refill(at: number): void {
    this.at = at;
    this.reserve += this.untilCheck;
    this.untilCheck = 0;
    if (this.reserve < 0) this.breach('fuel', this.limits.fuel - this.reserve, 'the program used up its fuel');
    this.untilCheck = Math.min(METER_INTERVAL, this.reserve);
    this.reserve -= this.untilCheck;
    this.checkClocks();
    this.output.tick();
  }

  /** Ends the run when its time is used up. The end of the program checks too, because its last operation may have been a long one. */
  checkClocks(): void {
    const clock = this.#clock();
    if (clock === 1) this.breach('cpuMs', this.limits.cpuMs, `the program ran for ${grouped(this.limits.cpuMs)} ms of CPU time`);
    if (clock === 2) this.breach('wallMs', this.limits.wallMs, `the program ran for ${grouped(this.limits.wallMs)} ms`);
  }

  #clock(): number {
    const stop = this.#stopAt;
    if (stop === undefined) return this.ports.clock();
    return this.fuel >= stop.fuel ? stop.clock : 0;
  }

  covers(fuel: number, bytes: number, items: number): boolean {
    return fuel <= this.fuelLeft && this.usedBytes + bytes <= this.#due && items <= this.limits.listLength;
  }

  allocate(bytes: number): void {
    this.statementBytes += bytes;
    if (this.usedBytes + bytes > this.threshold) this.look(bytes);
    else this.usedBytes += bytes;
  }

  /**
   * Looks whether a census is due, for bytes about to be allocated. Programs come here early and seldom, because V8 throws compiled code away
   * when it reaches a place where it has never been.
   */
  look(bytes: number): void {
    if (this.usedBytes + bytes > this.#due) {
      this.recount(bytes);
      return;
    }
    this.usedBytes += bytes;
    this.threshold = Math.min(this.#due, 2 * this.usedBytes);
  }

  allocateText(units: number): void {
    this.allocate(textBytes(units));
    // Checked here too, because every text comes by here and a call takes time.
    if (units > this.#longest) this.checkText(units);
  }

  checkText(units: number): void {
    if (units <= this.#longest) return;
    const { textLength } = this.limits;
    if (units > textLength) this.breach('textLength', units, excess('a text has', units, 'UTF-16 units', textLength));
    this.checkSize(textBytes(units));
  }

  checkSize(bytes: number): void {
    const { valueBytes } = this.limits;
    if (bytes > valueBytes) this.breach('valueBytes', bytes, excess('a value has', bytes, 'bytes', valueBytes));
  }

  /** Whether the limits of single values allow a text of this length. */
  admitsText(units: number): boolean {
    return units <= this.#longest;
  }

  /** Whether the limits of single values allow a map of this many entries. */
  admitsEntries(entries: number): boolean {
    return entries <= this.limits.mapLength;
  }

  checkItems(items: number): void {
    const { listLength } = this.limits;
    if (items > listLength) this.breach('listLength', items, excess('a list has', items, 'items', listLength));
  }

  checkEntries(entries: number): void {
    const { mapLength } = this.limits;
    if (entries > mapLength) this.breach('mapLength', entries, excess('a map has', entries, 'entries', mapLength));
  }

  extendText(units: number, added: number): void {
    if (units + added > MAX_TEXT_UNITS) this.#outOfMemory(this.usedBytes + textBytes(units + added));
    this.allocate(VALUE_BYTES.unit.amount * added);
  }

  releaseText(units: number): void {
    this.release(textBytes(units));
  }

  release(bytes: number): void {
    if (this.usedBytes > this.peakBytes) this.peakBytes = this.usedBytes;
    this.usedBytes -= bytes;
    this.statementBytes -= bytes;
  }

  /**
   * Counts what is alive, `bytes` about to be allocated included. The old sum is an upper bound as well, and may be the lower one: the
   * census counts a text once for every place that holds it.
   */
  recount(bytes: number): void {
    if (this.usedBytes > this.peakBytes) this.peakBytes = this.usedBytes;
    this.nonNumeric.clear();
    this.codePoints.clear();
    // It would keep the map alive, which nobody counts.
    this.missed = null;
    const live = Math.min(this.usedBytes + bytes, countLive(this));
    const used = this.flow === null ? live : live + this.flow.memory.live(this);
    if (used > this.limits.memoryBytes) this.#outOfMemory(used);
    this.usedBytes = live;
    if (live > this.peakBytes) this.peakBytes = live;
    this.#due = Math.min(this.limits.memoryBytes, Math.max(CENSUS_FLOOR, 2 * live));
    this.threshold = this.#due;
  }

  /** A new id for the fork of a call. Most calls never need one. */
  newForkId(): string {
    this.#forks++;
    return `${this.forkId}.${this.#forks}`;
  }

  nextCensus(): number {
    return ++this.#census;
  }

  /** Makes a frame the running one, called at `at`. */
  enter(frame: Frame, at: number): void {
    const caller = this.frame;
    if (caller !== null) caller.held = this.statementBytes;
    this.statementBytes = 0;
    this.usedBytes += frame.layout.frameBytes;
    this.frame = frame;
    if (this.usedBytes > this.#due) {
      this.at = at;
      this.recount(0);
    }
  }

  /** Returns to the caller, whose statement continues. */
  leave(frame: Frame): void {
    if (this.usedBytes > this.peakBytes) this.peakBytes = this.usedBytes;
    this.usedBytes -= frame.layout.frameBytes;
    this.frame = frame.parent;
    this.statementBytes = frame.parent === null ? 0 : frame.parent.held;
  }

  /** After an error: drops the frames above `to`, and what its failed statement held. */
  unwind(to: Frame | null): void {
    this.leaveTo(to);
    this.statementBytes = 0;
    if (to !== null) to.keep = null;
  }

  /** Drops the frames above `to`, whose statement continues. */
  leaveTo(to: Frame | null): void {
    while (this.frame !== to && this.frame !== null) this.leave(this.frame);
  }

  fail(name: NsCodeName, message: string, hint?: string): never {
    throw this.failure(NS_CODES[name], message, hint);
  }

  /** An error with any code, such as that of a tool, at the current place. */
  failure(code: number, message: string, hint?: string): Failure {
    const stack = this.stack();
    this.pay(WORK.raise, stack.length);
    return new Failure(code, message, hint, this.place(), stack);
  }

  breach(limit: LimitKey, used: number, message: string, hint?: string): never {
    throw this.stopped(limit, used, message, hint);
  }

  /** The current place; null when no source runs. */
  place(): Place | null {
    return this.frame === null ? null : { file: this.frame.place.file, at: this.at };
  }

  stack(): FramePlace[] {
    const stack: FramePlace[] = [];
    for (let frame = this.frame; frame !== null; frame = frame.parent) stack.push(frame.place);
    return stack;
  }

  stopped(limit: LimitKey, used: number, message: string, hint?: string): Stop {
    const size = this.turn && (limit === 'outputBytes' || limit === 'lineBytes' || limit === 'scratchBytes');
    const code = size ? 'ERR_ENV_SIZE' : limit === 'wallMs' ? 'ERR_TIMEOUT' : 'ERR_QUOTA';
    const breach = { limit, allowed: this.limits[limit], used, message, hint };
    return stop(code, breach, this.place(), this.stack());
  }

  #outOfMemory(used: number): never {
    this.breach('memoryBytes', used, excess("the program's values need", used, 'bytes', this.limits.memoryBytes));
  }
}
