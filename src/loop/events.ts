import { callBack } from '../wire/callback.ts';
import { WARNINGS } from '../wire/codes.ts';
import type { JournalEntry } from '../wire/journal.ts';
import type { OutFrame } from '../wire/protocol.ts';
import type { AgentReason } from './agents/index.ts';
import type { AttemptEnd, TurnRecord } from './record/record.ts';
import type { Waiting } from './record/suspension.ts';
import type { LoopState } from './turn/lifecycle.ts';

/** Progress of a session. Every event names its session and turn; `decided` is the last event of a turn. */
export type LoopEvent = {
  /** Id of the session. */
  readonly sid: string;
  /** Number of the turn, from 1. */
  readonly turn: number;
} & LoopEventBody;

/** An event without the session and turn that it belongs to. */
export type LoopEventBody =
  /** The agent is consulted; `prompt` is the envelope. Repeated after an attempt that did not decide the turn. */
  | { readonly type: 'asked'; readonly attempt: number; readonly prompt: string }
  /**
   * A piece of a reply that is under way, for agents that stream. A higher `retry` begins the reply anew, because the transport of an
   * earlier attempt failed. The `replied` event has the whole text.
   */
  | { readonly type: 'delta'; readonly attempt: number; readonly retry: number; readonly text: string }
  /** The agent replied; `problem` says why the reply holds no envelope. */
  | {
      readonly type: 'replied';
      readonly attempt: number;
      readonly reply: string;
      readonly tokens: number;
      /** US dollars for these tokens; absent for none. */
      readonly cost?: number | undefined;
      readonly problem: { readonly code: string; readonly message: string } | null;
    }
  /** The agent gave no reply. */
  | { readonly type: 'unanswered'; readonly reason: AgentReason; readonly message: string }
  /** The turn took a step. */
  | { readonly type: 'state'; readonly from: LoopState; readonly to: LoopState }
  /** An attempt did not decide the turn, and another one follows. `attempt` counts from 1. */
  | {
      readonly type: 'undecided';
      readonly attempt: number;
      readonly end: AttemptEnd;
      readonly code: string;
      readonly message: string;
    }
  /** Lines that the program emitted or whispered; the turn is not decided yet. */
  | { readonly type: 'output'; readonly out: OutFrame }
  /** A call to the host ended. */
  | { readonly type: 'called'; readonly entry: JournalEntry }
  /** The turn is suspended: a tool will answer later. */
  | { readonly type: 'suspended'; readonly waiting: Waiting }
  /** The turn has a decision and is stored. */
  | { readonly type: 'decided'; readonly record: TurnRecord };

/** Two pieces of a reply as one, so that a slow reader gets all of them in fewer events; null for other events. */
export function joinDeltas(last: { readonly type: string }, event: LoopEvent): LoopEvent | null {
  if (event.type !== 'delta' || !isDelta(last) || last.attempt !== event.attempt || last.retry !== event.retry) return null;
  return { ...event, text: last.text + event.text };
}

function isDelta(event: { readonly type: string }): event is LoopEvent & { readonly type: 'delta' } {
  return event.type === 'delta';
}

/**
 * Receives the events of a session. If it throws or rejects, the turn under way continues and is stored; then the call that was given
 * the listener rejects with the error, and the session does not continue. A rejection after the end of that call becomes a warning
 * of the process (`NEUROSCRIPT_LATE_FAILURE`).
 */
export type LoopListener = (event: LoopEvent) => unknown;

/** Calls a listener until it fails, and keeps the error. */
export class Watcher<Event = LoopEvent> {
  readonly #listener: ((event: Event) => unknown) | undefined;
  #failure: Error | null = null;
  #closed = false;

  constructor(listener: ((event: Event) => unknown) | undefined) {
    this.#listener = listener;
  }

  /** Passes an event to the listener. Never throws. After a failure it does not call the listener again. */
  readonly emit = (event: Event): void => {
    if (this.#failure !== null) return;
    callBack(
      () => this.#listener?.(event),
      (error) => {
        if (this.#closed) process.emitWarning(`a listener of a session failed too late to end it: ${error.message}`, LATE);
        else this.#failure ??= error;
      },
    );
  };

  /** Throws the listener's error, if any. */
  check(): void {
    if (this.#failure !== null) throw this.#failure;
  }

  /** The last check. A rejection that comes later becomes a warning of the process. */
  close(): void {
    this.#closed = true;
    this.check();
  }
}

const LATE = { type: 'LateFailure', code: WARNINGS.lateFailure };
