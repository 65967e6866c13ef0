import type { CallIo, FinalReply } from '../../wire/call.ts';
import { defined } from '../../wire/defined.ts';
import { replayError } from '../../wire/errorinfo.ts';
import { type EarlierCall, type ForkQuery, inOrder, type JournalEntry, type WaitingCall } from '../../wire/journal.ts';
import type { GuestCall, TaggedJson } from '../../wire/protocol.ts';
import { ToolError } from '../errors.ts';
import { canonicalName } from '../names.ts';

/** The late answer to a suspended call: a value, or a failure. */
export type Completion =
  /** The value that the call returns. */
  | { readonly ok: true; readonly value: TaggedJson }
  /** The error that the script sees. */
  | { readonly ok: false; readonly code: number; readonly message: string };

/** A late answer, with the reason for which the call waited. */
export type Completed = Completion & { readonly waitedFor: string };

/** A known answer to a call that was not made yet. */
export type Known =
  /** A recorded run has made it: the fork gets the same queries, and the call the same answer. */
  | { readonly t: 'recorded'; readonly entry: JournalEntry }
  /** It was suspended, and its late answer has come. */
  | { readonly t: 'completed'; readonly asked: readonly ForkQuery[]; readonly completion: Completed }
  /** It was suspended, and its late answer has not come: the run is put aside at this call again. */
  | { readonly t: 'waits'; readonly waiting: WaitingCall }
  /** An earlier attempt at the turn made the same call: this one takes its answer. */
  | { readonly t: 'taken'; readonly entry: JournalEntry; readonly origin: EarlierCall }
  /** An earlier attempt called the same tool in another way, and this attempt has not taken that call. The call may need a person. */
  | { readonly t: 'changed'; readonly entry: JournalEntry; readonly origin: EarlierCall; readonly halts: boolean }
  /** A person allowed the call. */
  | { readonly t: 'allowed' }
  /** An answer that no tool gave: for a trial run, and for a call that a person refused. */
  | { readonly t: 'answer'; readonly reply: FinalReply; readonly isRefused?: true };

/** Provides known answers to calls. */
export interface CallScript {
  /** The known answer to a call; null when the call has to be made. */
  known(call: GuestCall): Known | null;
}

/** The first call that differs from its recorded counterpart. */
export interface CallDivergence {
  readonly seq: number;
  /** The field that differs: `kind`, `name`, `args`, `at` …; `calls` when one of the two runs has no further call. */
  readonly field: string;
  /** As JSON. */
  readonly recorded: TaggedJson;
  readonly actual: TaggedJson;
}

/**
 * Answers the calls of a run from the journal of a recorded run. The run must make the same calls at the same places. The first
 * call that differs ends the run with `ERR_REPLAY`; {@link divergence} holds it.
 */
export class RecordedCalls implements CallScript {
  readonly #entries: readonly JournalEntry[];
  readonly #after: CallScript | null;
  #next = 0;
  #divergence: CallDivergence | null = null;

  /**
   * `after` answers the calls that were not recorded: those after the last recorded one, and those that ran together with recorded
   * ones and had not ended. Without it there must be none.
   */
  constructor(entries: readonly JournalEntry[], after: CallScript | null = null) {
    this.#entries = inOrder(entries);
    this.#after = after;
  }

  /** Null as long as all calls are the recorded ones. */
  get divergence(): CallDivergence | null {
    return this.#divergence;
  }

  /** The recorded calls that the run has not made; none after a complete run. */
  get left(): readonly JournalEntry[] {
    return this.#entries.slice(this.#next);
  }

  known(call: GuestCall): Known | null {
    const entry = this.#entries[this.#next];
    const unrecorded = entry === undefined || (call.at.together !== undefined && call.seq < entry.seq);
    if (unrecorded && this.#after !== null) return this.#after.known(call);
    this.#divergence ??= divergenceOf(call, entry);
    const { divergence } = this;
    if (divergence !== null) return { t: 'answer', reply: { t: 'halt', error: replayError(describe(divergence)) } };
    this.#next += 1;
    return entry === undefined ? null : { t: 'recorded', entry };
  }
}

/** The first difference between a call and the recorded call in its place. */
export function divergenceOf(call: GuestCall, entry: JournalEntry | undefined): CallDivergence | null {
  const actual = fieldsOf(call);
  if (entry === undefined) return { seq: call.seq, field: 'calls', recorded: null, actual };
  const recorded = fieldsOf(callOf(entry));
  for (const field of new Set([...Object.keys(recorded), ...Object.keys(actual)])) {
    const [was, is] = [recorded[field] ?? null, actual[field] ?? null];
    if (JSON.stringify(was) !== JSON.stringify(is)) return { seq: call.seq, field, recorded: was, actual: is };
  }
  return null;
}

/** The recorded part of a call: everything but the remaining budget of its caller. */
export type MadeCall =
  | Exclude<GuestCall, { readonly t: 'ask' }>
  | Pick<AskCall, 't' | 'seq' | 'model' | 'prompt' | 'options' | 'at'>;
type AskCall = Extract<GuestCall, { readonly t: 'ask' }>;

/** The call of an entry. */
export function callOf(entry: JournalEntry): MadeCall {
  const { seq, at } = entry;
  if (entry.kind === 'tool') return { t: 'tool', seq, name: entry.name, args: entry.args, at };
  if (entry.kind === 'prompt') return { t: 'prompt', seq, text: entry.text, at };
  const { model, prompt, options } = entry;
  return { t: 'ask', seq, model, prompt, options, at };
}

/** The fields by which calls are compared. */
function fieldsOf(call: MadeCall): Readonly<Record<string, TaggedJson>> {
  const { seq, at } = call;
  const site = { fork: at.fork, source: at.source, line: at.line, column: at.column, ...defined({ together: at.together }) };
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

/** The answer to a recorded call, byte for byte as it was sent. */
export function replyOf(entry: JournalEntry): FinalReply {
  const { outcome } = entry;
  const spent =
    entry.kind === 'ask' ? defined({ spent: entry.spent }) : entry.kind === 'tool' ? defined({ work: entry.work }) : {};
  const labels = defined({ labels: entry.flow?.answer });
  if (outcome.ok) return { t: 'ok', value: outcome.value, ...labels, ...spent };
  // Removes the stack, which was added after the run had ended. The script pays fuel by the length of the answer and got it without a
  // stack.
  if ('halted' in outcome) return { t: 'halt', error: { ...outcome.halted, stack: [] } };
  const { code, message, hint } = outcome;
  return { t: 'error', code, message, hint, ...labels, ...spent };
}

/** The value of a late answer. Throws {@link ToolError} for a failure. */
export function completedValue(completion: Completed): TaggedJson {
  if (completion.ok) return completion.value;
  throw new ToolError(completion.code, completion.message);
}

/** Puts recorded queries to the fork again: their answers are known, but the script pays fuel for them. */
export async function repeatQueries(queries: readonly ForkQuery[], io: CallIo): Promise<void> {
  for (const query of queries) await io.repeat(query);
}
