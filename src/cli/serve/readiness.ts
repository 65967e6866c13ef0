import { setTimeout as sleep } from 'node:timers/promises';
import type { CensusRow, DecisionLog, Host, HostState, SessionStore } from '../../loop/index.ts';
import { messageOf } from '../../wire/unknown.ts';

/** Milliseconds that store and log have to answer. */
const DEADLINE_MS = 2000;

/** What a host needs to take turns, and whether it has it. */
export interface Readiness {
  readonly ready: boolean;
  /** One line a part. */
  readonly text: string;
}

export interface HealthInit {
  readonly host: Pick<Host, 'beat'>;
  readonly store: Pick<SessionStore, 'census'>;
  readonly log: DecisionLog | null;
}

/** Asks what a host needs whether it works. Requests of the same moment share one question. */
export class Health {
  readonly #census: Check<readonly CensusRow[] | null>;
  readonly #parts: readonly (readonly [name: string, check: Check<void>])[];

  /** The store works while it takes the beats of the host, which are writes: one on a full disk, or a standby, can still be read. */
  constructor({ host, store, log }: HealthInit) {
    const ofLog = log?.ping === undefined ? [] : [['log', new Check(async () => log.ping?.())] as const];
    this.#census = new Check(async () => (await store.census?.()) ?? null);
    this.#parts = [['store', new Check(() => host.beat())], ...ofLog];
  }

  /** What is wrong with each part; null for one that works. */
  parts(): Promise<readonly { readonly name: string; readonly problem: string | null }[]> {
    return Promise.all(this.#parts.map(async ([name, check]) => ({ name, problem: (await check.now()).problem })));
  }

  /** The open sessions of the store; null when it does not answer or cannot tell. */
  async census(): Promise<readonly CensusRow[] | null> {
    const { value } = await this.#census.now();
    return value;
  }

  /** Whether the host claims sessions, and store and log answer now. */
  async readiness(status: HostState['status']): Promise<Readiness> {
    const found = await this.parts();
    const ready = status === 'ready' && found.every(({ problem }) => problem === null);
    const head = ready ? 'ready' : status === 'ready' ? 'not ready' : status;
    return { ready, text: [head, ...found.map(({ name, problem }) => `${name}: ${problem ?? 'ok'}`), ''].join('\n') };
  }
}

/** The answer to a question, or why there is none. */
type Answered<T> = { readonly value: T; readonly problem: null } | { readonly value: null; readonly problem: string };

/** A question that is not asked again while it has no answer. */
class Check<T> {
  readonly #ask: () => Promise<T>;
  #asked: Promise<Answered<T>> | null = null;

  constructor(ask: () => Promise<T>) {
    this.#ask = ask;
  }

  now(): Promise<Answered<T>> {
    this.#asked ??= this.#ask()
      .then(
        (value): Answered<T> => ({ value, problem: null }),
        (error: unknown): Answered<T> => ({ value: null, problem: messageOf(error) }),
      )
      .finally(() => {
        this.#asked = null;
      });
    const late = { value: null, problem: `no answer within ${DEADLINE_MS / 1000} s` };
    return Promise.race([this.#asked, sleep(DEADLINE_MS, late, { ref: false })]);
  }
}
