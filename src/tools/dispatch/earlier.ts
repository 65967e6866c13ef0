import { encode } from '../../wire/codec.ts';
import { type EarlierCall, inOrder, type JournalEntry } from '../../wire/journal.ts';
import type { GuestCall, TaggedJson } from '../../wire/protocol.ts';
import { sortedJson } from '../../wire/tagged.ts';
import type { ToolView } from '../define/definition.ts';
import type { MadeCallOf } from '../grant/bound.ts';
import { canonicalName, MAGIC_TOOL } from '../names.ts';
import { grantable } from './callwords.ts';
import { CallNumbers } from './numbers.ts';
import type { MadeCalls } from './quotas.ts';
import { type CallScript, callOf, type Known, type MadeCall } from './recorded.ts';

/** What happens when an attempt makes another call of a tool that changes something, and has not taken the recorded one. */
export type OnChanged = 'ask' | 'proceed' | 'halt';

/** A recorded call with its answer, and whether this attempt has taken it. */
interface Answer {
  readonly origin: EarlierCall;
  readonly entry: JournalEntry;
  taken: boolean;
}

/**
 * Answers the calls of an attempt at a turn from the journals of the earlier attempts, which failed. A call with the same tool and the
 * same arguments takes a recorded answer, each one once and in the order in which the calls were made. Every other call is new. Calls that
 * failed or were denied have no recorded answer, and neither has the magic tool: the tokens of earlier attempts are void.
 */
export class EarlierCalls implements CallScript {
  readonly #tools: Pick<ToolView, 'lookup'>;
  readonly #onChanged: OnChanged;
  readonly #answers: Answer[] = [];
  /** The answers to each call, by its key. */
  readonly #byCall = new Map<string, Answer[]>();
  /** Numbers the calls of this attempt. */
  readonly numbers: CallNumbers;
  /** The calls that the earlier attempts made. */
  readonly made: readonly MadeCalls[];

  /** `journals` are those of the earlier attempts, the first attempt first. */
  constructor(journals: readonly (readonly JournalEntry[])[], tools: Pick<ToolView, 'lookup'>, onChanged: OnChanged) {
    this.#tools = tools;
    this.#onChanged = onChanged;
    for (const { origin, entry } of answersOf(journals)) this.#add(origin, entry);
    this.numbers = new CallNumbers(journals);
    this.made = journals.flatMap((journal) => journal.flatMap(madeCalls));
  }

  #add(origin: EarlierCall, entry: JournalEntry): void {
    const answer = { origin, entry, taken: false };
    const key = this.#keyOf(callOf(entry));
    const same = this.#byCall.get(key);
    if (same === undefined) this.#byCall.set(key, [answer]);
    else same.push(answer);
    this.#answers.push(answer);
  }

  /**
   * The calls whose answers this attempt has not taken, each in the forms in which it takes them: as it was made, with defaults for what is
   * missing, and without what is the default.
   */
  get untaken(): readonly (readonly MadeCallOf[])[] {
    return this.#answers.flatMap(({ entry, taken }) => {
      const made = taken ? null : grantable(callOf(entry), this.#tools);
      return made === null ? [] : [this.#formsOf(made)];
    });
  }

  #formsOf(made: MadeCallOf): readonly MadeCallOf[] {
    const parameters = this.#tools.lookup(made.tool.canonicalName)?.parameters ?? [];
    const defaults = parameters.map((each) => encode(each.default ?? null));
    const full = defaults.map((each, index) => made.args[index] ?? each);
    const isDefault = (arg: TaggedJson, index: number): boolean =>
      JSON.stringify(sortedJson(arg)) === JSON.stringify(sortedJson(defaults[index] ?? null));
    const bare = full.map((arg, index) => (isDefault(arg, index) ? null : arg));
    return [made, { ...made, args: full }, { ...made, args: bare }];
  }

  /** Notes that this attempt has taken the answer of a call, when a recorded call of the attempt is repeated. */
  take({ attempt, seq }: EarlierCall): void {
    const answer = this.#answers.find(({ origin }) => origin.attempt === attempt && origin.seq === seq);
    if (answer !== undefined) answer.taken = true;
  }

  known(call: GuestCall): Known | null {
    const answer = this.#byCall.get(this.#keyOf(call))?.find(({ taken }) => !taken);
    if (answer !== undefined) {
      answer.taken = true;
      return { t: 'taken', entry: answer.entry, origin: answer.origin };
    }
    if (call.t !== 'tool' || this.#onChanged === 'proceed') return null;
    const tool = this.#tools.lookup(call.name);
    if (tool === undefined || tool.effects !== 'write' || tool.idempotent) return null;
    const other = this.#answers.find(
      (each) => !each.taken && each.entry.kind === 'tool' && each.entry.name === tool.canonicalName,
    );
    return other === undefined
      ? null
      : { t: 'changed', entry: other.entry, origin: other.origin, halts: this.#onChanged === 'halt' };
  }

  /** Equal for calls that take the same answer. Defaults replace missing arguments; the order of the keys of a map does not count. */
  #keyOf(call: MadeCall): string {
    if (call.t === 'prompt') return JSON.stringify([call.t, call.text]);
    if (call.t === 'ask') return JSON.stringify([call.t, call.model, sortedJson(call.prompt), sortedJson(call.options)]);
    const parameters = this.#tools.lookup(call.name)?.parameters ?? [];
    const args = Array.from({ length: Math.max(parameters.length, call.args.length) }, (_, index) => {
      const given = call.args[index] ?? null;
      return given ?? encode(parameters[index]?.default ?? null);
    });
    return JSON.stringify([call.t, canonicalName(call.name), args.map(sortedJson)]);
  }
}

/** The tool calls that stand behind an entry; none for an answer that was taken. */
function madeCalls(entry: JournalEntry): readonly MadeCalls[] {
  if (entry.from !== undefined || entry.kind === 'prompt') return [];
  return entry.kind === 'tool' ? [{ tool: entry.name, calls: 1 }] : [{ tool: null, calls: entry.spent?.toolCalls ?? 0 }];
}

/** The answers in the journals of earlier attempts, in the order in which the calls were made. */
function answersOf(journals: readonly (readonly JournalEntry[])[]): readonly Pick<Answer, 'origin' | 'entry'>[] {
  return journals.flatMap((journal, index) =>
    inOrder(journal)
      .filter(isAnswer)
      .map((entry) => ({ origin: { attempt: index + 1, seq: entry.seq }, entry })),
  );
}

/** The tool calls of earlier attempts whose answers a later attempt, with this journal, did not take. */
export function untakenCalls(
  journals: readonly (readonly JournalEntry[])[],
  journal: readonly JournalEntry[],
): readonly (EarlierCall & { readonly tool: string })[] {
  const taken = new Set(journal.flatMap(({ from }) => (from === undefined ? [] : [`${from.attempt}.${from.seq}`])));
  return answersOf(journals).flatMap(({ origin, entry }) =>
    entry.kind === 'tool' && !taken.has(`${origin.attempt}.${origin.seq}`) ? [{ ...origin, tool: entry.name }] : [],
  );
}

/** Whether a recorded call has an answer that a later attempt may take, and did not itself take it from an earlier attempt. */
function isAnswer(entry: JournalEntry): boolean {
  return entry.outcome.ok && entry.from === undefined && !(entry.kind === 'tool' && entry.name === MAGIC_TOOL);
}
