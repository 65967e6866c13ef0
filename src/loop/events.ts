import type { JournalEntry } from '../wire/journal.ts';
import type { OutFrame } from '../wire/protocol.ts';
import type { AgentReason } from './agents/index.ts';
import type { Waiting } from './suspend/suspension.ts';
import type { LoopState } from './turn/lifecycle.ts';
import type { TurnRecord } from './turn/record.ts';

/** Progress of a session, as it happens. Every event names its session and turn; a `decided` is the last of its turn. */
export type LoopEvent = { readonly sid: string; readonly turn: number } & LoopEventBody;

/** What happened. */
export type LoopEventBody =
  /** The agent is asked; `prompt` is the envelope it is shown. More than once when a reply held no envelope. */
  | { readonly type: 'asked'; readonly attempt: number; readonly prompt: string }
  /** It answered; `problem` says why there is no envelope in the reply. */
  | {
      readonly type: 'replied';
      readonly attempt: number;
      readonly reply: string;
      readonly tokens: number;
      readonly problem: { readonly code: string; readonly message: string } | null;
    }
  /** It gave no reply. */
  | { readonly type: 'unanswered'; readonly reason: AgentReason; readonly message: string }
  | { readonly type: 'state'; readonly from: LoopState; readonly to: LoopState }
  /** Lines the program emitted or whispered so far; not yet decided upon. */
  | { readonly type: 'output'; readonly out: OutFrame }
  /** A call to the host that ended. */
  | { readonly type: 'called'; readonly entry: JournalEntry }
  /** The turn was put aside: a tool will answer later. */
  | { readonly type: 'suspended'; readonly waiting: Waiting }
  | { readonly type: 'decided'; readonly record: TurnRecord };

/**
 * Receives the events of a session. What it throws neither disturbs the turn under way nor is lost: the turn is kept, then
 * the call that it was given to rejects with it, and the session is not driven on.
 */
export type LoopListener = (event: LoopEvent) => void;

/** Calls a listener until it throws, and keeps what it threw. */
export class Watcher<Event = LoopEvent> {
  readonly #listener: ((event: Event) => void) | undefined;
  #thrown: { readonly error: unknown } | null = null;

  constructor(listener: ((event: Event) => void) | undefined) {
    this.#listener = listener;
  }

  /** Never throws; after a failure the listener is not called any more. */
  readonly emit = (event: Event): void => {
    if (this.#thrown !== null) return;
    try {
      this.#listener?.(event);
    } catch (error) {
      this.#thrown = { error };
    }
  };

  /** Throws what the listener threw. */
  check(): void {
    if (this.#thrown !== null) throw this.#thrown.error;
  }
}
