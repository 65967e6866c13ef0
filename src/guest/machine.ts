import type { NsCodeName } from '../wire/codes.ts';
import { NS_CODES } from '../wire/codes.ts';
import { CENSUS_FLOOR, MAX_TEXT_UNITS, METER_INTERVAL, METER_WEIGHT, textBytes, VALUE_BYTES } from '../wire/costs.ts';
import type { LimitKey, LimitValues } from '../wire/limits.ts';
import type { GuestInput } from '../wire/protocol.ts';
import { CodePoints } from './codepoints.ts';
import { Constants } from './constants.ts';
import { Failure, type FramePlace, type Place, type Stop, stop } from './errors.ts';
import type { Frame } from './frame.ts';
import { countLive } from './memory.ts';
import type { Meter } from './meter.ts';
import { NonNumericTexts } from './nonnumeric.ts';
import { Output } from './output.ts';
import type { PureTool } from './puretool.ts';
import type { Value } from './values.ts';
import { WORK, type Work } from './work.ts';

/** The ways out of the guest: see `boot`. */
export interface Ports {
  clock(): number;
  host(frame: string, follows?: boolean): string;
  tree(file: number, part: number): string;
}

/** What a run is told about itself. */
export type Settings = Pick<GuestInput, 'limits' | 'turn' | 'forkId' | 'stdin' | 'stopAt'>;

/**
 * The state of one run that everything shares: the fuel and memory meters, the running frame, the place of the current
 * operation. One object with plain fields, because compiled code touches it at every statement.
 */
export class Machine implements Meter {
  readonly limits: LimitValues;
  readonly ports: Ports;
  readonly output: Output;
  /** Root globals, `self` included; scripts cannot change them (code 43). */
  readonly globals: Map<string, Value> = new Map();
  /** Global constants: from the host, and from trusted tools while the program runs. */
  readonly constants = new Constants();
  /** The tools that run here, by canonical name; every other one is the host's. */
  readonly pure: Map<string, PureTool> = new Map();
  /** True in a turn: a breach of an output limit is `ERR_ENV_SIZE`. */
  readonly turn: boolean;
  /** Id of the fork that the command blocks run in. */
  readonly forkId: string;
  /** Whether the host can answer `promptuser`. */
  readonly stdin: boolean;
  /** Where a clock stopped the run that is executed again. */
  readonly #stopAt: GuestInput['stopAt'];

  /** Texts by code points. */
  readonly codePoints = new CodePoints(this);
  /** Long texts that are no numbers. */
  readonly nonNumeric = new NonNumericTexts();

  frame: Frame | null = null;
  /** Offset of the operation that is running, for the place of an error; set before anything that may fail. */
  at = 0;

  /** Copies of the limits that every call looks at. */
  readonly callDepth: number;
  readonly evalDepth: number;

  /** Fuel left until the next look at the clocks. */
  untilCheck = 0;
  /** Fuel not handed out to `untilCheck` yet. */
  reserve: number;

  /** Bytes alive, at most: exact after a census, then plus everything allocated. */
  usedBytes = 0;
  peakBytes = 0;
  /** Bytes that the current statement of the running frame has allocated. */
  statementBytes = 0;
  toolCalls = 0;
  /** Expressions compiled so far. */
  compiled = 0;
  /** Calls of each tool so far, by its canonical name. */
  readonly callsOf: Map<string, number> = new Map();
  /** Calls to the host of all kinds: the last `seq`. */
  hostCalls = 0;
  #forks = 0;
  /** UTF-16 units of the longest text that keeps to `textLength` and `valueBytes`. */
  readonly #longest: number;

  /** `used` may not pass this without a census. */
  threshold: number;
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
    this.threshold = Math.min(CENSUS_FLOOR, limits.memoryBytes);
    this.output = new Output(this, (frame, follows) => ports.host(frame, follows));
  }

  /** Fuel spent so far. What would need more than there is is refused before it starts, and is not spent. */
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

  /** Fuel that the run may still use. */
  get fuelLeft(): number {
    return this.reserve + this.untilCheck;
  }

  /** Hands out more fuel and looks at the clocks; ends the run when there is none, or no time. `at` is the place. */
  refill(at: number): void {
    this.at = at;
    this.reserve += this.untilCheck;
    this.untilCheck = 0;
    if (this.reserve < 0) this.breach('fuel', this.limits.fuel - this.reserve, 'the program used up its fuel');
    this.untilCheck = Math.min(METER_INTERVAL, this.reserve);
    this.reserve -= this.untilCheck;
    const clock = this.#clock();
    if (clock === 1) this.breach('cpuMs', this.limits.cpuMs, `the program ran for ${this.limits.cpuMs} ms of CPU time`);
    if (clock === 2) this.breach('wallMs', this.limits.wallMs, `the program ran for ${this.limits.wallMs} ms`);
    this.output.tick();
  }

  #clock(): number {
    const stop = this.#stopAt;
    if (stop === undefined) return this.ports.clock();
    return this.fuel >= stop.fuel ? stop.clock : 0;
  }

  /** Accounts for bytes about to be allocated; ends the run before they are when they do not fit. */
  allocate(bytes: number): void {
    this.statementBytes += bytes;
    if (this.usedBytes + bytes > this.threshold) this.recount(bytes);
    else this.usedBytes += bytes;
  }

  /** Accounts for a text about to be made, and asks whether a script may have one so long. */
  allocateText(units: number): void {
    this.allocate(textBytes(units));
    // Every text comes by here: no call more than it takes.
    if (units > this.#longest) this.checkText(units);
  }

  /** Ends the run when a text would be longer than a limit allows. */
  checkText(units: number): void {
    if (units <= this.#longest) return;
    const { textLength } = this.limits;
    if (units > textLength)
      this.breach('textLength', units, `a text has ${units} UTF-16 units, more than the ${textLength} allowed`);
    this.checkSize(textBytes(units));
  }

  /** Ends the run when a value would count more bytes than a limit allows. */
  checkSize(bytes: number): void {
    const { valueBytes } = this.limits;
    if (bytes > valueBytes) this.breach('valueBytes', bytes, `a value has ${bytes} bytes, more than the ${valueBytes} allowed`);
  }

  /** Whether a text of so many units keeps to the limits of single values. */
  admitsText(units: number): boolean {
    return units <= this.#longest;
  }

  /** Ends the run when a list would have more items than a limit allows. */
  checkItems(items: number): void {
    const { listLength } = this.limits;
    if (items > listLength) this.breach('listLength', items, `a list has ${items} items, more than the ${listLength} allowed`);
  }

  /** Ends the run when a map would have more entries than a limit allows. */
  checkEntries(entries: number): void {
    const { mapLength } = this.limits;
    if (entries > mapLength)
      this.breach('mapLength', entries, `a map has ${entries} entries, more than the ${mapLength} allowed`);
  }

  /** Accounts for units about to be added to a text of so many, which may be JSON that no script sees. */
  extendText(units: number, added: number): void {
    if (units + added > MAX_TEXT_UNITS) this.#outOfMemory(this.usedBytes + textBytes(units + added));
    this.allocate(VALUE_BYTES.unit.amount * added);
  }

  /** As {@link release}, for a text. */
  releaseText(units: number): void {
    this.release(textBytes(units));
  }

  /** Takes back what was charged in this statement for a value that is certainly garbage now. */
  release(bytes: number): void {
    if (this.usedBytes > this.peakBytes) this.peakBytes = this.usedBytes;
    this.usedBytes -= bytes;
    this.statementBytes -= bytes;
  }

  /**
   * Recounts what is alive, `bytes` about to be allocated included. The bound before is one too: unlike the census it
   * counts a text once that many places hold.
   */
  recount(bytes: number): void {
    if (this.usedBytes > this.peakBytes) this.peakBytes = this.usedBytes;
    this.nonNumeric.clear();
    this.codePoints.clear();
    const live = Math.min(this.usedBytes + bytes, countLive(this));
    if (live > this.limits.memoryBytes) this.#outOfMemory(live);
    this.usedBytes = live;
    if (live > this.peakBytes) this.peakBytes = live;
    this.threshold = Math.min(this.limits.memoryBytes, Math.max(CENSUS_FLOOR, 2 * live));
  }

  /** The id of a light fork; most never need one. */
  newForkId(): string {
    this.#forks++;
    return `${this.forkId}.${this.#forks}`;
  }

  nextCensus(): number {
    return ++this.#census;
  }

  /** Makes a frame the running one, called at `at`; `leave` is its counterpart. */
  enter(frame: Frame, at: number): void {
    const caller = this.frame;
    if (caller !== null) caller.held = this.statementBytes;
    this.statementBytes = 0;
    this.usedBytes += frame.layout.frameBytes;
    this.frame = frame;
    if (this.usedBytes > this.threshold) {
      this.at = at;
      this.recount(0);
    }
  }

  /** Back to the caller, whose statement goes on. */
  leave(frame: Frame): void {
    if (this.usedBytes > this.peakBytes) this.peakBytes = this.usedBytes;
    this.usedBytes -= frame.layout.frameBytes;
    this.frame = frame.parent;
    this.statementBytes = frame.parent === null ? 0 : frame.parent.held;
  }

  /** After an error: the frames above this one are gone, and its failed statement's temporaries with them. */
  unwind(to: Frame | null): void {
    while (this.frame !== to && this.frame !== null) this.leave(this.frame);
    this.statementBytes = 0;
    if (to !== null) to.keep = null;
  }

  /** Raises an error that a script can catch, at the current place. */
  fail(name: NsCodeName, message: string, hint?: string): never {
    throw this.failure(NS_CODES[name], message, hint);
  }

  /** An error with any code (tools have their own), at the current place. */
  failure(code: number, message: string, hint?: string): Failure {
    const stack = this.stack();
    this.pay(WORK.raise, stack.length);
    return new Failure(code, message, hint, this.place(), stack);
  }

  /** Ends the run: more of something was used than its limit allows. */
  breach(limit: LimitKey, used: number, message: string, hint?: string): never {
    throw this.stopped(limit, used, message, hint);
  }

  /** The current place; null where no source runs. */
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
    const breach = { limit, allowed: this.limits[limit], used, message, ...(hint === undefined ? {} : { hint }) };
    return stop(code, breach, this.place(), this.stack());
  }

  #outOfMemory(used: number): never {
    this.breach('memoryBytes', used, `the program's values need ${used} bytes, more than the ${this.limits.memoryBytes} allowed`);
  }
}
