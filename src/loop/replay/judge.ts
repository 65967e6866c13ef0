import { encodeBase64Url, type KeyInfo, ReplayCache } from '../../aeiou/index.ts';
import type { GuardView, ProgressCheck } from '../guard.ts';
import type { Clock } from '../ports.ts';
import type { PublicKeyRecord } from './facts.ts';

/** Passes on what a decision asks of the host, and keeps the answers: they are inputs of the turn. */
export class Judge {
  readonly replay: ReplayCache;
  readonly #fresh: boolean[] = [];
  readonly #checks: readonly ProgressCheck[];
  #didStop = false;

  constructor(host: { readonly replay: ReplayCache; readonly clock: Clock; readonly checks?: readonly ProgressCheck[] }) {
    this.replay = new Overheard(host.replay, host.clock, this.#fresh);
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

  /** What the replay cache answered, in order. */
  get fresh(): readonly boolean[] {
    return this.#fresh;
  }
}

/** A replay cache whose answers are kept. */
class Overheard extends ReplayCache {
  readonly #cache: ReplayCache;
  readonly #fresh: boolean[];

  constructor(cache: ReplayCache, clock: Clock, fresh: boolean[]) {
    super({ clock });
    this.#cache = cache;
    this.#fresh = fresh;
  }

  override add(sessionId: string, jti: string): boolean {
    const fresh = this.#cache.add(sessionId, jti);
    this.#fresh.push(fresh);
    return fresh;
  }
}

/** What may be kept of a key, and given away. */
export function publicPart({ kid, alg, publicKey }: KeyInfo): PublicKeyRecord {
  return { kid, alg, publicKey: publicKey === null ? null : encodeBase64Url(publicKey) };
}
