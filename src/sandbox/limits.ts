import { MAX_MAP_ENTRIES, MAX_TEXT_UNITS } from '../wire/costs.ts';
import { ConfigError } from '../wire/errors.ts';
import { checkObject } from '../wire/options.ts';
import type { LimitKey, LimitValues } from '../wire/protocol.ts';

/** `count`: a bare number. `bytes`: `64MB`, powers of 1024. `ms`: `200ms`, `2s`, `1m`. */
export type Unit = 'count' | 'bytes' | 'ms';

/** What every row of the table says of its limit. */
export interface LimitRow {
  readonly key: string;
  /** Flag of the command line, without dashes. */
  readonly flag: string;
  readonly unit: Unit;
  readonly min: number;
  readonly max: number;
  /** 1: counted by the interpreter; 2: by the isolate; 3: by the host process. */
  readonly ring: 1 | 2 | 3;
  readonly help: string;
}

/** A limit of runs. */
export interface Limit extends LimitRow {
  readonly key: LimitKey;
  readonly default: number;
  /** What a turn of the host loop gets where it differs: sizes are the protocol's (A3-3.4-7, AMB-23). */
  readonly turnDefault?: number;
  /** Whether `on error` sees the breach; then it is code 37 (P24), else `ERR_QUOTA` or `ERR_TIMEOUT`. */
  readonly catchable: boolean;
}

/** The limits that a runtime has as a whole, and no run of its own; their rows are in `poollimits.ts`. */
export const POOL_KEYS = ['concurrency', 'maxWorkers', 'queueLength'] as const;

const KB = 1024;
const MB = 1024 * KB;
const GB = 1024 * MB;

/**
 * The table of limits that every run has: names, units, defaults and maxima. Flags, docs and checks are made from it. With the
 * default of `memoryBytes` the sizes of single values are never reached: memory comes first.
 */
export const LIMITS: readonly Limit[] = [
  {
    key: 'fuel',
    flag: 'fuel',
    unit: 'count',
    default: 100_000_000,
    min: 1,
    max: 1e15,
    ring: 1,
    catchable: false,
    help: 'units of work, by the published cost table',
  },
  {
    key: 'cpuMs',
    flag: 'cpu',
    unit: 'ms',
    default: 10_000,
    min: 1,
    max: 3_600_000,
    ring: 1,
    catchable: false,
    help: 'CPU time of the program',
  },
  {
    key: 'wallMs',
    flag: 'wall',
    unit: 'ms',
    default: 30_000,
    min: 1,
    max: 86_400_000,
    ring: 3,
    catchable: false,
    help: 'elapsed time of the program, tool calls included',
  },
  {
    key: 'memoryBytes',
    flag: 'memory',
    unit: 'bytes',
    default: 64 * MB,
    min: 64 * KB,
    max: 2048 * MB,
    ring: 1,
    catchable: false,
    help: 'script values alive at once',
  },
  {
    key: 'outputBytes',
    flag: 'output',
    unit: 'bytes',
    default: 8 * MB,
    turnDefault: 512 * KB,
    min: 1,
    max: 256 * MB,
    ring: 1,
    catchable: false,
    help: 'bytes emitted in all, line feeds included',
  },
  {
    key: 'lineBytes',
    flag: 'line',
    unit: 'bytes',
    default: 8 * MB,
    turnDefault: 8 * KB,
    min: 1,
    max: 256 * MB,
    ring: 1,
    catchable: false,
    help: 'bytes of one emitted line, without its line feed',
  },
  {
    key: 'scratchBytes',
    flag: 'scratch',
    unit: 'bytes',
    default: 8 * MB,
    turnDefault: 512 * KB,
    min: 1,
    max: 256 * MB,
    ring: 1,
    catchable: false,
    help: 'bytes whispered in all, line feeds and what names of targets have beyond 64 bytes included',
  },
  {
    key: 'toolCalls',
    flag: 'tool-calls',
    unit: 'count',
    default: 1000,
    min: 0,
    max: 1e9,
    ring: 1,
    catchable: false,
    help: 'tool calls in all',
  },
  {
    key: 'toolMs',
    flag: 'tool-time',
    unit: 'ms',
    default: 30_000,
    min: 1,
    max: 86_400_000,
    ring: 3,
    catchable: false,
    help: 'elapsed time of one tool call',
  },
  {
    key: 'callDepth',
    flag: 'call-depth',
    unit: 'count',
    default: 500,
    min: 1,
    max: 500,
    ring: 1,
    catchable: true,
    help: 'procedure calls within each other, the command block included',
  },
  {
    key: 'evalDepth',
    flag: 'eval-depth',
    unit: 'count',
    default: 10_000,
    min: 1,
    max: 10_000,
    ring: 1,
    catchable: true,
    help: 'expressions and blocks within each other, over all calls',
  },
  {
    key: 'sourceBytes',
    flag: 'source',
    unit: 'bytes',
    default: 1 * MB,
    min: 1,
    max: 1 * MB,
    ring: 3,
    catchable: false,
    help: 'bytes of one source file',
  },
  {
    key: 'toolBytes',
    flag: 'tool-bytes',
    unit: 'bytes',
    default: 8 * MB,
    min: 1,
    max: 64 * MB,
    ring: 1,
    catchable: false,
    help: "bytes of one tool call's arguments, and of its result, as JSON",
  },
  {
    key: 'journalBytes',
    flag: 'journal',
    unit: 'bytes',
    default: 64 * MB,
    min: 1,
    max: 1024 * MB,
    ring: 3,
    catchable: false,
    help: "bytes of all calls' arguments and results together, as JSON",
  },
  {
    key: 'eventCount',
    flag: 'event-count',
    unit: 'count',
    default: 1000,
    min: 0,
    max: 1e6,
    ring: 1,
    catchable: false,
    help: 'events delivered in one run',
  },
  {
    key: 'deliveries',
    flag: 'deliveries',
    unit: 'count',
    default: 10_000,
    min: 0,
    max: 1e9,
    ring: 1,
    catchable: false,
    help: 'event handlers run in all: each event runs every handler of its name',
  },
  {
    key: 'emits',
    flag: 'emits',
    unit: 'count',
    default: 1_000_000,
    min: 0,
    max: 1e9,
    ring: 1,
    catchable: false,
    help: 'emit statements that said something',
  },
  {
    key: 'toolCallsPerTool',
    flag: 'tool-calls-per-tool',
    unit: 'count',
    default: 100_000,
    min: 0,
    max: 1e9,
    ring: 1,
    catchable: false,
    help: 'calls of any one tool',
  },
  {
    key: 'valueBytes',
    flag: 'value-bytes',
    unit: 'bytes',
    default: 4 * GB,
    min: KB,
    max: 1024 * GB,
    ring: 1,
    catchable: false,
    help: 'one value with all that is in it, a part that occurs twice counted twice',
  },
  {
    key: 'valueDepth',
    flag: 'value-depth',
    unit: 'count',
    default: 500_000,
    min: 1,
    max: 1e7,
    ring: 1,
    catchable: false,
    help: 'lists and maps within each other',
  },
  {
    key: 'textLength',
    flag: 'text-length',
    unit: 'count',
    default: 32 * MB,
    min: 2,
    max: MAX_TEXT_UNITS,
    ring: 1,
    catchable: false,
    help: 'UTF-16 units of one text',
  },
  {
    key: 'listLength',
    flag: 'list-length',
    unit: 'count',
    default: 10_000_000,
    min: 1,
    max: 64 * MB,
    ring: 1,
    catchable: false,
    help: 'items of one list',
  },
  {
    key: 'mapLength',
    flag: 'map-length',
    unit: 'count',
    default: 1_000_000,
    min: 1,
    max: MAX_MAP_ENTRIES,
    ring: 1,
    catchable: false,
    help: 'entries of one map',
  },
];

/** Limits a caller may give; what is absent keeps its default. */
export type LimitOptions = Partial<LimitValues>;

const BY_KEY: ReadonlyMap<string, Limit> = new Map(LIMITS.map((limit) => [limit.key, limit]));

/** The code that a breach ends with, for people; an output that is too large for a turn has its own. */
export function breachOf({ catchable, unit, ring, turnDefault }: Limit): string {
  if (catchable) return 'NS37';
  if (unit === 'ms' && ring === 3) return 'ERR_TIMEOUT';
  return turnDefault === undefined ? 'ERR_QUOTA' : 'ERR_QUOTA, in a turn ERR_ENV_SIZE';
}

/** The defaults, for a plain run or for a turn. */
export function defaultLimits(of: 'run' | 'turn'): LimitValues {
  return fromEntries((limit) => (of === 'turn' ? (limit.turnDefault ?? limit.default) : limit.default));
}

/**
 * Checks a caller's limits. Throws {@link ConfigError} that names the key and the reason: an unknown key, a value that is
 * no number, not whole where a count is meant, below the minimum (a limit that cannot be enforced is refused, never
 * ignored) or above the hard maximum.
 */
export function checkLimits(options: LimitOptions): LimitOptions {
  checkObject('limits', options);
  for (const [key, value] of Object.entries(options)) {
    const limit = BY_KEY.get(key);
    if (limit === undefined && POOL_KEYS.some((known) => known === key))
      throw new ConfigError(`limit ${key} is one of a whole runtime; set it where the runtime is made`);
    if (limit === undefined) throw new ConfigError(`unknown limit '${key}'; known are ${[...BY_KEY.keys()].join(', ')}`);
    checkAmount(`limit ${key}`, limit, value);
  }
  return options;
}

/** A value that can be enforced. Throws {@link ConfigError} with the name and the reason when it cannot. */
export function checkAmount(name: string, { min, max }: LimitRow, value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw new ConfigError(`${name} must be a number, got ${String(value)}`);
  if (!Number.isInteger(value)) throw new ConfigError(`${name} must be a whole number, got ${value}`);
  if (value < min) throw new ConfigError(`${name} must be at least ${min}, got ${value}`);
  if (value > max) throw new ConfigError(`${name} must be at most ${max}, got ${value}`);
  return value;
}

/** The tighter of the two, key by key: a fork or a turn can only tighten what its runtime allows. */
export function tighten(outer: LimitValues, inner: LimitOptions): LimitValues {
  return fromEntries((limit) => Math.min(outer[limit.key], inner[limit.key] ?? Number.POSITIVE_INFINITY));
}

/** Defaults with a caller's values put over them; used once, for a runtime's own limits. */
export function resolveLimits(of: 'run' | 'turn', options: LimitOptions): LimitValues {
  const checked = checkLimits(options);
  const defaults = defaultLimits(of);
  return fromEntries((limit) => checked[limit.key] ?? defaults[limit.key]);
}

function fromEntries(pick: (limit: Limit) => number): LimitValues {
  const values: Partial<Record<LimitKey, number>> = {};
  for (const limit of LIMITS) values[limit.key] = pick(limit);
  return complete(values);
}

function complete(values: Partial<Record<LimitKey, number>>): LimitValues {
  const need = (key: LimitKey): number => {
    const value = values[key];
    if (value === undefined) throw new ConfigError(`limit ${key} is missing from the table`);
    return value;
  };
  return {
    fuel: need('fuel'),
    cpuMs: need('cpuMs'),
    wallMs: need('wallMs'),
    memoryBytes: need('memoryBytes'),
    outputBytes: need('outputBytes'),
    lineBytes: need('lineBytes'),
    scratchBytes: need('scratchBytes'),
    toolCalls: need('toolCalls'),
    toolMs: need('toolMs'),
    callDepth: need('callDepth'),
    evalDepth: need('evalDepth'),
    sourceBytes: need('sourceBytes'),
    toolBytes: need('toolBytes'),
    journalBytes: need('journalBytes'),
    eventCount: need('eventCount'),
    deliveries: need('deliveries'),
    emits: need('emits'),
    toolCallsPerTool: need('toolCallsPerTool'),
    valueBytes: need('valueBytes'),
    valueDepth: need('valueDepth'),
    textLength: need('textLength'),
    listLength: need('listLength'),
    mapLength: need('mapLength'),
  };
}
