import { checkMethods, checkObject } from '../arguments.ts';
import { checkWholeNumber, DEFAULT_LIFETIMES, secondsOf, type TokenClock } from '../lifetimes.ts';

/** Bounds of a {@link ReplayCache}. */
export interface ReplayCacheOptions {
  /** Decides when an id is forgotten. */
  readonly clock: TokenClock;
  /** Seconds that an id is remembered after it was last seen. Default 300. */
  readonly ttl?: number;
  /** Most ids of one session; beyond it, the id seen longest ago is forgotten. Default 4096. */
  readonly capacity?: number;
  /** Most sessions; beyond it, the session used longest ago is forgotten. Default 1024. */
  readonly maxSessions?: number;
}

/** A used token id as a session store keeps it. */
export interface UsedId {
  /** Id of the token. */
  readonly jti: string;
  /** Unix second at which it was last seen. */
  readonly second: number;
}

interface Session {
  /** jti → Unix second at which it was last seen, oldest first. */
  readonly seen: Map<string, number>;
  used: number;
}

/**
 * Remembers the used token ids of every session, bounded in time and number. It rounds seconds as the expiry of tokens does, so it
 * forgets an id only when no token with that id can be valid any more.
 */
export class ReplayCache {
  /** Seconds that an id is remembered. */
  readonly ttl: number;
  readonly #clock: TokenClock;
  readonly #capacity: number;
  readonly #maxSessions: number;
  /** Least recently used first. */
  readonly #sessions = new Map<string, Session>();

  /** Throws {@link ConfigError} for bounds that are not whole numbers from 1. */
  constructor(options: ReplayCacheOptions) {
    checkObject('the options of a ReplayCache', options);
    checkMethods('the clock of a ReplayCache', options.clock, 'now');
    this.#clock = options.clock;
    this.ttl = checkWholeNumber('ttl of the replay cache', options.ttl ?? DEFAULT_LIFETIMES.replayTtl);
    this.#capacity = checkWholeNumber('capacity of the replay cache', options.capacity ?? 4096);
    this.#maxSessions = checkWholeNumber('maxSessions of the replay cache', options.maxSessions ?? 1024);
  }

  /** Remembers an id. Returns false when it was remembered already; its time is then renewed. */
  add(sessionId: string, jti: string): boolean {
    const now = secondsOf(this.#clock);
    this.#dropIdle(now);
    const session = this.#use(sessionId, now);
    this.#dropOld(session, now);
    const fresh = !session.seen.delete(jti);
    session.seen.set(jti, now);
    if (session.seen.size > this.#capacity) dropFirst(session.seen);
    return fresh;
  }

  /** Remembers the ids that a store kept. An id that is known already keeps its time. */
  restore(sessionId: string, used: readonly UsedId[]): void {
    const now = secondsOf(this.#clock);
    const known = this.#sessions.get(sessionId)?.seen;
    const news = used.filter(({ jti, second }) => known?.has(jti) !== true && now <= second + this.ttl);
    if (news.length === 0) return;
    const { seen } = this.#use(sessionId, now);
    const all = [...seen, ...news.map(({ jti, second }) => [jti, second] as const)].sort(([, a], [, b]) => a - b);
    seen.clear();
    for (const [jti, second] of all.slice(-this.#capacity)) seen.set(jti, second);
  }

  /** Forgets a session that has ended. */
  dispose(sessionId: string): void {
    this.#sessions.delete(sessionId);
  }

  /** Drops everything too old, then counts the sessions and ids in memory. */
  size(): { readonly sessions: number; readonly ids: number } {
    const now = secondsOf(this.#clock);
    this.#dropIdle(now);
    let ids = 0;
    for (const session of this.#sessions.values()) {
      this.#dropOld(session, now);
      ids += session.seen.size;
    }
    return { sessions: this.#sessions.size, ids };
  }

  /** The session, created if necessary, which becomes the last used one. */
  #use(sessionId: string, now: number): Session {
    const session = this.#sessions.get(sessionId) ?? { seen: new Map<string, number>(), used: now };
    session.used = now;
    this.#sessions.delete(sessionId);
    this.#sessions.set(sessionId, session);
    if (this.#sessions.size > this.#maxSessions) dropFirst(this.#sessions);
    return session;
  }

  #dropIdle(now: number): void {
    for (const [sessionId, { used }] of this.#sessions) {
      if (now <= used + this.ttl) return;
      this.#sessions.delete(sessionId);
    }
  }

  #dropOld({ seen }: Session, now: number): void {
    for (const [jti, second] of seen) {
      if (now <= second + this.ttl) return;
      seen.delete(jti);
    }
  }
}

function dropFirst(map: Map<string, unknown>): void {
  for (const key of map.keys()) {
    map.delete(key);
    return;
  }
}
