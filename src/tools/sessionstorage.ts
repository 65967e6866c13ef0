import type { TurnContext } from '../context/index.ts';
import { callBack } from '../wire/callback.ts';
import { NS_CODES } from '../wire/codes.ts';
import { ConfigError } from '../wire/errors.ts';
import { checker, checkFunction, wholeNumber } from '../wire/options.ts';
import { ToolError } from './errors.ts';

/** One attempt to reach the data of another session, allowed or not. */
export interface SessionAccess {
  /** The session of the tool's caller. */
  readonly sessionId: string;
  /** The turn of the tool's caller, from 1; null outside of a loop. */
  readonly turnIndex: number | null;
  /** The session whose data the tool requests. */
  readonly target: string;
  /** Whether the host allowed it. */
  readonly allowed: boolean;
}

/** Options of a {@link SessionStorage}. */
export interface SessionStorageOptions {
  /** Whether a tool of one session may reach the data of another. Only `true` allows it, a promise does not. Never when absent. */
  readonly allow?: (access: Omit<SessionAccess, 'allowed'>) => boolean;
  /**
   * Receives every attempt to reach another session, before it is answered. Required with `allow`. If it throws, the attempt fails; once
   * it has rejected, no further attempt is allowed.
   */
  readonly audit?: (access: SessionAccess) => unknown;
  /** Most sessions with data at the same time; 10,000 when absent. */
  readonly maxSessions?: number;
}

const checkSessionStorageOptions = checker<SessionStorageOptions>({
  allow: checkFunction,
  audit: checkFunction,
  maxSessions: wholeNumber(1),
});

/**
 * The data of tools, separate for each session. The session comes from the turn context, which no argument of a program can change, so a
 * session cannot see the data of another. Only {@link of} reaches another session; it is refused unless the host allows it, and recorded
 * in both cases.
 */
export class SessionStorage<T> {
  readonly #sessions = new Map<string, Map<string, T>>();
  readonly #options: SessionStorageOptions;
  /** Whether an attempt could not be recorded. */
  #unrecorded = false;
  readonly #maxSessions: number;

  /** Throws {@link ConfigError} for options of the wrong form, and for `allow` without `audit`. */
  constructor(options: SessionStorageOptions = {}) {
    checkSessionStorageOptions('the options of a storage', options);
    if (options.allow !== undefined && options.audit === undefined)
      throw new ConfigError('allow needs audit, because access to another session must be recorded');
    this.#maxSessions = options.maxSessions ?? 10_000;
    this.#options = options;
  }

  /** The data of the caller's own session. Throws {@link ToolError}: 19 outside of a session, 37 when there are too many. */
  own(turn: TurnContext): Map<string, T> {
    return this.#dataOf(sessionOf(turn));
  }

  /** The data of a session that may be another one. Throws {@link ToolError} 1003 where that is not allowed. */
  of(turn: TurnContext, target: string): Map<string, T> {
    const sessionId = sessionOf(turn);
    if (target === sessionId) return this.own(turn);
    const access = { sessionId, turnIndex: turn.turnIndex, target };
    // A promise would count as true before it is settled, and every session would get access.
    const allowed = !this.#unrecorded && this.#options.allow?.(access) === true;
    const recorded = this.#options.audit?.({ ...access, allowed });
    callBack(
      () => recorded,
      () => {
        this.#unrecorded = true;
      },
    );
    if (!allowed) throw new ToolError(NS_CODES.Policy, 'the data of another session is out of reach');
    return this.#dataOf(target);
  }

  /** Forgets a session that has ended. */
  end(sessionId: string): void {
    this.#sessions.delete(sessionId);
  }

  #dataOf(sessionId: string): Map<string, T> {
    const known = this.#sessions.get(sessionId);
    if (known !== undefined) return known;
    if (this.#sessions.size >= this.#maxSessions)
      throw new ToolError(NS_CODES.ResourceExhaustion, `there are ${this.#maxSessions} sessions with data already`);
    const data = new Map<string, T>();
    this.#sessions.set(sessionId, data);
    return data;
  }
}

function sessionOf(turn: TurnContext): string {
  if (turn.sessionId !== null) return turn.sessionId;
  throw new ToolError(NS_CODES.PreconditionFailed, 'this tool works only inside a session');
}
