import type { TurnRecord } from './record.ts';

/** Counters by label; a label that was never counted is absent. */
export type Counts = Readonly<Record<string, number>>;

/** The counters of AMB-37 at one moment. */
export interface MetricsSnapshot {
  readonly decisions_total: Counts;
  readonly verify_fail_total: Counts;
  readonly ttl_expired_total: number;
  readonly jti_dup_total: number;
  readonly lint_total: Counts;
  readonly no_progress_total: number;
}

/** Counts what turns led to (A3-10-3 … 7, AL3-9-2). The labels are closed sets: decisions and codes, never ids. */
export class Metrics {
  readonly #decisions = new Map<string, number>();
  readonly #verifyFails = new Map<string, number>();
  readonly #lints = new Map<string, number>();
  #noProgress = 0;

  /** Counts one decided turn. */
  record(record: TurnRecord): void {
    add(this.#decisions, record.decision);
    for (const candidate of record.candidates) if (candidate.code !== null) add(this.#verifyFails, candidate.code);
    for (const lint of record.lints) add(this.#lints, lint.code);
    if (record.reason === 'ERR_NO_PROGRESS') this.#noProgress += 1;
  }

  snapshot(): MetricsSnapshot {
    return {
      decisions_total: Object.fromEntries(this.#decisions),
      verify_fail_total: Object.fromEntries(this.#verifyFails),
      ttl_expired_total: this.#verifyFails.get('ERR_TOKEN_TTL') ?? 0,
      jti_dup_total: this.#verifyFails.get('ERR_TOKEN_REPLAY') ?? 0,
      lint_total: Object.fromEntries(this.#lints),
      no_progress_total: this.#noProgress,
    };
  }
}

function add(counts: Map<string, number>, label: string): void {
  counts.set(label, (counts.get(label) ?? 0) + 1);
}
