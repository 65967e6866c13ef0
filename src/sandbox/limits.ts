import { ConfigError } from '../wire/errors.ts';
import {
  defaultLimits,
  findLimit,
  LIMITS,
  type LimitRow,
  type LimitValues,
  limitValues,
  POOL_LIMITS,
  type PoolKey,
} from '../wire/limits.ts';
import { usdProblem } from '../wire/money.ts';
import { type Check, checkObject } from '../wire/options.ts';
import { shown } from '../wire/unknown.ts';

/** Limits of runs that a caller gives; an absent one keeps its default. */
export type LimitOptions = Partial<LimitValues>;

/** Limits of a runtime with its workers; an absent one keeps its default. */
export type PoolLimitOptions = { readonly [Key in PoolKey]?: number | undefined };

/** The limits that a runtime takes: those of its runs and its own. */
export type RuntimeLimitOptions = LimitOptions & PoolLimitOptions;

/**
 * Checks a caller's limits. Throws {@link ConfigError} with the key and the reason for an unknown key, a value that is no whole
 * number, and a value outside the range of its row: a limit that cannot be enforced is refused, never ignored.
 */
export function checkLimits(options: LimitOptions): LimitOptions {
  checkObject('limits', options);
  for (const [key, value] of Object.entries(options)) {
    const limit = findLimit(key);
    if (limit !== undefined) checkAmount(`limit ${key}`, limit, value);
    else if (POOL_LIMITS.some((row) => row.key === key))
      throw new ConfigError(`limit ${key} is one of a whole runtime; set it where the runtime is made`);
    else throw new ConfigError(`unknown limit '${key}'; known are ${LIMITS.map((row) => row.key).join(', ')}`);
  }
  return options;
}

/** {@link checkLimits} as the check of an option. */
export const checkLimitOptions: Check = (_what, limits) => {
  checkObject('limits', limits);
  checkLimits(limits);
};

/** Checks one value against its row. Throws {@link ConfigError} with `name` and the reason. */
export function checkAmount(name: string, { min, max, unit }: Pick<LimitRow, 'min' | 'max' | 'unit'>, value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw new ConfigError(`${name} must be a number, got ${shown(value)}`);
  const problem = unit === 'usd' ? usdProblem(value) : null;
  if (problem !== null) throw new ConfigError(`${name} ${problem}, got ${value}`);
  if (unit !== 'usd' && !Number.isInteger(value)) throw new ConfigError(`${name} must be a whole number, got ${value}`);
  if (value < min) throw new ConfigError(`${name} must be at least ${min}, got ${value}`);
  if (value > max) throw new ConfigError(`${name} must be at most ${max}, got ${value}`);
  return value;
}

/** The lowest of all, key by key: a fork or a turn can only tighten what its runtime allows. */
export function tighten(outer: LimitValues, ...inner: readonly LimitOptions[]): LimitValues {
  const tightened = { ...outer };
  for (const each of inner)
    for (const { key } of LIMITS) tightened[key] = Math.min(tightened[key], each[key] ?? Number.POSITIVE_INFINITY);
  return tightened;
}

/** The defaults with a caller's values in their place; for the limits of a runtime. Throws {@link ConfigError}. */
export function resolveLimits(of: 'run' | 'turn', options: LimitOptions): LimitValues {
  const given = checkLimits(options);
  const defaults = defaultLimits(of);
  return limitValues(({ key }) => given[key] ?? defaults[key]);
}

/**
 * The limits of a pool, all present, on a machine with this number of cores. Throws {@link ConfigError} for a value out of its
 * range, and when more runs may compute than there may be workers.
 */
export function poolLimits(options: PoolLimitOptions, cores: number): Readonly<Record<PoolKey, number>> {
  const given = mergePoolLimits(options);
  const usual = (key: PoolKey): number => POOL_LIMITS.find((limit) => limit.key === key)?.default ?? cores;
  const maxWorkers = given.maxWorkers ?? Math.max(usual('maxWorkers'), given.concurrency ?? cores);
  const concurrency = given.concurrency ?? Math.min(usual('concurrency'), maxWorkers);
  if (maxWorkers < concurrency) throw new ConfigError(`maxWorkers (${maxWorkers}) must be at least concurrency (${concurrency})`);
  return { concurrency, maxWorkers, queueLength: given.queueLength ?? usual('queueLength') };
}

/**
 * Separates the limits of a runtime's pool from those of its runs. A limit of the pool may be in `limits` or in `options`; the lower
 * value counts.
 */
export function splitLimits(
  limits: RuntimeLimitOptions,
  options: PoolLimitOptions,
): { readonly run: LimitOptions; readonly pool: PoolLimitOptions } {
  checkObject('limits', limits);
  const { concurrency, maxWorkers, queueLength, ...run } = limits;
  return { run, pool: mergePoolLimits({ concurrency, maxWorkers, queueLength }, options) };
}

/** The lowest value that is given for each limit of a pool. Throws {@link ConfigError} for a value out of its range. */
function mergePoolLimits(...options: readonly PoolLimitOptions[]): PoolLimitOptions {
  const merged: { [Key in PoolKey]?: number } = {};
  for (const limit of POOL_LIMITS)
    for (const { [limit.key]: value } of options)
      if (value !== undefined)
        merged[limit.key] = Math.min(merged[limit.key] ?? Number.POSITIVE_INFINITY, checkAmount(limit.key, limit, value));
  return merged;
}

/** Comparing limits takes a fraction of the time of writing and reading them. */
export function areSameLimits(some: LimitValues, others: LimitValues): boolean {
  return some === others || LIMITS.every(({ key }) => some[key] === others[key]);
}
