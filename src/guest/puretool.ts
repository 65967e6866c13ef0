import type { Meter } from './meter.ts';
import type { Value } from './values.ts';

/** A pure tool as compiled code calls it, at `meter.at`. It may overwrite the array of arguments. */
export type PureTool = (meter: Meter, given: Value[]) => Value;
