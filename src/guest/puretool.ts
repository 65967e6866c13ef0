import type * as kit from './kit.ts';
import type { Meter } from './meter.ts';
import type { Value } from './values.ts';

/** A pure tool as compiled code calls it: arguments as they were evaluated, at `meter.at`. */
export type PureTool = (meter: Meter, given: Value[]) => Value;

/** Gives the pure tools, by canonical name, standing on the interpreter's own parts. */
export type Install = (parts: typeof kit) => ReadonlyMap<string, PureTool>;
