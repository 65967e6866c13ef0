import { MAX_MAP_ENTRIES, MAX_TEXT_UNITS } from './costs.ts';
import { POOL_ROWS, TENANT_ROWS } from './hostlimits.ts';
import { bytes, count, GB, KB, type LimitRow, MB, ms, usd } from './limitrow.ts';

export type { LimitRow, Unit } from './limitrow.ts';

/**
 * The one table of limits. Keys, types, fields of requests, flags, the schema of requests, `docs/limits.md` and the report of
 * `doctor` are derived from its rows. A new limit is a row here, the place that enforces it, and its test.
 */

/** A limit that every run has. */
export interface Limit extends LimitRow {
  readonly key: LimitKey;
  /** The value where nothing else is set. */
  readonly default: number;
}

/** A limit of a runtime with its workers, which no fork, turn or request has of its own. */
export interface PoolLimit extends LimitRow {
  readonly key: PoolKey;
}

/** A limit of one tenant of a runtime, see `TenantLimits`. */
export interface TenantLimit extends Omit<LimitRow, 'flag' | 'default'> {
  /** Name in messages and reports. */
  readonly key: TenantKey;
  /** Its name among the options of a tenant. */
  readonly option: TenantOption;
  /** Null: none, or for `concurrency` and `queueLength` a part of what is free. */
  readonly default: number | null;
}

/** A key of the limits that every run has. */
export type LimitKey = (typeof RUN_ROWS)[number]['key'];

/** A key of the limits that a runtime has. */
export type PoolKey = (typeof POOL_ROWS)[number]['key'];

/** A key of the limits that a tenant has. */
export type TenantKey = (typeof TENANT_ROWS)[number]['key'];

/** The name of a limit among the options of a tenant. */
export type TenantOption = (typeof TENANT_ROWS)[number]['option'];

/** The limits of one run, all present: counts, bytes and milliseconds. */
export type LimitValues = { readonly [Key in LimitKey]: number };

/** With the default of `memoryBytes` no program reaches the sizes of single values: memory comes first. */
const RUN_ROWS = [
  {
    key: 'fuel',
    flag: 'fuel',
    ...count(1, 1e15),
    default: 100_000_000,
    ring: 1,
    shared: true,
    help: 'units of work, by the published cost table',
  },
  { key: 'cpuMs', flag: 'cpu', ...ms(1, 3_600_000), default: 10_000, ring: 1, shared: true, help: 'CPU time of the program' },
  {
    key: 'wallMs',
    flag: 'wall',
    ...ms(1, 86_400_000),
    default: 30_000,
    ring: 3,
    breach: 'ERR_TIMEOUT',
    shared: true,
    help: 'elapsed time of the program, tool calls included',
  },
  {
    key: 'memoryBytes',
    flag: 'memory',
    ...bytes(64 * KB, 2048 * MB),
    default: 64 * MB,
    ring: 1,
    shared: true,
    help: 'script values alive at once',
  },
  {
    key: 'outputBytes',
    flag: 'output',
    ...bytes(1, 256 * MB),
    default: 8 * MB,
    turnDefault: 512 * KB,
    ring: 1,
    help: 'bytes emitted in all, line feeds included; values as JSON may have 8 characters for each byte',
  },
  {
    key: 'lineBytes',
    flag: 'line',
    ...bytes(1, 256 * MB),
    default: 8 * MB,
    turnDefault: 8 * KB,
    ring: 1,
    help: 'bytes of one emitted line, without its line feed',
  },
  {
    key: 'scratchBytes',
    flag: 'scratch',
    ...bytes(1, 256 * MB),
    default: 8 * MB,
    turnDefault: 512 * KB,
    ring: 1,
    help: 'bytes whispered in all, with line feeds and the part of target names beyond 64 bytes',
  },
  { key: 'toolCalls', flag: 'tool-calls', ...count(0, 1e9), default: 1000, ring: 1, shared: true, help: 'tool calls in all' },
  {
    key: 'cost',
    flag: 'max-cost',
    ...usd,
    default: 100,
    ring: 3,
    shared: true,
    help: 'US dollars for tool calls and model tokens, by the prices that tools and models declare',
  },
  {
    key: 'toolMs',
    flag: 'tool-time',
    ...ms(1, 86_400_000),
    default: 30_000,
    ring: 3,
    breach: 'ERR_TIMEOUT',
    help: 'elapsed time of one tool call',
  },
  {
    key: 'callDepth',
    flag: 'call-depth',
    ...count(1, 500),
    default: 500,
    ring: 1,
    breach: 'NS37',
    help: 'nested procedure calls, the command block included',
  },
  {
    key: 'evalDepth',
    flag: 'eval-depth',
    ...count(1, 10_000),
    default: 10_000,
    ring: 1,
    breach: 'NS37',
    help: 'nested expressions and blocks, over all calls',
  },
  { key: 'sourceBytes', flag: 'source', ...bytes(1, 1 * MB), default: 1 * MB, ring: 3, help: 'bytes of one source file' },
  {
    key: 'toolBytes',
    flag: 'tool-bytes',
    ...bytes(1, 64 * MB),
    default: 8 * MB,
    ring: 1,
    help: "bytes of one tool call's arguments, and of its result, as JSON",
  },
  {
    key: 'journalBytes',
    flag: 'journal',
    ...bytes(1, 1024 * MB),
    default: 32 * MB,
    ring: 3,
    shared: true,
    help: "bytes of all calls' arguments and results together, as JSON",
  },
  { key: 'eventCount', flag: 'event-count', ...count(0, 1e6), default: 1000, ring: 1, help: 'events delivered in one run' },
  {
    key: 'deliveries',
    flag: 'deliveries',
    ...count(0, 1e9),
    default: 10_000,
    ring: 1,
    help: 'event handlers run in all; each event runs every handler of its name',
  },
  {
    key: 'emits',
    flag: 'emits',
    ...count(0, 1e9),
    default: 1_000_000,
    ring: 1,
    help: 'emit statements that produced output; whispers count apart, up to the same number',
  },
  {
    key: 'toolCallsPerTool',
    flag: 'tool-calls-per-tool',
    ...count(0, 1e9),
    default: 100_000,
    ring: 1,
    help: 'calls of any one tool',
  },
  {
    key: 'togetherCalls',
    flag: 'together-calls',
    ...count(1, 1024),
    default: 64,
    ring: 1,
    help: 'tool calls that run together in one block',
  },
  {
    key: 'valueBytes',
    flag: 'value-bytes',
    ...bytes(KB, 1024 * GB),
    default: 4 * GB,
    ring: 1,
    help: 'one value with its contents; a part that occurs twice counts twice',
  },
  {
    key: 'valueDepth',
    flag: 'value-depth',
    ...count(1, 1e7),
    default: 500_000,
    ring: 1,
    help: 'nested lists and maps',
  },
  {
    key: 'textLength',
    flag: 'text-length',
    ...count(2, MAX_TEXT_UNITS),
    default: 32 * MB,
    ring: 1,
    help: 'UTF-16 units of one text',
  },
  { key: 'listLength', flag: 'list-length', ...count(1, 64 * MB), default: 10_000_000, ring: 1, help: 'items of one list' },
  { key: 'mapLength', flag: 'map-length', ...count(1, MAX_MAP_ENTRIES), default: 1_000_000, ring: 1, help: 'entries of one map' },
  {
    key: 'traceEvents',
    flag: 'trace-events',
    ...count(16, 1e6),
    default: 100_000,
    ring: 3,
    breach: 'summed up',
    help: 'statements and calls in a trace, and lines and paths of calls in its heat',
  },
] as const satisfies readonly LimitRow[];

/** The limits that every run has, in the order of the documentation. */
export const LIMITS: readonly Limit[] = RUN_ROWS;

/** The limits of a runtime with its workers. */
export const POOL_LIMITS: readonly PoolLimit[] = POOL_ROWS;

/** The limits of one tenant. */
export const TENANT_LIMITS: readonly TenantLimit[] = TENANT_ROWS;

const BY_KEY: ReadonlyMap<string, Limit> = new Map(LIMITS.map((limit) => [limit.key, limit]));

/** The row of a key; undefined for a text that is no key of a run's limits. */
export function findLimit(key: string): Limit | undefined {
  return BY_KEY.get(key);
}

export function limitOf(key: LimitKey): Limit {
  const limit = BY_KEY.get(key);
  if (limit === undefined) throw new Error(`limit ${key} is missing from the table`);
  return limit;
}

/** The code that a breach ends with, for people; an output that is too large for a turn has its own. */
export function breachOf({ breach = 'ERR_QUOTA', turnDefault }: Pick<LimitRow, 'breach' | 'turnDefault'>): string {
  return turnDefault === undefined ? breach : `${breach}, in a turn ERR_ENV_SIZE`;
}

/** The default limits of a plain run or of a turn. */
export function defaultLimits(of: 'run' | 'turn'): LimitValues {
  return limitValues((limit) => (of === 'turn' ? (limit.turnDefault ?? limit.default) : limit.default));
}

/** One value for every limit. */
export function limitValues(amountOf: (limit: Limit) => number): LimitValues {
  const values: { [Key in LimitKey]?: number } = {};
  for (const limit of LIMITS) values[limit.key] = amountOf(limit);
  if (!isComplete(values)) throw new Error('a limit has no value');
  return values;
}

function isComplete(values: { readonly [Key in LimitKey]?: number }): values is LimitValues {
  return LIMITS.every(({ key }) => values[key] !== undefined);
}
