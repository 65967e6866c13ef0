import type * as kit from './kit.ts';
import type { Machine } from './machine.ts';
import type { Value } from './values.ts';

/** A pure tool as compiled code calls it: arguments as they were evaluated, at `machine.at`. */
export type PureTool = (machine: Machine, given: Value[]) => Value;

/** Gives the pure tools, by canonical name, standing on the interpreter's own parts. */
export type Install = (parts: typeof kit) => ReadonlyMap<string, PureTool>;
