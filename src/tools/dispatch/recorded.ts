import type { FinalReply } from '../../wire/call.ts';
import { replayError } from '../../wire/errorinfo.ts';
import type { ForkQuery, JournalEntry } from '../../wire/journal.ts';
import { plainMaps } from '../../wire/maporder.ts';
import type { GuestCall, TaggedJson } from '../../wire/protocol.ts';
import { canonicalName } from '../names.ts';

/** The answer to a call whose tool let the script wait: what it gave in the end, or why it failed. */
export type Completion =
  | { readonly ok: true; readonly value: TaggedJson }
  | { readonly ok: false; readonly code: number; readonly message: string };

/** What is known of a call before any tool is asked. */
export type Known =
  /** It was answered before: the same questions are put to the fork, and the same answer is given. */
  | { readonly t: 'recorded'; readonly entry: JournalEntry }
  /** Its tool waited, and what it waited for has come. */
  | { readonly t: 'completed'; readonly asked: readonly ForkQuery[]; readonly completion: Completion }
  /** An answer from elsewhere, for a run that tries something out. */
  | { readonly t: 'answer'; readonly reply: FinalReply };

/** Knows calls before they are made; null: the call is made. */
export interface CallScript {
  known(call: GuestCall): Known | null;
}

/** The first call that is not the one that was recorded. */
export interface CallDivergence {
  readonly seq: number;
  /** What differs: `kind`, `name`, `args`, `at` …; `calls` when one of the two has no further call. */
  readonly field: string;
  /** As JSON. */
  readonly recorded: TaggedJson;
  readonly actual: TaggedJson;
}

/**
 * Answers the calls of a run from the journal of one that was recorded. The run must make the same calls at the same
 * places; the first that differs is kept in {@link divergence} and ends the run with `ERR_REPLAY`.
 */
export class RecordedCalls implements CallScript {
  readonly #entries: readonly JournalEntry[];
  readonly #after: CallScript | null;
  #next = 0;
  #divergence: CallDivergence | null = null;

  /** `after` knows the calls that come after the last recorded one; without it there must be none. */
  constructor(entries: readonly JournalEntry[], after: CallScript | null = null) {
    this.#entries = entries;
    this.#after = after;
  }

  /** Null as long as everything is as it was. */
  get divergence(): CallDivergence | null {
    return this.#divergence;
  }

  /** The recorded calls that were not made: none after a run that went its whole way. */
  get left(): readonly JournalEntry[] {
    return this.#entries.slice(this.#next);
  }

  known(call: GuestCall): Known | null {
    const entry = this.#entries[this.#next];
    if (entry === undefined && this.#after !== null) return this.#after.known(call);
    this.#divergence ??= divergenceOf(call, entry);
    const { divergence } = this;
    if (divergence !== null) return { t: 'answer', reply: { t: 'halt', error: replayError(describe(divergence)) } };
    this.#next += 1;
    return entry === undefined ? null : { t: 'recorded', entry };
  }
}

/** The first difference between a call and the one that was recorded in its place. */
export function divergenceOf(call: GuestCall, entry: JournalEntry | undefined): CallDivergence | null {
  const actual = fieldsOf(call);
  if (entry === undefined) return { seq: call.seq, field: 'calls', recorded: null, actual };
  const recorded = fieldsOf(callOf(entry));
  for (const field of new Set([...Object.keys(recorded), ...Object.keys(actual)])) {
    const [was, is] = [recorded[field] ?? null, actual[field] ?? null];
    if (!isSame(was, is)) return { seq: call.seq, field, recorded: was, actual: is };
  }
  return null;
}

/** Older records do not have the places of whole-number keys: in them such a key stands where JavaScript puts it. */
function isSame(recorded: TaggedJson, actual: TaggedJson): boolean {
  const was = JSON.stringify(recorded);
  return was === JSON.stringify(actual) || was === JSON.stringify(plainMaps(actual));
}

/** What is recorded of a call: all that makes it the call it is, but not what was left of its caller's means. */
export type MadeCall =
  | Exclude<GuestCall, { readonly t: 'ask' }>
  | Pick<AskCall, 't' | 'seq' | 'model' | 'prompt' | 'options' | 'at'>;
type AskCall = Extract<GuestCall, { readonly t: 'ask' }>;

/** The call that an entry is of. */
export function callOf(entry: JournalEntry): MadeCall {
  const { seq, at } = entry;
  if (entry.kind === 'tool') return { t: 'tool', seq, name: entry.name, args: entry.args, at };
  if (entry.kind === 'prompt') return { t: 'prompt', seq, text: entry.text, at };
  const { model, prompt, options } = entry;
  return { t: 'ask', seq, model, prompt, options, at };
}

/** What makes a call the call it is. */
function fieldsOf(call: MadeCall): Readonly<Record<string, TaggedJson>> {
  const { seq, at } = call;
  const site = { fork: at.fork, source: at.source, line: at.line, column: at.column };
  if (call.t === 'tool') return { kind: call.t, name: canonicalName(call.name), args: call.args, seq, at: site };
  if (call.t === 'prompt') return { kind: call.t, text: call.text, seq, at: site };
  const { model, prompt, options } = call;
  return { kind: call.t, model, prompt, options, seq, at: site };
}

function describe({ seq, field }: CallDivergence): string {
  return field === 'calls'
    ? `call ${seq} was not made when the turn was recorded`
    : `call ${seq} differs from the recorded one in its ${field}`;
}

/** The answer of a recorded call, byte for byte as it was sent. */
export function replyOf(entry: JournalEntry): FinalReply {
  const { outcome } = entry;
  const spent = entry.kind === 'ask' && entry.spent !== undefined ? { spent: entry.spent } : {};
  if (outcome.ok) return { t: 'ok', value: outcome.value, ...spent };
  // The stack of the error was added when the run had ended; what the script was sent had none, and its length is fuel.
  if ('halted' in outcome) return { t: 'halt', error: { ...outcome.halted, stack: [] } };
  const { code, message, hint } = outcome;
  return { t: 'error', code, message, ...(hint === undefined ? {} : { hint }), ...spent };
}
