import { encodeBase64Url, type KeyInfo, ReplayCache, type TokenClock, type TokenIds } from '../../aeiou/index.ts';
import type { Clock } from '../clock.ts';
import type { Ids } from '../ids.ts';
import type { PublicKeyRecord } from '../record/record.ts';
import type { GuardView, ProgressCheck } from './verdict.ts';

/** Provides a turn with token times and token ids, and records them so that a replay can provide the same. */
export class TokenRecorder implements TokenClock, TokenIds {
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #readings: number[];
  readonly #jtis: string[];

  /** `earlier` holds the times and ids of an earlier execution that this one continues. */
  constructor(clock: Clock, ids: Ids, earlier?: { readonly clock: readonly number[]; readonly jtis: readonly string[] }) {
    this.#clock = clock;
    this.#ids = ids;
    this.#readings = [...(earlier?.clock ?? [])];
    this.#jtis = [...(earlier?.jtis ?? [])];
  }

  /** Milliseconds since the Unix epoch. */
  now(): number {
    const reading = this.#clock.now();
    this.#readings.push(reading);
    return reading;
  }

  /** A new token id. */
  jti(sid: string, turn: number, mint: number): string {
    const jti = this.#ids.jti(sid, turn, mint);
    this.#jtis.push(jti);
    return jti;
  }

  /** Every time provided, in order. */
  get readings(): readonly number[] {
    return [...this.#readings];
  }

  /** Every id provided, in order. */
  get jtis(): readonly string[] {
    return [...this.#jtis];
  }
}

/** Records what the host answers while a turn is decided: its replay cache and the application's guards. */
export class DecisionRecorder {
  readonly replay: ReplayCache;
  readonly #fresh: boolean[] = [];
  readonly #checks: readonly ProgressCheck[];
  #didStop = false;

  /** `used`: ids of the tokens of earlier attempts at the turn, which count as used. */
  constructor(
    host: { readonly replay: ReplayCache; readonly clock: Clock; readonly checks?: readonly ProgressCheck[] },
    used: ReadonlySet<string> = new Set(),
  ) {
    this.replay = new RecordingReplayCache(host.replay, host.clock, used, this.#fresh);
    this.#checks = host.checks ?? [];
  }

  /** All guards of the application as one. */
  readonly stopped = (view: GuardView): boolean => {
    this.#didStop = this.#checks.some((check) => check(view));
    return this.#didStop;
  };

  /** Whether a guard of the application halted the turn. */
  get didStop(): boolean {
    return this.#didStop;
  }

  /** The replay cache's answers, in order. */
  get fresh(): readonly boolean[] {
    return this.#fresh;
  }
}

/** Passes requests on to another replay cache and records its answers. */
class RecordingReplayCache extends ReplayCache {
  readonly #cache: ReplayCache;
  readonly #used: ReadonlySet<string>;
  readonly #fresh: boolean[];

  constructor(cache: ReplayCache, clock: Clock, used: ReadonlySet<string>, fresh: boolean[]) {
    super({ clock });
    this.#cache = cache;
    this.#used = used;
    this.#fresh = fresh;
  }

  override add(sessionId: string, jti: string): boolean {
    const fresh = !this.#used.has(jti) && this.#cache.add(sessionId, jti);
    this.#fresh.push(fresh);
    return fresh;
  }
}

/** The part of a key that may be stored and published. */
export function publicPart({ kid, alg, publicKey }: KeyInfo): PublicKeyRecord {
  return { kid, alg, publicKey: publicKey === null ? null : encodeBase64Url(publicKey) };
}
