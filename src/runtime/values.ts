import { encode } from '../wire/codec.ts';
import { ConfigError } from '../wire/errors.ts';
import { orConfigError } from '../wire/foreign.ts';
import { variableProblem } from '../wire/options.ts';
import type { TaggedJson } from '../wire/protocol.ts';

/** A JavaScript value as tagged JSON. Throws {@link ConfigError} that names the value when a script cannot hold it. */
export function toTagged(what: string, value: unknown): TaggedJson {
  return orConfigError(`${what} cannot be given to a script`, () => encode(value));
}

/** Throws {@link ConfigError} unless a script can write the name. */
export function checkGlobalName(name: string): string {
  const problem = variableProblem(name);
  if (problem === null) return name;
  throw new ConfigError(problem);
}
