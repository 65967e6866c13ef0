import type { JournalEntry } from '../../wire/journal.ts';
import { canonicalName, MAGIC_TOOL } from '../names.ts';
import { matchesPattern } from '../policy/capability.ts';
import type { CallsBefore } from '../policy/decide.ts';

/** Canonical names of the tools that were called successfully before a run. */
export interface PastCalls {
  /** In earlier turns of the session. */
  readonly session?: Iterable<string>;
  /** In this turn. */
  readonly turn?: Iterable<string>;
}

/** A call of the program that has not ended. */
export interface OpenCall {
  readonly seq: number;
  readonly tool: string;
  /** Null until another call waits for the end of this one. */
  ended: PromiseWithResolvers<void> | null;
}

function endOf(open: OpenCall): Promise<void> {
  open.ended ??= Promise.withResolvers();
  return open.ended.promise;
}

/**
 * The tools that were called successfully, by the program and on its behalf, as rules of order see them. Calls that run together count in
 * the order of the program, whichever ends first.
 */
export class CallHistory {
  /** Number of the first successful call of each tool in this run; 0 for an earlier one. */
  readonly #first = { session: new Map<string, number>(), turn: new Map<string, number>() };
  readonly #open: OpenCall[] = [];
  readonly #behalf = new Map<number, Set<string>>();
  readonly #tell: (tool: string) => void;

  /** `tell` receives the tool of every successful call. */
  constructor({ session = [], turn = [] }: PastCalls = {}, tell: (tool: string) => void = () => {}) {
    for (const tool of [...session, ...turn]) this.#first.session.set(tool, 0);
    for (const tool of turn) this.#first.turn.set(tool, 0);
    this.#tell = tell;
  }

  /** Notes that the program makes a call. */
  begin(seq: number, name: string): OpenCall {
    const open: OpenCall = { seq, tool: canonicalName(name), ended: null };
    this.#open.push(open);
    return open;
  }

  /** Notes that a call has ended, and whether it succeeded. */
  end(open: OpenCall, succeeded: boolean): void {
    this.#open.splice(this.#open.indexOf(open), 1);
    if (succeeded) this.#note(open.seq, open.tool);
    open.ended?.resolve();
  }

  /** Notes a successful call that was made on behalf of the call `seq`, by a tool or by an agent. */
  add(seq: number, tool: string): void {
    if (tool === MAGIC_TOOL) return;
    const behalf = this.#behalf.get(seq);
    if (behalf === undefined) this.#behalf.set(seq, new Set([tool]));
    else behalf.add(tool);
    this.#note(seq, tool);
  }

  /** The tools that were called successfully on behalf of a call, sorted; undefined when there are none. */
  behalfOf(seq: number): readonly string[] | undefined {
    const tools = this.#behalf.get(seq);
    return tools === undefined ? undefined : [...tools].sort();
  }

  /** Resolves when the calls before the call `seq` whose tools match one of the patterns have ended; undefined when they have. */
  ended(seq: number, patterns: readonly string[]): Promise<unknown> | undefined {
    const waited = this.#open.filter((open) => open.seq < seq && patterns.some((pattern) => matchesPattern(pattern, open.tool)));
    return waited.length === 0 ? undefined : Promise.all(waited.map(endOf));
  }

  /** The calls before the call `seq` that have ended, and for a call that is made on its behalf (`within`), those that were so before. */
  at(seq: number, within = false): CallsBefore {
    const last = within ? seq : seq - 1;
    return {
      called: (pattern, scope) => {
        for (const [tool, number] of this.#first[scope]) if (number <= last && matchesPattern(pattern, tool)) return tool;
        return false;
      },
    };
  }

  /** The calls before the call `seq`, as {@link at}, but calls that run together with it may still succeed. */
  soFar(seq: number): CallsBefore {
    const ended = this.at(seq);
    return {
      called: (pattern, scope) => ended.called(pattern, scope) || (this.ended(seq, [pattern]) === undefined ? false : null),
    };
  }

  /** The history of the programs that an agent writes to answer the call `seq`. Their calls count as made on behalf of it. */
  inside(seq: number): CallHistory {
    const { session, turn } = this.#first;
    return new CallHistory({ session: session.keys(), turn: turn.keys() }, (tool) => this.add(seq, tool));
  }

  #note(seq: number, tool: string): void {
    if (tool === MAGIC_TOOL) return;
    for (const first of [this.#first.session, this.#first.turn])
      if ((first.get(tool) ?? Number.POSITIVE_INFINITY) > seq) first.set(tool, seq);
    this.#tell(tool);
  }
}

/** Canonical names of the tools that were called successfully in a journal, by the program and on its behalf, each once. */
export function calledIn(journal: readonly JournalEntry[]): readonly string[] {
  const named = journal.flatMap((entry) => [
    ...(entry.kind === 'tool' && entry.outcome.ok && entry.name !== MAGIC_TOOL ? [entry.name] : []),
    ...(entry.called ?? []),
  ]);
  return [...new Set(named)];
}
