import {
  interruptedRecord,
  type LogEntry,
  newSession,
  type SessionState,
  type StartedTurn,
  type Suspension,
  type TurnCommit,
  type TurnRecord,
} from '../../loop/index.ts';
import { defaultLimits } from '../../wire/limits.ts';
import { EMPTY_RUN } from '../../wire/protocol.ts';

/** Text that files and databases like to change: NUL, a lone surrogate, a quote. */
export const ODD = 'a\u0000b\ud800\'"\u{1f600}\r\n';

/** What refuses a write of a claim that is not the last one. */
export const LEASED = { code: 'ERR_SESSION_LEASED' };

/** A session between two turns. */
export const state = (sid: string, more: Partial<SessionState> = {}): SessionState => ({ ...newSession(sid, '{}'), ...more });

/** A turn that was started. */
export const started = (sid: string, turn = 1) =>
  ({
    sid,
    turn,
    attempt: 1,
    runner: 'r',
    nonce: 'n',
    startedAt: 5,
    suspended: null,
    attempts: [],
    reply: ODD,
    agent: { name: 'model', asks: 2, tokens: 3, inputTokens: 1, outputTokens: 2 },
    limits: defaultLimits('turn'),
  }) satisfies StartedTurn;

/** What a turn that waits is put aside with. */
export const WAITS: Suspension = {
  waiting: {
    seq: 1,
    tool: 'tool.t.x',
    args: [],
    reason: 'r',
    at: { fork: 'f', source: 's', line: 1, column: 1 },
    asked: [],
    expiresIn: null,
    ms: 1,
  },
  promise: null,
  earlier: {
    startedAt: 5,
    nonce: 'n',
    clock: [],
    jtis: [],
    mints: 0,
    mintFailed: false,
    ranMs: 0,
    run: { ...EMPTY_RUN, limits: defaultLimits('turn') },
    journal: [],
  },
  since: 5,
  expiresAt: 500,
  completion: null,
  acceptChanged: false,
  approved: null,
};

/** A commit in words of an owner. */
export type OwnedCommit = Omit<TurnCommit, 'fence'> & { readonly owner: string };

/** A lease in words of moments. */
export const lease = (owner: string, now = 0, until = 1000) => ({ owner, now, until });

export const recordOf = (sid: string, turn: number): TurnRecord => ({
  ...interruptedRecord(state(sid), { ...started(sid, turn), reply: null }, 'ERR_INTERRUPTED'),
  output: ODD,
});

/** The end of a turn of owner `a`. */
export const commitOf = (sid: string, turn: number, more: Partial<OwnedCommit> = {}): OwnedCommit => ({
  owner: 'a',
  record: recordOf(sid, turn),
  next: state(sid, { nextTurn: turn + 1, output: ODD }),
  used: [],
  usedSince: 0,
  unlogged: false,
  entry: null,
  at: 7,
  keep: true,
  ...more,
});

export const entryOf = (sid: string, turn: number, decision: LogEntry['decision'] = 'CONTINUE'): LogEntry => ({
  ts: '2024-08-30T10:05:45.000Z',
  SID: sid,
  turn_index: turn,
  decision,
  latency_ms: 0.5,
  output_bytes: 1,
  scratch_bytes: 0,
});
