import type { PURE_TOOLS, PureToolName } from '../../src/wire/pure.ts';

type NameOf<S extends string> = S extends `${infer N}?: ${string}` ? N : S extends `${infer N}: ${string}` ? N : never;

/** The names of the arguments of a tool of the table in `wire/pure.ts`. */
type NamesOf<S extends string> = S extends `${infer First}, ${infer Rest}` ? NameOf<First> | NamesOf<Rest> : NameOf<S>;

interface Row<N extends PureToolName> {
  readonly name: N;
  readonly description: string;
  /** What each argument means, all of them: the type system asks for them by the names of the table. */
  readonly args: { readonly [A in NamesOf<(typeof PURE_TOOLS)[N]>]: string };
  /** What it gives back, in words. */
  readonly returns: string;
  /** A call as a program would write it. */
  readonly example: string;
  /** What `emit` prints of the example; a test runs it. */
  readonly gives: string;
}

/** What the documentation says of a pure tool; its arguments stand in `src/wire/pure.ts`, its work in `src/guest/pure`. */
export type PureRow = { readonly [N in PureToolName]: Row<N> }[PureToolName];
