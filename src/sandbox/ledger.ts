import { DATA_FUEL, HOST_FUEL_PER_MS, STEP_FUEL, VALUE_UNITS, whisperedBytes } from '../wire/costs.ts';
import { envelopeSizeError, quotaError } from '../wire/errorinfo.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import { jsonUnits } from '../wire/jsonpieces.ts';
import type {
  AskSpent,
  CallSite,
  GuestCall,
  GuestResult,
  OutFrame,
  RunInput,
  ToolGuestCall,
  WorkerUsage,
} from '../wire/protocol.ts';
import { grouped } from '../wire/text/grouped.ts';

/** The limits that the interpreter enforces and the host enforces again. */
type Counted =
  | 'emits'
  | 'outputBytes'
  | 'lineBytes'
  | 'scratchBytes'
  | 'toolCalls'
  | 'toolCallsPerTool'
  | 'togetherCalls'
  | 'toolBytes'
  | 'deliveries';

/** A description of what each limit counts. */
export const COUNTED: Readonly<Record<Counted, string>> = {
  emits: 'emits or whispers',
  outputBytes: 'bytes of output',
  lineBytes: 'bytes in a line of output',
  scratchBytes: 'bytes of whispers',
  toolCalls: 'tool calls',
  toolCallsPerTool: 'calls of one tool',
  togetherCalls: 'calls that run together',
  toolBytes: 'bytes of arguments in one call, or in calls that run together',
  deliveries: 'errors of event handlers',
};

/**
 * The host's own account of one run, by the counting rules of the interpreter. An intact interpreter stops before it exceeds a limit. So
 * a breach in this account shows a broken one, and the host trusts nothing more of the run.
 */
export class Ledger {
  readonly #input: RunInput;
  #emits = 0;
  #whispers = 0;
  #outputBytes = 0;
  #valueUnits = 0;
  #scratchBytes = 0;
  #toolCalls = 0;
  /** The least fuel of the calls and the output so far, by the published prices. */
  #fuel = 0;
  readonly #callsOf = new Map<string, number>();
  /** The usage of nested loops. */
  readonly #nested = { fuel: 0, toolCalls: 0, cpuMs: 0 };
  /** CPU time of tools, which the worker does not know of. */
  #toolCpuMs = 0;
  /** Fuel of work on the host for the open call. Its CPU time is counted already. */
  #workFuel = 0;
  /** The fork of the last call; a procedure makes many calls. */
  #lastFork: string | null = null;
  /** The highest number of a fork that has made a call. */
  #forks = 0;
  #breach: ErrorInfo | null = null;

  constructor(input: RunInput) {
    this.#input = input;
  }

  /** Bytes that were emitted, line feeds included. */
  get outputBytes(): number {
    return this.#outputBytes;
  }

  /** Tool calls, those of nested loops included. */
  get toolCalls(): number {
    return this.#toolCalls + this.#nested.toolCalls;
  }

  /** Calls of tools by this run alone. */
  get ownToolCalls(): number {
    return this.#toolCalls;
  }

  /** The least fuel that the run can have used: that of its calls, its output and its nested loops. */
  get fuel(): number {
    return Math.min(this.#fuel + this.#nested.fuel, this.#input.limits.fuel);
  }

  /** CPU time of nested loops and of tools on the host, milliseconds. */
  get nestedCpuMs(): number {
    return this.#nested.cpuMs + this.#toolCpuMs;
  }

  /** Adds CPU time that a tool has used on the host. Returns the breach that ends the run, or null. */
  spend(cpuMs: number): ErrorInfo | null {
    this.#toolCpuMs += cpuMs;
    return this.#hostBreach();
  }

  /** Adds work that a tool does on the host for the open call. Returns the breach that ends the run, or null. */
  work(fuel: number): ErrorInfo | null {
    this.#workFuel += fuel;
    this.#nested.cpuMs += fuel / HOST_FUEL_PER_MS;
    const allowed = this.#input.limits.fuel;
    const used = this.#fuel + this.#nested.fuel + this.#workFuel;
    if (used <= allowed) return this.#hostBreach();
    return quotaError(
      { limit: 'fuel', allowed, used },
      `the tools of the program worked for ${grouped(used)} fuel, ${grouped(allowed)} are allowed`,
    );
  }

  /** Work on the host has used up the fuel, in this run or in the recorded one that it repeats. */
  exhaust(): void {
    this.#nested.fuel = this.#input.limits.fuel;
  }

  #hostBreach(): ErrorInfo | null {
    const allowed = this.#input.limits.cpuMs;
    const used = Math.round(this.nestedCpuMs);
    if (used <= allowed) return null;
    return quotaError(
      { limit: 'cpuMs', allowed, used },
      `the tools of the program computed for ${grouped(used)} ms, ${grouped(allowed)} ms are allowed`,
    );
  }

  /** Counts output. Returns the breach that ends the run, for this frame and for all that follow. */
  out({ emits, values, whispers }: OutFrame): ErrorInfo | null {
    // The interpreter sends no empty frame. It counts as an emit, so that the number of frames has a bound.
    const said = emits.length + whispers.length === 0 ? 1 : emits.length;
    this.#emits = this.#admit('emits', this.#emits + said);
    this.#whispers = this.#admit('emits', this.#whispers + whispers.length);
    for (const text of emits) {
      if (this.#breach !== null) break;
      this.#emit(text);
    }
    for (const [index, value] of values.entries()) {
      // The value of an emitted text is the text itself, and is counted once.
      if (typeof value === 'string' && value.length <= (emits[index]?.length ?? 0)) continue;
      this.#valueUnits += jsonUnits(value);
      this.#admit('outputBytes', Math.ceil(this.#valueUnits / VALUE_UNITS));
    }
    for (const { to, text } of whispers) {
      if (this.#breach !== null) break;
      this.#fuel += priceOf(to, text);
      const bytes = whisperedBytes(Buffer.byteLength(to), Buffer.byteLength(text));
      this.#scratchBytes = this.#admit('scratchBytes', this.#scratchBytes + bytes);
    }
    return this.#breach;
  }

  #emit(text: string): void {
    this.#fuel += priceOf(text);
    const bytes = Buffer.byteLength(text);
    if (bytes > this.#input.limits.lineBytes)
      for (const line of text.split('\n')) this.#admit('lineBytes', Buffer.byteLength(line));
    this.#outputBytes = this.#admit('outputBytes', this.#outputBytes + bytes + 1);
  }

  /** Counts a call before it is answered; its JSON has at most `units`. Returns the breach that ends the run. */
  call(call: GuestCall, units: number): ErrorInfo | null {
    // Counting the units of a long call takes as long as decoding it.
    if (call.t !== 'prompt' && units > this.#input.limits.toolBytes) this.#admit('toolBytes', unitsOf(call));
    if (call.t === 'tool' && this.#breach === null) this.#toolCall(call);
    if (this.#breach === null) this.#fuel += STEP_FUEL.host.amount;
    return this.#breach;
  }

  /** Counts calls that run together before any of them is made; their JSON has at most `units`. Returns the breach that ends the run. */
  together(calls: readonly ToolGuestCall[], units: number): ErrorInfo | null {
    this.#admit('togetherCalls', calls.length);
    if (units > this.#input.limits.toolBytes)
      this.#admit(
        'toolBytes',
        calls.reduce((sum, each) => sum + unitsOf(each), 0),
      );
    for (const call of calls) this.call(call, 0);
    return this.#breach;
  }

  #toolCall(call: GuestCall & { readonly t: 'tool' }): void {
    const { toolCalls, toolCallsPerTool } = this.#input.limits;
    this.#admit('toolCalls', this.toolCalls + 1);
    if (toolCallsPerTool < toolCalls) {
      const same = (this.#callsOf.get(call.name) ?? 0) + 1;
      this.#callsOf.set(call.name, this.#admit('toolCallsPerTool', same));
    }
    if (this.#breach === null) this.#toolCalls++;
  }

  /** Counts the parts that only a result has. Returns the breach that ends the run. */
  result({ eventErrors }: GuestResult): ErrorInfo | null {
    this.#admit('deliveries', eventErrors.length);
    return this.#breach;
  }

  /** Adds the work that the host did for a call that has its answer, by its fuel. A recorded answer brings work that nobody did now. */
  chargeWork(fuel: number): void {
    const done = Math.min(fuel, this.#workFuel);
    this.#workFuel = 0;
    this.charge({ fuel, toolCalls: 0, cpuMs: (fuel - done) / HOST_FUEL_PER_MS });
  }

  /** Adds the usage of a nested loop. */
  charge({ fuel, toolCalls, cpuMs }: Pick<AskSpent, 'fuel' | 'toolCalls' | 'cpuMs'>): void {
    this.#nested.fuel += fuel;
    this.#nested.toolCalls += toolCalls;
    this.#nested.cpuMs += cpuMs;
  }

  /**
   * The usage that a worker claims, kept within bounds: at least the counts of this account, and at most the limits and the time since
   * the run was sent.
   */
  usage(claimed: WorkerUsage, elapsedMs: number): WorkerUsage {
    const { fuel, memoryBytes, toolCalls, outputBytes } = this.#input.limits;
    const { cpuMs } = this.#nested;
    return {
      fuel: between(this.fuel, Math.floor(claimed.fuel), fuel),
      cpuMs: between(cpuMs, claimed.cpuMs, elapsedMs + cpuMs) + this.#toolCpuMs,
      wallMs: between(0, claimed.wallMs, elapsedMs),
      peakMemoryBytes: between(0, Math.floor(claimed.peakMemoryBytes), memoryBytes),
      toolCalls: between(this.toolCalls, claimed.toolCalls, toolCalls),
      outputBytes: between(this.#outputBytes, claimed.outputBytes, outputBytes),
    };
  }

  /**
   * Whether a fork may have made a call with this number. The interpreter names the fork of a procedure when the procedure first calls
   * the host, so a run has at most as many such forks as calls.
   */
  knows({ fork, together }: CallSite, seq: number): boolean {
    const { forkId } = this.#input;
    if (together === undefined && (fork === forkId || fork === this.#lastFork)) return true;
    const digits = fork.startsWith(`${forkId}.`) ? fork.slice(forkId.length + 1) : '';
    const number = /^[1-9]\d{0,15}$/.test(digits) ? Number(digits) : Number.POSITIVE_INFINITY;
    // Each branch is a new fork, and the interpreter numbers forks upwards.
    if (number > seq || (together !== undefined && number <= this.#forks)) return false;
    this.#forks = Math.max(this.#forks, number);
    this.#lastFork = fork;
    return true;
  }

  /** Returns the amount. An amount above the limit is a breach, unless an earlier one has ended the run. */
  #admit(limit: Counted, used: number): number {
    const allowed = this.#input.limits[limit];
    if (used > allowed && this.#breach === null) {
      const size = limit === 'outputBytes' || limit === 'lineBytes' || limit === 'scratchBytes';
      const error = this.#input.turn && size ? envelopeSizeError : quotaError;
      const message = `the host counted ${grouped(used)} ${COUNTED[limit]}, more than the ${grouped(allowed)} allowed; the interpreter should have stopped the program`;
      this.#breach = error({ limit, allowed, used }, message);
    }
    return Math.min(used, allowed);
  }
}

/** UTF-16 units of a call's values. */
function unitsOf(call: Exclude<GuestCall, { readonly t: 'prompt' }>): number {
  return call.t === 'tool' ? jsonUnits(call.args) : jsonUnits(call.prompt) + jsonUnits(call.options);
}

/** Fuel of one statement that outputs texts. */
function priceOf(...texts: readonly string[]): number {
  return texts.reduce<number>((sum, { length }) => sum + Math.floor(length / DATA_FUEL.json.amount), STEP_FUEL.statement.amount);
}

const between = (least: number, claimed: number, most: number): number => Math.max(least, Math.min(claimed, most));
