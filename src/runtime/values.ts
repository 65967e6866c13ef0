import { encode } from '../wire/codec.ts';
import { ConfigError } from '../wire/errors.ts';
import { variableProblem } from '../wire/options.ts';
import type { TaggedJson } from '../wire/protocol.ts';
import { ValueError } from '../wire/values.ts';

/** {@link encode}, as configuration: throws {@link ConfigError} that says which value it is. */
export function toTagged(what: string, value: unknown): TaggedJson {
  try {
    return encode(value);
  } catch (cause) {
    if (!(cause instanceof ValueError)) throw cause;
    throw new ConfigError(`${what} cannot be given to a script: ${cause.message}`, { cause });
  }
}

/** Throws {@link ConfigError} unless a script can write the name. */
export function checkGlobalName(name: string): string {
  const problem = variableProblem(name);
  if (problem === null) return name;
  throw new ConfigError(problem);
}
