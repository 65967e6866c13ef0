import { type PureDeclaration, type PureGroup, readSignature } from '../../wire/pure/declaration.ts';
import { SIGNATURES } from '../../wire/pure/signatures.ts';
import type { Declared } from '../../wire/pure/tools.ts';
import { checkValue, Dict, Fault, type List, sizeOf } from '../kit.ts';
import type { Meter } from '../meter.ts';
import type { PureTool } from '../puretool.ts';
import type { Value } from '../values.ts';
import { matched, parameterOf } from './arguments.ts';

/** The value that a pure tool gets for an argument of each type. */
interface Types {
  any: Value;
  string: string;
  int: number;
  float: number;
  bool: boolean;
  map: Dict;
  slice_any: List;
  /** A new list, whose items are strings. */
  slice_string: List;
  /** A new list, whose items are numbers. */
  slice_float: List;
}

type TypeOf<T extends string> = T extends keyof Types ? Types[T] : never;

/** The value of one argument, by its signature. */
type Arg<S extends string> = S extends `${string}: ${infer T} = ${string}`
  ? TypeOf<T>
  : S extends `${string}?: ${infer T}`
    ? TypeOf<T> | null
    : S extends `${string}: ${infer T}`
      ? TypeOf<T>
      : never;

type Signatures = PureDeclaration['args'];

type Args<S extends Signatures> = { -readonly [K in keyof S]: Arg<S[K][0]> };

/** A tool's work. It pays for fuel and memory before it spends time or allocates. */
type Work<D> = D extends { readonly args: infer S extends Signatures } ? (meter: Meter, ...args: Args<S>) => Value : never;

/** The implementations of a group: exactly one for each declared tool. */
export type Group<G extends PureGroup> = { readonly [N in keyof Declared[G]]: Work<Declared[G][N]> };

type AnyWork = (meter: Meter, ...args: Value[]) => Value;

/** All pure tools by canonical name. */
export function toolsOf(groups: { readonly [G in PureGroup]: Group<G> }): ReadonlyMap<string, PureTool> {
  const tools = new Map<string, PureTool>();
  for (const group of Object.values<object>(groups))
    for (const [name, work] of Object.entries(group)) tools.set(name.toLowerCase(), pureTool(name, work));
  return tools;
}

/** The type `Group` guarantees that the work accepts what its arguments are converted to. */
function pureTool(name: string, work: AnyWork): PureTool {
  const canonical = name.toLowerCase();
  let parameters: readonly ReturnType<typeof parameterOf>[] | undefined;
  return (meter, given) => {
    parameters ??= SIGNATURES[name]?.split(',').map((signature) => parameterOf(readSignature(signature))) ?? [];
    const value = work(meter, ...matched(meter, canonical, parameters, given));
    // Tools build maps entry by entry; the size of the result is checked once.
    if (value instanceof Dict) checkValue(meter, value);
    else if (value instanceof Fault) meter.checkSize(sizeOf(value));
    return value;
  };
}
