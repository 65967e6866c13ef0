import { NS_CODES } from '../wire/codes.ts';
import { ConfigError } from '../wire/errors.ts';
import { type PureToolName, pureArgs } from '../wire/pure.ts';
import { defineAt, type ToolDefinition, ToolError } from './define.ts';

/** What a catalogue shows of a pure tool; its arguments stand in the table of `wire/pure.ts`. */
export interface PureInit {
  readonly description: string;
  readonly example: string;
  /** In words. */
  readonly returns: string;
  /** What each argument is, by its name; all of them. */
  readonly args: Readonly<Record<string, string>>;
}

/**
 * The definition of a pure tool, which the interpreter brings: lookup, policy, checks and catalogues see a tool like any other.
 * It can be called by scripts alone. Throws {@link ConfigError} when an argument is described that the tool does not have.
 */
export function definePure(name: PureToolName, { args, ...init }: PureInit): ToolDefinition {
  const specs = pureArgs(name).map(({ name: arg, type, required, default: value }) => ({
    name: arg,
    type,
    description: args[arg] ?? '',
    required,
    ...(value === null ? {} : { default: value }),
  }));
  const stray = Object.keys(args).find((arg) => !specs.some((spec) => spec.name === arg));
  if (stray !== undefined) throw new ConfigError(`${name} has no argument '${stray}'`);
  const run = (): never => {
    throw new ToolError(NS_CODES.NotImplemented, `${name} runs inside the isolate: only a script can call it`);
  };
  return defineAt('isolate', { ...init, name, args: specs, effects: 'none', run });
}
