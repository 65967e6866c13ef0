import { callBack } from '../../wire/callback.ts';
import { ConfigError, RuntimeClosedError } from '../../wire/errors.ts';
import {
  anything,
  type Checks,
  checker,
  checkFunction,
  checkObject,
  MAX_TIMER_MS,
  required,
  timerMs,
  wholeNumber,
} from '../../wire/options.ts';
import type { LoopController } from '../controller.ts';
import { type ResumeOptions, WALL_MS } from '../options.ts';
import type { LoopResult } from '../result.ts';
import type { SessionCoordinator } from '../sessions/coordinator.ts';
import { SessionLeasedError, SessionStateError } from '../sessions/errors.ts';
import type { Heartbeat } from '../sessions/heartbeat.ts';
import type { DrivenSession } from '../sessions/lease.ts';
import type { SessionSetup } from '../sessions/setup.ts';

/** The settings with which a host drives the sessions of one profile. */
export interface Profile {
  /** Made with the coordinator of the host. */
  readonly controller: LoopController;
  /**
   * Agent, ceilings and limits for a session. If it throws, this host leaves the session to other hosts. A session that has taken half of
   * `wallMs` is given back after its turn, so that slow agents end no session.
   */
  readonly options: (sid: string, setup: SessionSetup) => Omit<ResumeOptions, 'leave'>;
}

/** Options of a {@link Host}. */
export interface HostOptions {
  /** Shared with the controllers of all profiles: one owner, one heartbeat for all sessions. */
  readonly coordinator: SessionCoordinator;
  /** The profiles of this host, by name; `''` drives sessions that were opened without a profile. */
  readonly profiles: Readonly<Record<string, Profile>>;
  /** Most sessions at a time, from 1; 8 when absent. */
  readonly concurrency?: number;
  /** Most sessions of one tenant at a time, from 1; all of `concurrency` when absent. */
  readonly tenantConcurrency?: number | undefined;
  /** Turns after which the host gives a session back, so that others are driven too; 8 when absent. */
  readonly turnsPerClaim?: number | undefined;
  /** Milliseconds between two searches for sessions that became ready by time alone; 2,000 when absent. */
  readonly pollMs?: number;
  /** The keys that this host knows now, which it says to the store as long as it lives; none when absent. */
  readonly kids?: () => readonly string[];
  /**
   * Receives the error when a session cannot be driven, when its agent gives no reply and it stays open, or when the store does not answer
   * (`sid` is null). Its own failure has no effect.
   */
  readonly onError?: (error: unknown, sid: string | null) => unknown;
  /** Receives the result when this host stops driving a session. `onError` receives its failure. */
  readonly onLeft?: (result: LoopResult) => unknown;
}

const CHECKS: Checks<HostOptions> = {
  coordinator: required(anything),
  profiles: required(checkObject),
  concurrency: wholeNumber(1),
  tenantConcurrency: wholeNumber(1),
  turnsPerClaim: wholeNumber(1),
  pollMs: timerMs(1),
  kids: checkFunction,
  onError: checkFunction,
  onLeft: checkFunction,
};
const checkHost = checker(CHECKS);

/** The current state of a host. */
export interface HostState {
  /** `ready`: it claims sessions. `unreachable`: its store did not answer last time. `draining`: it ends its turns. */
  readonly status: 'ready' | 'unreachable' | 'draining' | 'stopped';
  /** Sessions that the host drives at the moment. */
  readonly driving: number;
  /** Most sessions that the host drives at the same time. */
  readonly concurrency: number;
  /** Sessions claimed since the start. */
  readonly claimed: number;
  /** Profiles whose agents gave no reply several times in a row. The host claims their sessions again after a pause. */
  readonly away: readonly string[];
  /** Sessions that could not be driven, and requests that the store did not answer. */
  readonly errors: number;
}

/** The longest pause after a store that did not answer, in milliseconds. */
const LONGEST_PAUSE_MS = 5000;

/**
 * Requests in a row to which the agents of a profile gave no reply until the host claims none of its sessions for a second, and then for
 * twice as long each time, so that they do not take the place of sessions whose agents reply.
 */
const AWAY_AFTER = 3;
const LONGEST_AWAY_MS = 60_000;

/**
 * Drives the sessions of a store together with any number of other hosts. It claims sessions that are ready and that it can run, drives
 * them, and hands them over when it stops. The store holds the whole state of a session: if the process dies, other hosts continue when
 * its lease ends. Handles, directories and other things that tools keep in memory end when the host stops driving a session.
 */
export class Host {
  readonly #options: HostOptions & { readonly [Key in 'concurrency' | 'turnsPerClaim' | 'pollMs' | 'tenantConcurrency']: number };
  readonly #driving = new Map<string, { readonly tenant: string; readonly done: Promise<void> }>();
  #profiles: HostOptions['profiles'];
  readonly #heartbeat: Heartbeat;
  readonly #wake = new Signal();
  /** By profile: requests in a row without a reply, and until when its sessions are left alone. */
  readonly #unanswered = new Map<string, { readonly count: number; readonly until: number }>();
  #status: HostState['status'] = 'ready';
  #claimed = 0;
  #errors = 0;
  #running: Promise<void> | null = null;

  /** Throws `ConfigError` (`ERR_CONFIG`) for unusable options. */
  constructor(options: HostOptions) {
    checkHost('the options of a host', options);
    const { concurrency = 8, turnsPerClaim = 8, pollMs = 2000 } = options;
    const { tenantConcurrency = concurrency } = options;
    this.#options = { ...options, concurrency, turnsPerClaim, pollMs, tenantConcurrency };
    this.#profiles = options.profiles;
    this.#heartbeat = options.coordinator.heartbeat(options.kids);
  }

  /** The current state of the host. */
  get state(): HostState {
    const { concurrency } = this.#options;
    const away = Object.keys(this.#profiles).filter((profile) => this.#isAway(profile));
    return { status: this.#status, driving: this.#driving.size, concurrency, claimed: this.#claimed, away, errors: this.#errors };
  }

  /** Begins to claim sessions. Throws {@link RuntimeClosedError} after {@link drain}. */
  start(): void {
    if (this.#isEnding) throw new RuntimeClosedError('this host has been drained');
    this.#running ??= this.#run();
  }

  /**
   * Drives sessions with other profiles from now on: a turn under way ends under those with which it began, and the next turn of its session
   * begins under the new ones. Resolves when no session is driven with the old ones.
   */
  async use(profiles: HostOptions['profiles']): Promise<void> {
    checkObject('the profiles of a host', profiles);
    this.#profiles = profiles;
    this.#wake.call();
    await Promise.all([...this.#driving.values()].map(({ done }) => done));
  }

  /**
   * Stops claiming and waits until every turn under way is decided. Sessions stay open for other hosts. After `ms` milliseconds, or when
   * `hurry` aborts, the host gives up the turns that still run; other hosts run them again. Resolves when no turn is left. Rejects
   * with `ConfigError` for a time that no timer can wait.
   */
  async drain(ms: number, hurry?: AbortSignal): Promise<void> {
    if (typeof ms !== 'number' || !(ms >= 0 && ms <= MAX_TIMER_MS))
      throw new ConfigError(`ms must be a number from 0 to ${MAX_TIMER_MS}, got ${String(ms)}`);
    this.#status = 'draining';
    this.#wake.call();
    const { coordinator } = this.#options;
    const late = AbortSignal.any([AbortSignal.timeout(ms), ...(hurry === undefined ? [] : [hurry])]);
    const giveUp = (): void => void coordinator.abandon().catch((error: unknown) => this.#failed(error, null));
    if (late.aborted) giveUp();
    else late.addEventListener('abort', giveUp, { once: true });
    await this.#running;
    await Promise.all([...this.#driving.values()].map(({ done }) => done));
    late.removeEventListener('abort', giveUp);
    await this.#heartbeat.leave().catch((error: unknown) => this.#failed(error, null));
    this.#status = 'stopped';
  }

  get #isEnding(): boolean {
    return this.#status === 'draining' || this.#status === 'stopped';
  }

  /** Says to the store now that this host lives, and which keys it knows. Rejects with `StoreError` when the store takes no write. */
  beat(): Promise<void> {
    return this.#heartbeat.beat();
  }

  async #run(): Promise<void> {
    const { coordinator, pollMs, concurrency } = this.#options;
    const forget = coordinator.store.onReady(this.#wake.call);
    this.#heartbeat.start();
    let pause = 0;
    let tended = Number.NEGATIVE_INFINITY;
    try {
      while (!this.#isEnding) {
        try {
          if (tended < 0 || this.#status === 'unreachable') await this.beat();
          if (this.#now() - tended > coordinator.leaseMs) {
            tended = this.#now();
            await coordinator.tend(
              (sid) => this.#driving.has(sid),
              (error, sid) => this.#failed(error, sid),
            );
          }
          const found = this.#driving.size < concurrency ? await this.#claim() : 0;
          if (this.#status === 'unreachable') this.#status = 'ready';
          pause = 0;
          if (found === 0) await this.#wake.wait(pollMs);
        } catch (error) {
          this.#failed(error, null);
          if (!this.#isEnding) this.#status = 'unreachable';
          pause = Math.min(LONGEST_PAUSE_MS, Math.max(100, 2 * pause));
          await this.#wake.wait(pause);
        }
      }
    } finally {
      forget();
    }
  }

  /** Claims as many sessions as there is room for, and begins to drive them. */
  async #claim(): Promise<number> {
    const { coordinator, concurrency, tenantConcurrency } = this.#options;
    // One claim of several sessions may take several of one tenant. To respect `tenantConcurrency`, the host then claims one by one.
    const room = tenantConcurrency < concurrency ? 1 : concurrency - this.#driving.size;
    const profiles = Object.keys(this.#profiles).filter((profile) => !this.#isAway(profile));
    if (profiles.length === 0) return 0;
    const found = await coordinator.next(room, { profiles, without: this.#fullTenants() });
    for (const session of found) {
      const { sid } = session.state;
      const { tenant } = session.setup;
      // A driver gives its session up before it ends; and a separate process may have given up what a driver here still waits for.
      const earlier = this.#driving.get(sid)?.done;
      const drive = earlier === undefined ? this.#drive(session) : earlier.then(() => this.#drive(session));
      const driving = {
        tenant,
        done: drive.finally(() => {
          if (this.#driving.get(sid) === driving) this.#driving.delete(sid);
          this.#wake.call();
        }),
      };
      this.#driving.set(sid, driving);
    }
    this.#claimed += found.length;
    return found.length;
  }

  /** Tenants that have their share of this host. */
  #fullTenants(): readonly string[] {
    const { tenantConcurrency, concurrency } = this.#options;
    if (tenantConcurrency >= concurrency) return [];
    const counts = new Map<string, number>();
    for (const { tenant } of this.#driving.values()) counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
    return [...counts].filter(([tenant, count]) => tenant !== '' && count >= tenantConcurrency).map(([tenant]) => tenant);
  }

  async #drive({ state: { sid }, setup, next }: DrivenSession): Promise<void> {
    const { turnsPerClaim, coordinator, onLeft } = this.#options;
    const profiles = this.#profiles;
    let turns = 0;
    try {
      const profile = profiles[setup.profile];
      if (profile === undefined || this.#isEnding) return await coordinator.leave(sid);
      const options = profile.options(sid, setup);
      const until = this.#now() + (options.wallMs ?? WALL_MS) / 2;
      const isEnough = (): boolean => ++turns >= turnsPerClaim || this.#now() > until;
      const leave = (): boolean => this.#isEnding || profiles !== this.#profiles || isEnough();
      const result = await profile.controller.resume(sid, {
        keepTurns: false,
        ...options,
        onUnanswered: options.onUnanswered ?? 'leave',
        leave,
      });
      callBack(
        () => onLeft?.(result),
        (error) => this.#failed(error, sid),
      );
      const isUnanswered = result.decision === 'CONTINUE' && result.error !== null;
      // An agent that replied for a turn of this claim was back before it was away again.
      if (turns > 0 || !isUnanswered) this.#replied(setup.profile, true);
      if (isUnanswered) {
        this.#replied(setup.profile, false);
        this.#tell(new Error(result.error.message), sid);
      }
      // The clocks differ: the call has expired by the clock of the store, but not yet by the clock of this host.
      const still = next.kind === 'waiting' && next.suspended.since === result.waiting?.since;
      if (still || isUnanswered) await coordinator.setAside(sid);
    } catch (error) {
      // Another host has taken the session over, or it was ended meanwhile.
      if (error instanceof SessionLeasedError || error instanceof SessionStateError) return;
      this.#failed(error, sid);
      // The session stays leased until the lease ends, so that no host tries it again at once.
      await coordinator.setAside(sid).catch((failure: unknown) => this.#failed(failure, sid));
    }
  }

  #now(): number {
    return this.#options.coordinator.clock.monotonic();
  }

  #isAway(profile: string): boolean {
    return (this.#unanswered.get(profile)?.until ?? 0) > this.#now();
  }

  /** Counts the requests to which the agents of a profile gave no reply. Those that were under way when the pause began are one. */
  #replied(profile: string, isAnswered: boolean): void {
    if (isAnswered) this.#unanswered.delete(profile);
    else if (!this.#isAway(profile)) {
      const count = 1 + (this.#unanswered.get(profile)?.count ?? 0);
      const ms = count < AWAY_AFTER ? 0 : Math.min(LONGEST_AWAY_MS, 1000 * 2 ** (count - AWAY_AFTER));
      this.#unanswered.set(profile, { count, until: this.#now() + ms });
    }
  }

  #failed(error: unknown, sid: string | null): void {
    this.#errors += 1;
    this.#tell(error, sid);
  }

  #tell(error: unknown, sid: string | null): void {
    // What receives the errors cannot be told of its own.
    callBack(
      () => this.#options.onError?.(error, sid),
      () => {},
    );
  }
}

/** Wakes one waiter. A call without a waiter ends the next wait at once. */
class Signal {
  #called = false;
  #resolve: (() => void) | null = null;

  /** Ends the wait, or the next one. */
  call = (): void => {
    this.#called = true;
    this.#resolve?.();
  };

  /** Resolves at the next call, or after `ms` milliseconds. */
  async wait(ms: number): Promise<void> {
    if (!this.#called) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#resolve = resolve;
      const timer = setTimeout(resolve, ms);
      await promise;
      clearTimeout(timer);
      this.#resolve = null;
    }
    this.#called = false;
  }
}
