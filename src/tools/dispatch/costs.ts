import { quotaError } from '../../wire/errorinfo.ts';
import type { ErrorInfo } from '../../wire/errors.ts';
import type { LimitKey, TenantKey } from '../../wire/limits.ts';
import { type Nanos, nanosOf, usdOf, usdText } from '../../wire/money.ts';

/** Whoever pays for calls. */
export interface Payer {
  /** What may still be paid. */
  readonly left: Nanos;
  /** Why so much more cannot be paid for `what`; null when it can. */
  refusal(nanos: Nanos, what: string): ErrorInfo | null;
  /** Counts what is paid. */
  add(nanos: Nanos): void;
}

/** An amount that is bounded by a limit. */
interface Account {
  readonly limit: LimitKey | TenantKey;
  readonly whose: string;
  readonly allowed: Nanos;
  readonly used: Nanos;
}

/** Why an account cannot pay so much more; null when it can. `used` of the error counts what is refused. */
export function overdraft({ limit, whose, allowed, used }: Account, nanos: Nanos, what: string): ErrorInfo | null {
  if (used + nanos <= allowed) return null;
  const price = Number.isFinite(nanos) ? usdText(usdOf(nanos)) : 'more than can be counted';
  const message = `${what} costs ${price}, and ${whose} has used ${usdText(usdOf(used))} of ${usdText(usdOf(allowed))}`;
  const total = Number.isFinite(nanos) ? usdOf(used + nanos) : undefined;
  return quotaError({ limit, allowed: usdOf(allowed), used: total }, message);
}

/**
 * The costs of one run, within the limit `cost`. What it pays, the run that asked it pays too, and its tenant. Nothing waits between the
 * question whether a call can be paid and its payment, so calls that run together cannot exceed a limit.
 */
export class CostMeter implements Payer {
  readonly #allowed: Nanos;
  readonly #outer: Payer | null;
  readonly #ofCalls = new Map<number, Nanos>();
  #used: Nanos = 0;

  /** `allowed` in US dollars. `outer` pays too. */
  constructor(allowed: number, outer: Payer | null = null) {
    this.#allowed = nanosOf(allowed);
    this.#outer = outer;
  }

  get left(): Nanos {
    return Math.max(0, Math.min(this.#allowed - this.#used, this.#outer?.left ?? Number.POSITIVE_INFINITY));
  }

  /** US dollars that the run has paid, with all that it asked. */
  get used(): number {
    return usdOf(this.#used);
  }

  refusal(nanos: Nanos, what: string): ErrorInfo | null {
    const own = { limit: 'cost', whose: 'the run', allowed: this.#allowed, used: this.#used } as const;
    return this.#outer?.refusal(nanos, what) ?? overdraft(own, nanos, what);
  }

  add(nanos: Nanos): void {
    this.#used += nanos;
    this.#outer?.add(nanos);
  }

  /** Pays for a part of a call of the run, or says why it cannot be paid. */
  pay(seq: number, nanos: Nanos, what: string): ErrorInfo | null {
    if (nanos === 0) return null;
    const refusal = this.refusal(nanos, what);
    if (refusal !== null) return refusal;
    this.add(nanos);
    this.#ofCalls.set(seq, (this.#ofCalls.get(seq) ?? 0) + nanos);
    return null;
  }

  /** Counts what a call cost when it was made: others have paid for it then. Returns the breach of the limit, or null. */
  repeat(seq: number, nanos: Nanos): ErrorInfo | null {
    if (nanos === 0) return null;
    const breach = overdraft(
      { limit: 'cost', whose: 'the run', allowed: this.#allowed, used: this.#used },
      nanos,
      'a recorded call',
    );
    this.#used += nanos;
    this.#ofCalls.set(seq, nanos);
    return breach;
  }

  /** US dollars that a call has cost, with the calls that its tool made; undefined for nothing. */
  ofCall(seq: number): number | undefined {
    const nanos = this.#ofCalls.get(seq);
    return nanos === undefined ? undefined : usdOf(nanos);
  }
}
