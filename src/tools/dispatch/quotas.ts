import { quotaError } from '../../wire/errorinfo.ts';
import type { ErrorInfo } from '../../wire/errors.ts';
import type { LimitValues } from '../../wire/limits.ts';
import { grouped } from '../../wire/text/grouped.ts';
import { Halt } from '../errors.ts';

/** Milliseconds before the second, third and fourth try of a call that had no effect. Each is prolonged at random by up to a quarter. */
const PAUSES_MS = [250, 1000, 4000] as const;
/** The share of a time limit that these pauses may take. */
const SHARE = 1 / 4;

/** Calls of a tool by its canonical name, or of a nested loop's tools, which have none here. */
export interface MadeCalls {
  readonly tool: string | null;
  readonly calls: number;
}

/**
 * The call limits of one run. The interpreter counts the calls of scripts itself; the host counts them too, together with the
 * calls that tools make and with those of nested loops. The first breach ends the run, even when a tool catches the exception.
 */
export class CallQuotas {
  readonly #limits: LimitValues;
  #scriptCalls = 0;
  #nestedCalls = 0;
  /** Calls of each tool by its canonical name, those of scripts included. */
  readonly #callsOf = new Map<string, number>();
  #journalBytes = 0;
  /** Bytes of results that have come and are not in the journal yet. */
  heldBytes = 0;
  #breach: ErrorInfo | null = null;
  /** Whether no call of the run was tried again in vain. One outage must not take the time of every call. */
  #isPatient = true;

  /** `earlier`: the calls of earlier attempts at the turn; they count too. */
  constructor(limits: LimitValues, earlier: readonly MadeCalls[] = []) {
    this.#limits = limits;
    for (const { tool, calls } of earlier) {
      this.#scriptCalls += calls;
      if (tool !== null) this.#callsOf.set(tool, (this.#callsOf.get(tool) ?? 0) + calls);
    }
  }

  /** Why the run ends; null while no limit is breached. */
  get breach(): ErrorInfo | null {
    return this.#breach;
  }

  /** The tool calls that are left by the host's own count. */
  get callsLeft(): number {
    return Math.max(0, this.#limits.toolCalls - this.#scriptCalls - this.#nestedCalls);
  }

  /** Counts a call that a script makes. Throws {@link Halt} for a breach: the interpreter does not know of calls that tools made. */
  countScriptCall(tool: string): void {
    this.#scriptCalls++;
    this.#count(tool);
  }

  /** Counts calls that are not made here: those of a nested loop, or recorded ones. */
  countCallsElsewhere(calls: number): void {
    this.#scriptCalls += calls;
  }

  /** Counts a call that a tool makes. Throws {@link Halt} for a breach. */
  countNestedCall(tool: string): void {
    this.#nestedCalls++;
    this.#count(tool);
  }

  /** Counts the bytes that the journal keeps of a call or an answer. Returns the breach of `journalBytes`, or null. */
  countJournalBytes(bytes: number): ErrorInfo | null {
    this.#journalBytes += bytes;
    return this.#checkJournal(this.#journalBytes);
  }

  /** Most bytes of one result. */
  get toolBytes(): number {
    return this.#limits.toolBytes;
  }

  /** The bytes that the journal can still take, beside the results that have come already. */
  get journalLeft(): number {
    return this.#limits.journalBytes - this.#journalBytes - this.heldBytes;
  }

  /** Returns the breach of `journalBytes` by the results that have come, or an earlier breach; null while there is none. */
  checkHeld(): ErrorInfo | null {
    return this.#breach ?? this.#checkJournal(this.#journalBytes + this.heldBytes);
  }

  #checkJournal(used: number): ErrorInfo | null {
    const allowed = this.#limits.journalBytes;
    if (used <= allowed) return null;
    const message = `the calls of this run come to ${grouped(used)} bytes of arguments and results, ${grouped(allowed)} are allowed`;
    this.#breach ??= quotaError({ limit: 'journalBytes', allowed, used }, message);
    return this.#breach;
  }

  /** Ends the run. Throws {@link Halt}; the first reason counts. */
  end(reason: ErrorInfo): never {
    this.#breach ??= reason;
    throw new Halt(reason);
  }

  /**
   * Milliseconds before a call is tried again that failed without an effect; null when it is not. `tries` and `pausedMs` are those of the
   * call so far, `mostMs` is the time limit of its tool.
   */
  pauseBefore(retryAfterMs: number, tries: number, pausedMs: number, mostMs: number): number | null {
    const own = PAUSES_MS[tries - 1];
    const { toolMs, wallMs } = this.#limits;
    const pause = Math.max((own ?? 0) * (1 + Math.random() / 4), retryAfterMs);
    const again = own !== undefined && this.#isPatient && pausedMs + pause <= SHARE * Math.min(toolMs, wallMs, mostMs);
    if (!again) this.#isPatient = false;
    return again ? pause : null;
  }

  #count(tool: string): void {
    const { toolCalls, toolCallsPerTool } = this.#limits;
    const used = this.#nestedCalls + this.#scriptCalls;
    if (used > toolCalls) {
      const message = `the run made more than ${grouped(toolCalls)} tool calls, those made by tools included`;
      this.end(quotaError({ limit: 'toolCalls', allowed: toolCalls, used }, message));
    }
    const same = (this.#callsOf.get(tool) ?? 0) + 1;
    this.#callsOf.set(tool, same);
    if (same > toolCallsPerTool) {
      const message = `the run called ${tool} more than ${grouped(toolCallsPerTool)} times, calls made by tools included`;
      this.end(quotaError({ limit: 'toolCallsPerTool', allowed: toolCallsPerTool, used: same }, message));
    }
  }
}
