import type { LogView, SeriesView } from '../../../../src/ui/logviews.ts';
import type { ReplayView, TryRequest, TryView } from '../../../../src/ui/trialviews.ts';
import type {
  AboutView,
  CallsView,
  CancelView,
  ChangeView,
  CompleteRequest,
  CompleteView,
  PieceView,
  SessionsQuery,
  SessionsView,
  SessionView,
  TimelineView,
  TurnView,
} from '../../../../src/ui/views.ts';
import type { TurnHeat, TurnStep } from '../../../../src/wire/heat.ts';

/** Where the page gets its data: a server, or a snapshot in the page itself. */
export interface Source {
  /** Whether there is a server, which can try, replay, cancel and tell of changes. */
  readonly live: boolean;
  about(): Promise<AboutView>;
  sessions(query: SessionsQuery): Promise<SessionsView>;
  session(sid: string): Promise<SessionView>;
  /** The turns after a turn, in their order. */
  turns(sid: string, after: number, limit: number): Promise<TimelineView>;
  turn(sid: string, turn: number): Promise<TurnView>;
  /** The calls of a turn after one of them. */
  calls(sid: string, turn: number, after: number): Promise<CallsView>;
  /** A piece of a text that an answer has cut. */
  piece(sid: string, turn: number, part: string, from: number): Promise<PieceView>;
  /** Where the turn spent its fuel and time. */
  heat(sid: string, turn: number): Promise<TurnHeat>;
  /** One moment of the turn: a number of a step, or `LINE` or `LINE:VISIT`. */
  step(sid: string, turn: number, place: { readonly step: number } | { readonly at: string }): Promise<TurnStep>;
  replay(sid: string, turn: number): Promise<ReplayView>;
  tryOut(sid: string, turn: number, request: TryRequest): Promise<TryView>;
  cancel(sid: string): Promise<CancelView>;
  complete(sid: string, request: CompleteRequest): Promise<CompleteView>;
  log(after: number | null): Promise<LogView>;
  series(since: number | null): Promise<SeriesView>;
  /** Reports changes until the returned function is called; `sid` also watches a session that has not changed lately. */
  watch(sid: string | null, listener: (change: ChangeView) => void): () => void;
}

/** A request that failed; the message is for the reader of the page. */
export class SourceError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = 'SourceError';
    this.code = code;
  }
}
