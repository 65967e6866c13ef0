import { ConfigError } from '../wire/errors.ts';
import { DEFAULT_LIFETIMES, secondsOf, type TokenClock } from './lifetimes.ts';

/** Bounds of a {@link ReplayCache}. */
export interface ReplayCacheOptions {
  readonly clock: TokenClock;
  /** Seconds that an id is remembered after it was last seen. Default 300. */
  readonly ttl?: number;
  /** Most ids of one session; the one seen longest ago makes room (A3-11.3-2). Default 4096. */
  readonly capacity?: number;
  /** Most sessions; the one used longest ago makes room (threat 47). Default 1024. */
  readonly maxSessions?: number;
}

/** A token id that was used, and when: what a store keeps of it. */
export interface UsedId {
  readonly jti: string;
  /** Unix second at which it was last seen. */
  readonly second: number;
}

interface Session {
  /** jti → Unix second at which it was last seen; the one seen longest ago comes first. */
  readonly seen: Map<string, number>;
  used: number;
}

/**
 * Token ids that were used, per session (A3-6.5-5/6), bounded in time and number (A3-11.3). Seconds are rounded as in the
 * expiry of tokens, so an id is forgotten only when no token that carries it can be valid any more.
 */
export class ReplayCache {
  /** Seconds that an id is remembered. */
  readonly ttl: number;
  readonly #clock: TokenClock;
  readonly #capacity: number;
  readonly #maxSessions: number;
  /** The session used longest ago comes first. */
  readonly #sessions = new Map<string, Session>();

  /** Throws {@link ConfigError} for bounds that are no whole numbers from 1. */
  constructor(options: ReplayCacheOptions) {
    this.#clock = options.clock;
    this.ttl = bound('ttl', options.ttl ?? DEFAULT_LIFETIMES.replayTtl);
    this.#capacity = bound('capacity', options.capacity ?? 4096);
    this.#maxSessions = bound('maxSessions', options.maxSessions ?? 1024);
  }

  /** Remembers the id; false when it was remembered already. A repeated id counts as seen anew. */
  add(sessionId: string, jti: string): boolean {
    const now = secondsOf(this.#clock);
    this.#dropIdle(now);
    const session = this.#sessions.get(sessionId) ?? { seen: new Map<string, number>(), used: now };
    this.#dropOld(session, now);
    const fresh = !session.seen.delete(jti);
    session.seen.set(jti, now);
    if (session.seen.size > this.#capacity) dropFirst(session.seen);
    session.used = now;
    this.#sessions.delete(sessionId);
    this.#sessions.set(sessionId, session);
    if (this.#sessions.size > this.#maxSessions) dropFirst(this.#sessions);
    return fresh;
  }

  /** Remembers ids that were used before, as a store kept them; those it knows already keep their place. */
  restore(sessionId: string, used: readonly UsedId[]): void {
    const now = secondsOf(this.#clock);
    const session = this.#sessions.get(sessionId) ?? { seen: new Map<string, number>(), used: now };
    const news = used.filter(({ jti, second }) => !session.seen.has(jti) && now <= second + this.ttl);
    if (news.length === 0) return;
    const all = [...session.seen, ...news.map(({ jti, second }) => [jti, second] as const)].sort(([, a], [, b]) => a - b);
    session.seen.clear();
    for (const [jti, second] of all.slice(-this.#capacity)) session.seen.set(jti, second);
    session.used = now;
    this.#sessions.delete(sessionId);
    this.#sessions.set(sessionId, session);
    if (this.#sessions.size > this.#maxSessions) dropFirst(this.#sessions);
  }

  /** Forgets a session that has ended. */
  dispose(sessionId: string): void {
    this.#sessions.delete(sessionId);
  }

  /** How many ids are held in memory, and of how many sessions, once everything too old is dropped. */
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

  /** Sessions stand in the order of their last use, so this ends at the first that is recent. */
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

function bound(name: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 1)
    throw new ConfigError(`${name} of the replay cache must be a whole number from 1, got ${String(value)}`);
  return value;
}
