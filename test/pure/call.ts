import type { LimitOptions } from '../../src/sandbox/limits.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { type Driven, drive } from '../guest/driver.ts';

/** A call of a pure tool with values as arguments, in this process: what came of it, in all. */
export function called(
  tool: string,
  args: readonly TaggedJson[],
  limits: LimitOptions = {},
  clock: () => number = () => 0,
): Driven {
  const globals = Object.fromEntries(args.map((arg, index) => [`g${index}`, arg]));
  const source = `command\nemit ${tool}(${args.map((_, index) => `g${index}`).join(', ')})\nendcommand\n`;
  return drive(source, { pure: true, globals, limits: { fuel: 50_000_000, ...limits }, clock });
}

/** The value that a call gives, or the code of its error. */
export function value(tool: string, ...args: readonly TaggedJson[]): TaggedJson | undefined {
  const { values, error } = called(tool, args);
  return error === null ? values[0] : error.code;
}
