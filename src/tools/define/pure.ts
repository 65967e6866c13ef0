import { NS_CODES } from '../../wire/codes.ts';
import { type PureToolName, pureArgs } from '../../wire/pure.ts';
import { defineAt, type ToolDefinition, ToolError } from './define.ts';

/** What a catalogue shows of a pure tool; its arguments stand in the table of `wire/pure.ts`. */
export interface PureInit {
  readonly description: string;
  /** What each argument means, by its name. */
  readonly args: Readonly<Record<string, string>>;
  readonly example: string;
  /** In words. */
  readonly returns: string;
}

/**
 * The definition of a pure tool, which the interpreter brings: lookup, policy, checks and catalogues see a tool like any other.
 * It can be called by scripts alone.
 */
export function definePure(name: PureToolName, init: PureInit): ToolDefinition {
  const args = pureArgs(name).map(({ default: value, ...arg }) => ({
    ...arg,
    description: init.args[arg.name] ?? '',
    ...(value === null ? {} : { default: value }),
  }));
  const run = (): never => {
    throw new ToolError(NS_CODES.NotImplemented, `${name} runs inside the isolate: only a script can call it`);
  };
  return defineAt('isolate', { ...init, name, args, effects: 'none', run });
}
