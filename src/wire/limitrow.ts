import { MOST_USD } from './money.ts';

/**
 * The unit of a limit, and how flags write it. `count`: a bare number. `bytes`: `64MB`, powers of 1024. `ms`: `200ms`, `2s`, `1m`. `usd`: US
 * dollars with at most nine decimals, `0.05`.
 */
export type Unit = 'count' | 'bytes' | 'ms' | 'usd';

/** One row of the table of limits. */
export interface LimitRow {
  /** Name in options, JSON and messages. */
  readonly key: string;
  /** Flag of the command line, without dashes. */
  readonly flag: string;
  /** What the number counts. */
  readonly unit: Unit;
  /** Smallest value that can be set. */
  readonly min: number;
  /** Largest value that can be set. */
  readonly max: number;
  /** Null: the number of cores of the machine. */
  readonly default: number | null;
  /** The default of a turn of the host loop, where it differs: the protocol sets the sizes of a turn's output. */
  readonly turnDefault?: number;
  /** 1: counted by the interpreter; 2: by the isolate; 3: by the host process. */
  readonly ring: 1 | 2 | 3;
  /** What a breach leads to, for people; `ERR_QUOTA` when absent. `on error` handles `NS37` and no other breach of a run. */
  readonly breach?:
    | 'ERR_QUOTA'
    | 'NS37'
    | 'ERR_TIMEOUT'
    | 'summed up'
    | 'waits'
    | 'ERR_BUSY'
    | 'waits; ERR_BUSY for a nested run';
  /** The programs of an `ask` share this limit with its caller: they have what it has left. Without it, each has its own. */
  readonly shared?: true;
  /** What it counts. */
  readonly help: string;
}

export const KB = 1024;
export const MB = 1024 * KB;
export const GB = 1024 * MB;

export const count = (min: number, max: number) => ({ unit: 'count', min, max }) as const;
export const bytes = (min: number, max: number) => ({ unit: 'bytes', min, max }) as const;
export const ms = (min: number, max: number) => ({ unit: 'ms', min, max }) as const;
export const usd = { unit: 'usd', min: 0, max: MOST_USD } as const;
