import { limitsLeft, type Runtime, type TenantInit } from '../runtime/index.ts';
import type { LimitOptions } from '../sandbox/index.ts';
import { ConfigError } from '../wire/errors.ts';
import { type Nanos, nanosOf } from '../wire/money.ts';
import { AgentError } from './agents/agent.ts';

/** The tenants of a runtime, as the loop uses them. */
export type TenantPort = Pick<Runtime, 'tenant' | 'charge'>;

/** The tenant for which a step is taken; it may be absent. */
export class StepTenant {
  readonly id: string | null;
  readonly #port: TenantPort | undefined;

  /** Throws {@link ConfigError} for an invalid tenant, and for any tenant when no runtime counts its use. */
  constructor(port: TenantPort | undefined, tenant: string | TenantInit | undefined) {
    if (tenant !== undefined && port === undefined)
      throw new ConfigError('the executor of this loop has no tenants; use a runtime');
    this.#port = port;
    this.id = tenant === undefined ? null : (port?.tenant(tenant).id ?? null);
  }

  /** Throws {@link AgentError} (`ERR_QUOTA`) when the tenant has used up a budget. */
  admit(turn: number): void {
    const error = this.#report?.error ?? null;
    if (error !== null) throw new AgentError(turn, error.message, 'ERR_QUOTA', { failure: error });
  }

  /** Model tokens left in the budget; null without one. */
  get tokens(): number | null {
    return this.#report?.left.tokens ?? null;
  }

  /** What is left in the budget for calls and tokens; null without one. */
  get money(): Nanos | null {
    const maxCost = this.#report?.left.maxCost;
    return maxCost === undefined ? null : nanosOf(maxCost);
  }

  /** The rest of the budgets as limits of a turn. A turn that was admitted can always run. */
  get limits(): LimitOptions {
    const report = this.#report;
    return report === undefined ? {} : limitsLeft(report);
  }

  /** Charges model tokens, and US dollars for them. */
  pay(tokens: number, cost = 0): void {
    if (this.id !== null && tokens > 0) this.#port?.charge(this.id, { tokens, maxCost: cost });
  }

  get #report() {
    return this.id === null ? undefined : this.#port?.tenant(this.id);
  }
}
