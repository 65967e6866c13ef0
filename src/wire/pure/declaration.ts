/** The types that the arguments of pure tools use. */
export type PureArgType = 'any' | 'string' | 'int' | 'float' | 'bool' | 'map' | 'slice_any' | 'slice_string' | 'slice_float';

/** `name: type`. A `?` behind the name makes the argument optional; ` = value` (JSON) gives it a default. */
type Signature = `${string}: ${PureArgType}` | `${string}: ${PureArgType} = ${string}`;

/** What callers, catalogues and the documentation need to know of a pure tool. */
export interface PureDeclaration {
  /** One or two sentences. */
  readonly description: string;
  /** The arguments by position: how each is passed, and what it means. */
  readonly args: readonly (readonly [signature: Signature, meaning: string])[];
  /** The result in words. */
  readonly returns: string;
  /** A call, as a program writes it, and what `emit` prints for it. */
  readonly example: readonly [call: string, prints: string];
}

/** A group of pure tools. */
export type PureGroup = 'str' | 'math' | 'list' | 'map' | 'json' | 'csv' | 'regex' | 'shape' | 'template' | 'diff' | 'error';

/** The declarations of one group, by the tools' names as documents write them. */
export type PureDeclarations<G extends string> = Readonly<Record<`tool.${G}.${string}`, PureDeclaration>>;

/** One argument of a pure tool, read from its signature. */
export interface PureArg {
  readonly name: string;
  readonly type: PureArgType;
  readonly required: boolean;
  /** Null if the argument has no default. */
  readonly default: string | number | boolean | null;
}

const SIGNATURE = /^([a-z_0-9]+)(\??): ([a-z_]+)(?: = (.+))?$/;

export function readSignature(signature: string): PureArg {
  const [, name = '', optional = '', type = '', fallback] = SIGNATURE.exec(signature) ?? [];
  const value: PureArg['default'] = fallback === undefined ? null : JSON.parse(fallback);
  // The type of `Signature` has checked the argument's type; a test reads every signature.
  return { name, type: type as PureArgType, required: optional === '' && value === null, default: value };
}
