import { encode } from '../wire/codec.ts';
import { ConfigError } from '../wire/errors.ts';
import { taggedFrom } from '../wire/foreign.ts';
import { variableProblem } from '../wire/options.ts';
import type { TaggedJson } from '../wire/protocol.ts';
import { ValueError } from '../wire/values.ts';

/** A JavaScript value as tagged JSON. Throws {@link ConfigError} that names the value when a script cannot hold it. */
export function toTagged(what: string, value: unknown): TaggedJson {
  return orConfigError(`${what} cannot be given to a script`, () => encode(value));
}

/** Throws {@link ConfigError} that names the value unless it is tagged JSON. */
export function checkTagged(what: string, value: unknown): TaggedJson {
  return orConfigError(what, () => taggedFrom(value));
}

/** Throws {@link ConfigError} unless a script can write the name. */
export function checkGlobalName(name: string): string {
  const problem = variableProblem(name);
  if (problem === null) return name;
  throw new ConfigError(problem);
}

function orConfigError<T>(what: string, convert: () => T): T {
  try {
    return convert();
  } catch (cause) {
    if (!(cause instanceof ValueError)) throw cause;
    throw new ConfigError(`${what}: ${cause.message}`, { cause });
  }
}
