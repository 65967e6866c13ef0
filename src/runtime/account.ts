import type { TurnContext } from '../context/index.ts';
import type { TenantShare } from '../sandbox/index.ts';
import { CostMeter, type Payer } from '../tools/index.ts';
import { BusyError, type ErrorInfo } from '../wire/errors.ts';
import { type Nanos, usdOf } from '../wire/money.ts';
import type { RunResult } from '../wire/result.ts';
import type { RunRequest } from './request.ts';
import type { Tenants } from './tenants.ts';

/** Why the tenant of a turn may not run anything; null when it may. The loop asks before a turn starts, because a started turn must run. */
export function spentBudget(tenants: Tenants, { tenant }: TurnContext, { asTurn, recorded }: RunRequest): ErrorInfo | null {
  if (tenant === null || asTurn === true || recorded !== undefined) return null;
  const { error } = tenants.report(tenant);
  if (error !== null) tenants.refuse(tenant);
  return error;
}

/** The value of a turn context that pays for its runs, in place of a tenant. */
export const PAYER = 'runtime.payer';

/** Who pays for a turn that another run has asked for; null for other turns, whose tenants pay. */
export function payerOf(turn: TurnContext): Payer | null {
  const payer = turn.value(PAYER);
  return payer instanceof CostMeter ? payer : null;
}

/** The part of a tenant in one run. It pays for calls at once, so that runs at the same time cannot exceed its budget together. */
export class TenantAccount implements Payer, Disposable {
  readonly #tenants: Tenants;
  readonly #id: string | null;

  constructor(tenants: Tenants, id: string | null) {
    this.#tenants = tenants;
    this.#id = id;
    if (id !== null) tenants.begin(id);
  }

  /** The tenant's share of the workers. */
  get share(): TenantShare | null {
    return this.#id === null ? null : this.#tenants.share(this.#id);
  }

  get left(): Nanos {
    return this.#id === null ? Number.POSITIVE_INFINITY : this.#tenants.moneyLeft(this.#id);
  }

  refusal(nanos: Nanos, what: string): ErrorInfo | null {
    return this.#id === null ? null : this.#tenants.overdraft(this.#id, nanos, what);
  }

  add(nanos: Nanos): void {
    if (this.#id !== null) this.#tenants.charge(this.#id, { maxCost: usdOf(nanos) });
  }

  /** Rethrows why the run did not begin. Counts it as refused when too many wait. */
  refuse(error: unknown): never {
    if (this.#id !== null && error instanceof BusyError) this.#tenants.refuse(this.#id);
    throw error;
  }

  /** Charges the tenant for the usage of the run, but for its cost. Turns of an `ask` are charged separately. */
  charge({ usage: { fuel, cpuMs, toolCalls }, journal }: RunResult): void {
    if (this.#id === null) return;
    const nested = { fuel: 0, cpuMs: 0, toolCalls: 0 };
    for (const entry of journal)
      if (entry.kind === 'ask' && entry.spent !== undefined) {
        nested.fuel += entry.spent.fuel;
        nested.cpuMs += entry.spent.cpuMs;
        nested.toolCalls += entry.spent.toolCalls;
      }
    const own = (all: number, part: number): number => Math.max(0, all - part);
    this.#tenants.charge(this.#id, {
      fuel: own(fuel, nested.fuel),
      cpuMs: own(cpuMs, nested.cpuMs),
      toolCalls: own(toolCalls, nested.toolCalls),
    });
  }

  [Symbol.dispose](): void {
    if (this.#id !== null) this.#tenants.end(this.#id);
  }
}
