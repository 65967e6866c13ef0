import { checkTenantId } from '../context/index.ts';
import { checkAmount, checkIsolation, type Isolation, type LimitOptions, type TenantShare } from '../sandbox/index.ts';
import { checkUsd, overdraft } from '../tools/index.ts';
import { defined } from '../wire/defined.ts';
import { quotaError } from '../wire/errorinfo.ts';
import { ConfigError, type ErrorInfo } from '../wire/errors.ts';
import { TENANT_LIMITS, type TenantLimit, type TenantOption } from '../wire/limits.ts';
import { type Nanos, nanosOf, sumUsd, usdOf } from '../wire/money.ts';
import { checker, checkObject, checkTextOrObject, wholeNumber } from '../wire/options.ts';
import { amount as amountText } from '../wire/text/units.ts';

/** Limits of one tenant, see `docs/limits.md`. An absent budget is unlimited. */
export type TenantLimits = { readonly [Name in TenantOption]?: number } & {
  /** How its runs share isolates and processes; as its runtime says when absent. */
  readonly isolation?: Isolation;
};

/** A tenant with limits that replace those of its runtime from now on. */
export interface TenantInit extends TenantLimits {
  /** Id of the tenant, of the application's choice. */
  readonly id: string;
}

/** The tenants of a runtime. */
export interface TenantsOptions {
  /** Limits of every tenant. */
  readonly defaults?: TenantLimits;
  /** Different limits, by tenant. The runtime never forgets these tenants. */
  readonly each?: Readonly<Record<string, TenantLimits>>;
}

/** The usage of all runs of a tenant together. */
export type TenantUse = { readonly [Name in Budget]: number };

/** A tenant at one moment. */
export interface TenantReport {
  /** Id of the tenant. */
  readonly id: string;
  /** Its limits. */
  readonly limits: TenantLimits;
  /** Runs that wait or have begun. */
  readonly active: number;
  /** In this period. */
  readonly used: TenantUse;
  /** The rest of each budget; absent for an unlimited one. */
  readonly left: Partial<TenantUse>;
  /** Time at which all budgets are full again, Unix milliseconds; null if no period has begun. */
  readonly renewsAt: number | null;
  /** Runs that were refused: a budget was used up, or too many runs waited. */
  readonly refused: number;
  /** Why the next run is refused: a budget is used up. Null when it is not. */
  readonly error: ErrorInfo | null;
}

/** The limits that count what runs use. */
const BUDGETS = ['fuel', 'cpuMs', 'toolCalls', 'tokens', 'maxCost'] as const satisfies readonly TenantOption[];
type Budget = (typeof BUDGETS)[number];

const UNUSED: TenantUse = { fuel: 0, cpuMs: 0, toolCalls: 0, tokens: 0, maxCost: 0 };

const amount = wholeNumber(0);

/** The check of what a tenant used. */
export const checkTenantUse = checker<Partial<TenantUse>>({
  fuel: amount,
  cpuMs: amount,
  toolCalls: amount,
  tokens: amount,
  maxCost: checkUsd,
});

/** Most remembered tenants without limits of their own in `each`. */
const REMEMBERED = 10_000;

interface Tenant {
  limits: TenantLimits;
  active: number;
  used: TenantUse;
  /** The beginning of the period, Unix milliseconds; null before the first run. */
  since: number | null;
  refused: number;
}

const checkLimit = (row: TenantLimit) => (what: string, value: unknown) => void checkAmount(what, row, value);
const LIMIT_CHECKS = Object.fromEntries(TENANT_LIMITS.map((row) => [row.option, checkLimit(row)]));
const checkTenantLimits = checker<Record<string, unknown>>({
  ...LIMIT_CHECKS,
  isolation: (what, value) => void checkIsolation(value, what),
});
const checkTenants = checker<TenantsOptions>({
  defaults: checkTenantLimits,
  each(what, value) {
    checkObject(what, value);
    for (const [id, limits] of Object.entries(value)) checkTenantLimits(`${what}.${checkTenantId(id)}`, limits);
  },
});

/**
 * The tenants of a runtime, with their limits and usage. It remembers the tenants of `each`, those with runs, and the last 10,000 others;
 * a forgotten tenant begins with full budgets.
 */
export class Tenants {
  readonly #defaults: TenantLimits;
  readonly #listed: ReadonlyMap<string, Tenant>;
  /** In the order of their last use. */
  readonly #others = new Map<string, Tenant>();
  readonly #now: () => number;
  #refused = 0;

  /** `now` gives Unix milliseconds. Throws {@link ConfigError} (`ERR_CONFIG`). */
  constructor(options: TenantsOptions, now: () => number) {
    checkTenants('the tenants', options);
    this.#defaults = defined({ ...options.defaults });
    const each = Object.entries(options.each ?? {});
    this.#listed = new Map(each.map(([id, limits]) => [id, newTenant({ ...this.#defaults, ...defined(limits) })]));
    this.#now = now;
  }

  /** Number of remembered tenants. */
  get size(): number {
    return this.#listed.size + this.#others.size;
  }

  /** Runs of tenants that were refused. */
  get refused(): number {
    return this.#refused;
  }

  /** The id of the tenant that an option names, with its limits from now on. Throws {@link ConfigError}. */
  named(option: string | TenantInit): string {
    if (typeof option === 'string') return checkTenantId(option);
    checkTextOrObject('the tenant', option);
    const { id, ...limits } = option;
    checkTenantId(id);
    checkTenantLimits(`the tenant ${id}`, limits);
    this.#tenant(id).limits = { ...this.#defaults, ...defined(limits) };
    return id;
  }

  /** The tenant as the queue for workers sees it. */
  share(id: string): TenantShare {
    const { share = 1, concurrency, queueLength, isolation } = this.#tenant(id).limits;
    return { id, share, concurrency, queueLength, isolation };
  }

  /** Counts a run that begins to wait. Its tenant is not forgotten before {@link end}. */
  begin(id: string): void {
    const tenant = this.#tenant(id);
    tenant.active++;
    tenant.since ??= this.#now();
  }

  end(id: string): void {
    this.#tenant(id).active--;
    if (this.#others.size > REMEMBERED) this.#forget();
  }

  /** Counts a run that is refused. */
  refuse(id: string): void {
    this.#tenant(id).refused++;
    this.#refused++;
  }

  /** Subtracts usage from the budgets. */
  charge(id: string, used: Partial<TenantUse>): void {
    const tenant = this.#tenant(id);
    tenant.since ??= this.#now();
    const sum = (name: Budget): number => tenant.used[name] + (used[name] ?? 0);
    const maxCost = sumUsd(tenant.used.maxCost, used.maxCost);
    tenant.used = { fuel: sum('fuel'), cpuMs: sum('cpuMs'), toolCalls: sum('toolCalls'), tokens: sum('tokens'), maxCost };
  }

  /** What a tenant may still pay; infinite without a budget. */
  moneyLeft(id: string): Nanos {
    const { maxCost } = this.report(id).left;
    return maxCost === undefined ? Number.POSITIVE_INFINITY : nanosOf(maxCost);
  }

  /** Why a tenant cannot pay so much more for `what`; null when it can. */
  overdraft(id: string, nanos: Nanos, what: string): ErrorInfo | null {
    const { limits, used } = this.report(id);
    if (limits.maxCost === undefined) return null;
    const account = { limit: 'tenantCost', whose: `the tenant '${id}'`, allowed: nanosOf(limits.maxCost) } as const;
    return overdraft({ ...account, used: nanosOf(used.maxCost) }, nanos, what);
  }

  /** The current state of a tenant. Does not make the runtime remember it. */
  report(id: string): TenantReport {
    checkTenantId(id);
    const tenant = this.#find(id) ?? newTenant(this.#defaults);
    const { limits, active, used, since, refused } = tenant;
    const renewsAt = since === null || limits.periodMs === undefined ? null : since + limits.periodMs;
    const left = Object.fromEntries(
      BUDGETS.flatMap((name) => (limits[name] === undefined ? [] : [[name, rest(name, limits[name], used[name])]])),
    );
    return { id, limits, active, used, left, renewsAt, refused, error: spent(id, tenant, renewsAt) };
  }

  #find(id: string): Tenant | undefined {
    const tenant = this.#listed.get(id) ?? this.#others.get(id);
    if (tenant === undefined) return undefined;
    const { since, limits } = tenant;
    if (since === null || limits.periodMs === undefined) return tenant;
    const now = this.#now();
    if (now >= since + limits.periodMs) {
      tenant.used = UNUSED;
      tenant.since = tenant.active > 0 ? now : null;
    } else if (now < since) tenant.since = now; // The clock was set back. The period must not last longer for that.
    return tenant;
  }

  /** The tenant, which becomes the last used one. */
  #tenant(id: string): Tenant {
    const tenant = this.#find(id) ?? newTenant(this.#defaults);
    if (this.#listed.has(id)) return tenant;
    if (!this.#others.delete(id)) this.#forget();
    this.#others.set(id, tenant);
    return tenant;
  }

  /** Makes room for a tenant: forgets the least recently used ones without runs. */
  #forget(): void {
    for (const [id, { active }] of this.#others) {
      if (this.#others.size < REMEMBERED) return;
      if (active === 0) this.#others.delete(id);
    }
  }
}

function rest(name: Budget, limit: number, used: number): number {
  return name === 'maxCost' ? usdOf(Math.max(0, nanosOf(limit) - nanosOf(used))) : Math.max(0, limit - used);
}

function newTenant(limits: TenantLimits): Tenant {
  return { limits, active: 0, used: UNUSED, since: null, refused: 0 };
}

/** The rest of the tenant's budgets as limits of a run. A run that was admitted can always begin. */
export function limitsLeft({ left: { fuel, cpuMs, toolCalls, maxCost } }: TenantReport): LimitOptions {
  return defined({
    fuel: fuel === undefined ? undefined : Math.max(1, fuel),
    cpuMs: cpuMs === undefined ? undefined : Math.max(1, Math.floor(cpuMs)),
    toolCalls,
    cost: maxCost,
  });
}

/** Why a budget refuses a run; null when every one has something left. */
function spent(id: string, { limits, used }: Tenant, renewsAt: number | null): ErrorInfo | null {
  for (const { key, option, unit } of TENANT_LIMITS) {
    const budget = BUDGETS.find((name) => name === option);
    const allowed = budget === undefined ? undefined : limits[budget];
    if (budget === undefined || allowed === undefined || used[budget] < allowed) continue;
    const advice = renewsAt === null ? `raise its ${option}` : `it is full again at ${new Date(renewsAt).toISOString()}`;
    const message = `the tenant '${id}' has used up its ${option}: ${amountText(unit, used[budget])} of ${amountText(unit, allowed)}; ${advice}`;
    return quotaError({ limit: key, allowed, used: used[budget] }, message);
  }
  return null;
}
