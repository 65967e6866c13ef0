import { type PURE_TOOLS, type PureToolName, pureArgs } from '../../wire/pure.ts';
import { checkValue, Dict, Fault, type List, sizeOf } from '../kit.ts';
import type { Meter } from '../meter.ts';
import type { PureTool } from '../puretool.ts';
import type { Value } from '../values.ts';
import { matched, parameterOf } from './match.ts';

/** What each ArgType gives to a pure tool. */
interface Types {
  any: Value;
  string: string;
  int: number;
  float: number;
  bool: boolean;
  map: Dict;
  slice_any: List;
  /** A new list, whose items are texts. */
  slice_string: List;
  /** A new list, whose items are numbers. */
  slice_float: List;
}

type TypeOf<T extends string> = T extends keyof Types ? Types[T] : never;

/** The type of one argument of the table in `wire/pure.ts`. */
type Arg<S extends string> = S extends `${string}: ${infer T} = ${string}`
  ? TypeOf<T>
  : S extends `${string}?: ${infer T}`
    ? TypeOf<T> | null
    : S extends `${string}: ${infer T}`
      ? TypeOf<T>
      : never;

type Args<S extends string> = S extends `${infer First}, ${infer Rest}` ? [Arg<First>, ...Args<Rest>] : [Arg<S>];

/** A tool's work, at `machine.at`: charges fuel and memory before it spends time or allocates. */
export type Work<N extends PureToolName> = (machine: Meter, ...args: Args<(typeof PURE_TOOLS)[N]>) => Value;

/** All tools of a group, so that none can be forgotten. */
export type Group<G extends string> = { readonly [N in PureToolName & `tool.${G}.${string}`]: Work<N> };

/** Work that takes whatever its parameters were matched to. */
type AnyWork = (machine: Meter, ...args: Value[]) => Value;

/** The tools of groups, by canonical name. */
export function toolsOf(...groups: readonly object[]): ReadonlyMap<string, PureTool> {
  const tools = new Map<string, PureTool>();
  for (const group of groups)
    for (const [name, work] of Object.entries(group)) tools.set(name.toLowerCase(), pureTool(name as PureToolName, work));
  return tools;
}

/** `Group` has checked the work against the table, by which its arguments are matched. */
function pureTool(name: PureToolName, work: AnyWork): PureTool {
  const canonical = name.toLowerCase();
  let parameters: readonly ReturnType<typeof parameterOf>[] | undefined;
  return (machine, given) => {
    parameters ??= pureArgs(name).map(parameterOf);
    const value = work(machine, ...matched(machine, canonical, parameters, given));
    // A map is put together entry by entry; how large it came out is asked once.
    if (value instanceof Dict) checkValue(machine, value);
    else if (value instanceof Fault) machine.checkSize(sizeOf(value));
    return value;
  };
}
