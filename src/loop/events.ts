import type { JournalEntry } from '../wire/journal.ts';
import type { OutFrame } from '../wire/protocol.ts';
import type { LoopState } from './lifecycle.ts';
import type { TurnRecord } from './record.ts';

/** Progress of a session, as it happens. Every event names its session and turn; a `decided` is the last of its turn. */
export type LoopEvent = { readonly sid: string; readonly turn: number } & LoopEventBody;

/** What happened. */
export type LoopEventBody =
  /** The agent is asked; `prompt` is the envelope it is shown. */
  | { readonly type: 'asked'; readonly prompt: string }
  | { readonly type: 'replied'; readonly reply: string }
  | { readonly type: 'state'; readonly from: LoopState; readonly to: LoopState }
  /** Lines the program emitted or whispered so far; not yet decided upon. */
  | { readonly type: 'output'; readonly out: OutFrame }
  /** A call to the host that ended. */
  | { readonly type: 'called'; readonly entry: JournalEntry }
  | { readonly type: 'decided'; readonly record: TurnRecord };

/** Receives the events of a session. What it throws ends the session: a host that cannot watch must not go on unseen. */
export type LoopListener = (event: LoopEvent) => void;
