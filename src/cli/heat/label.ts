import type { HeatFrame } from '../../wire/heat.ts';

/** A frame in one line, as a box of a flame graph or a trace shows it. */
export function labelOf({ kind, name, source, line }: HeatFrame): string {
  return kind === 'statement' || kind === 'handler' ? `${name} ${source}:${line}` : name;
}
