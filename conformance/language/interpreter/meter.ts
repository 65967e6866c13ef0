/** What a run may do, what it has done, and how it fails. The prices are those of `docs/limits.md`. */

/** A place in a source. */
export interface Place {
  readonly source: string;
  readonly line: number;
  readonly column: number;
}

/** The place of what no source does. */
export const NOWHERE: Place = { source: '', line: 0, column: 0 };

/** A running procedure, event handler or command block, as a stack shows it. */
export interface Frame extends Place {
  readonly name: string;
}

/** An error that a handler may clear. */
export class Failure extends Error {
  readonly code: number;
  readonly at: Place;
  readonly stack_: readonly Frame[];

  constructor(code: number, message: string, at: Place, stack: readonly Frame[]) {
    super(message);
    this.code = code;
    this.at = at;
    this.stack_ = stack;
  }
}

/** A limit that the next step would exceed. It ends the run. */
export class Breach extends Error {
  readonly limit: string;
  readonly allowed: number;
  readonly used: number;
  readonly at: Place | null;

  constructor(limit: string, allowed: number, used: number, at: Place | null) {
    super(`${limit}: ${used} of ${allowed}`);
    this.limit = limit;
    this.allowed = allowed;
    this.used = used;
    this.at = at;
  }
}

/** The limits that this interpreter knows. */
export interface Limits {
  readonly fuel: number;
  readonly outputBytes: number;
  readonly lineBytes: number;
  readonly scratchBytes: number;
  readonly emits: number;
  readonly toolCalls: number;
  readonly callDepth: number;
  readonly evalDepth: number;
  readonly textLength: number;
  readonly listLength: number;
  readonly mapLength: number;
  readonly toolCallsPerTool?: number;
  readonly togetherCalls?: number;
  readonly eventCount?: number;
  readonly deliveries?: number;
}

/** Fuel for steps. */
export const PRICE = {
  statement: 1,
  pass: 1,
  call: 5,
  raise: 25,
  written: 4,
  compared: 1,
  host: 100,
  said: 16,
  fieldStart: 1,
  field: 4,
} as const;

/** Units of data for one fuel; `line` counts line feeds, `same` units of a text that may be known. */
export const PER = { concat: 1024, compare: 128, scan: 128, number: 16, text: 8, json: 8, copy: 2, line: 2, same: 1024 } as const;

/** Texts of up to this many units are looked through, joined and compared at no fuel beside that of the operation. */
export const SHORT = 64;

/** Counts the fuel of a run. `at` is the place that a breach names. */
export class Meter {
  readonly limits: Limits;
  fuel = 0;

  constructor(limits: Limits) {
    this.limits = limits;
  }

  /** Charges fuel, or ends the run. */
  spend(amount: number, at: Place | null): void {
    const used = this.fuel + amount;
    this.fuel = Math.min(used, this.limits.fuel);
    this.bound('fuel', used, at);
  }

  /** Charges one fuel for each full amount of data. */
  spendFor(units: number, per: keyof typeof PER, at: Place | null): void {
    this.spend(Math.floor(units / PER[per]), at);
  }

  /** Ends the run when a limit is exceeded. */
  bound(limit: keyof Limits, used: number, at: Place | null): void {
    const allowed = this.limits[limit];
    if (allowed !== undefined && used > allowed) throw new Breach(limit, allowed, used, at);
  }
}
