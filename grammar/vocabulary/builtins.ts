/** Predefined names: the built-in functions, the global `self`, the variables of a handler. */

/** The argument and the result of a built-in function. */
export interface BuiltinSignature {
  /** `any` never fails; the others raise an error for a value of another kind. */
  readonly takes: 'any' | 'number' | 'string';
  readonly returns: 'boolean' | 'number' | 'string';
}

/** Every built-in function takes one argument. */
export const BUILTIN_ARITY = 1;

const test = { takes: 'any', returns: 'boolean' } as const;
const math = { takes: 'number', returns: 'number' } as const;

/** The built-in functions by name. A call names one in any letter case, and a built-in function wins over a procedure. */
export const BUILTINS = {
  len: { takes: 'any', returns: 'number' },
  char: { takes: 'number', returns: 'string' },
  ord: { takes: 'string', returns: 'number' },
  typeof: { takes: 'any', returns: 'string' },
  is_string: test,
  is_number: test,
  is_bool: test,
  is_list: test,
  is_map: test,
  is_nil: test,
  is_timedate: test,
  is_fuzzy: test,
  is_error: test,
  is_int: test,
  is_float: test,
  is_event: test,
  is_function: test,
  is_tool: test,
  ln: math,
  log: math,
  sin: math,
  cos: math,
  tan: math,
  asin: math,
  acos: math,
  atan: math,
} as const satisfies Readonly<Record<string, BuiltinSignature>>;

/** The name of a built-in function, in lower case. */
export type BuiltinName = keyof typeof BUILTINS;

/** The built-in function that a call of this name reaches; undefined when the call reaches a procedure. */
export function builtinNamed(name: string): BuiltinName | undefined {
  const lower = name.toLowerCase();
  return isBuiltin(lower) ? lower : undefined;
}

function isBuiltin(name: string): name is BuiltinName {
  return Object.hasOwn(BUILTINS, name);
}

/** The global that every program can read. */
export const SELF = 'self';

/** The variable of an `on error` block that holds the error as a map. */
export const ERROR_VARIABLE = 'system_error';
/** The variable of an `on error` block that holds the error as text. */
export const ERROR_TEXT_VARIABLE = 'system_error_message';
export const ERROR_VARIABLES: readonly string[] = [ERROR_VARIABLE, ERROR_TEXT_VARIABLE];
