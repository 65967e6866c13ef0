import { ConfigError } from '../wire/errors.ts';
import { checkObject } from '../wire/options.ts';
import { checkAmount, type LimitOptions, type LimitRow, type POOL_KEYS } from './limits.ts';

/** A limit of a runtime: how many runs there may be. One that does not fit in waits, or is refused with `ERR_BUSY`. */
export interface PoolLimit extends LimitRow {
  readonly key: PoolKey;
  /** Null: as many as the machine has cores. */
  readonly default: number | null;
  /** What comes of a run that is too many. */
  readonly breach: 'waits' | 'ERR_BUSY' | 'waits; ERR_BUSY for a nested run';
}

/** A key of the limits that a runtime has. */
export type PoolKey = (typeof POOL_KEYS)[number];

/** Limits of a runtime; what is absent keeps its default. */
export type PoolLimitOptions = { readonly [Key in PoolKey]?: number | undefined };

/** The rest of the table: limits of a runtime with its workers, which no fork, turn or request has of its own. */
export const POOL_LIMITS: readonly PoolLimit[] = [
  {
    key: 'concurrency',
    flag: 'concurrency',
    unit: 'count',
    default: null,
    min: 1,
    max: 1024,
    ring: 3,
    breach: 'waits',
    help: 'runs that compute at once; those that wait for the host do not count',
  },
  {
    key: 'maxWorkers',
    flag: 'max-workers',
    unit: 'count',
    default: 16,
    min: 1,
    max: 1024,
    ring: 3,
    breach: 'waits; ERR_BUSY for a nested run',
    help: 'concurrent turns: runs under way at once, those that wait for the host included',
  },
  {
    key: 'queueLength',
    flag: 'queue-length',
    unit: 'count',
    default: 1024,
    min: 0,
    max: 1e6,
    ring: 3,
    breach: 'ERR_BUSY',
    help: 'runs that wait for a worker',
  },
];

/** What a runtime may be given: limits of its runs, and of itself. */
export type RuntimeLimitOptions = LimitOptions & PoolLimitOptions;

/**
 * The limits of a pool, complete, on a machine with so many cores. Throws {@link ConfigError} that names the key and the reason:
 * a value out of its range, and more runs that compute than there may be workers.
 */
export function poolLimits(options: PoolLimitOptions, cores: number): Readonly<Record<PoolKey, number>> {
  const given: { [Key in PoolKey]?: number } = {};
  for (const limit of POOL_LIMITS) {
    const value = options[limit.key];
    if (value !== undefined) given[limit.key] = checkAmount(limit.key, limit, value);
  }
  const most = given.maxWorkers ?? Math.max(byDefault('maxWorkers'), given.concurrency ?? cores);
  const concurrency = given.concurrency ?? Math.min(cores, most);
  if (most < concurrency) throw new ConfigError(`maxWorkers (${most}) must be at least concurrency (${concurrency})`);
  return { concurrency, maxWorkers: most, queueLength: given.queueLength ?? byDefault('queueLength') };
}

function byDefault(key: PoolKey): number {
  return POOL_LIMITS.find((limit) => limit.key === key)?.default ?? 1;
}

/** Limits of runs and of the pool apart; of what is given twice, with `more`, the lower counts. */
export function splitLimits(
  limits: RuntimeLimitOptions,
  more: PoolLimitOptions,
): { readonly run: LimitOptions; readonly pool: PoolLimitOptions } {
  checkObject('limits', limits);
  const { concurrency, maxWorkers, queueLength, ...run } = limits;
  const inner: PoolLimitOptions = { concurrency, maxWorkers, queueLength };
  const pool: { [Key in PoolKey]?: number } = {};
  for (const limit of POOL_LIMITS) {
    const values = [inner[limit.key], more[limit.key]].filter((value) => value !== undefined);
    for (const value of values) checkAmount(limit.key, limit, value);
    if (values.length > 0) pool[limit.key] = Math.min(...values);
  }
  return { run, pool };
}
