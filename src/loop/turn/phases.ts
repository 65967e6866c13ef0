import type { TurnTime } from '../../runtime/index.ts';
import type { Usage } from '../../wire/protocol.ts';
import type { Clock } from '../clock.ts';
import type { TurnPhase } from '../record/record.ts';

/** Divides the time of a turn into its phases, each of which begins where the one before ended. */
export class PhaseTimer implements TurnTime {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** The reading at which the turn would have begun without a pause. */
  readonly #zero: number;
  readonly #phases: TurnPhase[] = [];
  #last: number;
  #started = Number.POSITIVE_INFINITY;

  /** `before`: milliseconds that the turn took before. */
  constructor(clock: Pick<Clock, 'monotonic'>, before: number) {
    this.#clock = clock;
    this.#zero = clock.monotonic() - before;
    this.#last = before;
  }

  /** Milliseconds that the turn has taken. */
  get elapsed(): number {
    return this.#clock.monotonic() - this.#zero;
  }

  get phases(): readonly TurnPhase[] {
    return this.#phases;
  }

  /** Whether a phase of this name has ended. */
  has(name: TurnPhase['name']): boolean {
    return this.#phases.some((phase) => phase.name === name);
  }

  /** Ends a phase, and returns the milliseconds that the turn has taken. */
  end(name: TurnPhase['name']): number {
    return this.#add(name, this.elapsed);
  }

  /** The program is known to have started: its worker said so, at its first output or call. */
  start(): void {
    this.#started = this.elapsed;
  }

  /**
   * Ends the phases of a run by what it used: the program ran until now, and what is left was spent on bringing it there. A host that is
   * busy reads the end late, but no call before the start.
   */
  endRun({ queueMs, wallMs }: Pick<Usage, 'queueMs' | 'wallMs'>): void {
    const now = this.elapsed;
    const ran = Math.max(this.#last, Math.min(this.#started, now - wallMs));
    this.#add('queue', Math.min(ran, this.#last + queueMs));
    this.#add('load', ran);
    this.#add('run', now);
  }

  #add(name: TurnPhase['name'], until: number): number {
    this.#phases.push({ name, begin: rounded(this.#last), ms: rounded(until - this.#last) });
    this.#last = until;
    return until;
  }
}

/** To the microsecond. */
const rounded = (ms: number): number => Math.round(ms * 1000) / 1000;
