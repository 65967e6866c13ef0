/**
 * Messages about the arguments of a tool. The host and the interpreter share them, so that a tool that runs inside the isolate
 * behaves as one that runs on the host.
 */

/** The text after "expected" for each type of argument. */
export const WANTED = {
  string: 'string',
  int: 'integer or integer-like value',
  float: 'float or number-like value',
  bool: 'boolean or boolean-like value',
  map: 'map',
  list: 'list',
  number: 'number',
} as const;

/** `expected string, got number`. */
export function expected(what: string, got: string): string {
  return `expected ${what}, got ${got}`;
}

/** The problem of an item of a list. */
export function badItem(what: string, index: number, problem: string): string {
  return `expected list of ${what}, but element ${index}: ${problem}`;
}

/** The problem of a required argument that is nil. */
export const MUST_NOT_BE_NIL = 'is required, but was nil';

interface Named {
  readonly name: string;
  readonly required: boolean;
}

/** Problems of the number of arguments: missing ones, and too many. */
export function countProblems(parameters: readonly Named[], given: number): string[] {
  const problems: string[] = [];
  const missing = parameters.slice(given).filter(({ required }) => required);
  if (missing.length > 0) problems.push(`missing required arguments: ${missing.map(({ name }) => name).join(', ')}`);
  if (given > parameters.length) problems.push(`takes ${signature(parameters)}, got ${given}`);
  return problems;
}

/** The message of code 4: all problems of a call's arguments in one text. */
export function argumentMessage(tool: string, problems: readonly string[]): string {
  return `tool '${tool}' argument validation failed: ${problems.join('; ')}`;
}

export function argumentProblem(name: string, problem: string): string {
  return `argument '${name}': ${problem}`;
}

/** The hint of a call whose arguments do not fit. */
export function formHint(parameters: readonly Named[]): string {
  return `it takes ${signature(parameters)}`;
}

function signature(parameters: readonly Named[]): string {
  const names = parameters.map(({ name, required }) => (required ? name : `${name}?`)).join(', ');
  const count = parameters.length;
  return count === 0 ? 'no arguments' : `${count} argument${count === 1 ? '' : 's'} (${names})`;
}
