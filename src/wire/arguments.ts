/**
 * What the host and the interpreter say alike about the arguments of a tool (language.md 9.3–9.4): a tool is no different
 * for running inside the isolate.
 */

/** What each ArgType wants, after "expected". */
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

/** What is wrong with an item of a list. */
export function badItem(what: string, index: number, problem: string): string {
  return `expected list of ${what}, but element ${index}: ${problem}`;
}

/** The problem of an argument that must not be nil. */
export const MUST_NOT_BE_NIL = 'is required, but was nil';

/** A parameter as a message names it. */
interface Named {
  readonly name: string;
  readonly required: boolean;
}

/** Problems of the count alone: what is missing, and what is too much (P6). */
export function countProblems(parameters: readonly Named[], given: number): string[] {
  const problems: string[] = [];
  const missing = parameters.filter(({ required }, index) => required && index >= given);
  if (missing.length > 0) problems.push(`missing required arguments: ${missing.map(({ name }) => name).join(', ')}`);
  if (given > parameters.length) problems.push(`takes ${signature(parameters)}, got ${given}`);
  return problems;
}

/** The message of code 4: all problems of a call's arguments in one text. */
export function argumentMessage(tool: string, problems: readonly string[]): string {
  return `tool '${tool}' argument validation failed: ${problems.join('; ')}`;
}

/** One argument's problem, as {@link argumentMessage} lists it. */
export function argumentProblem(name: string, problem: string): string {
  return `argument '${name}': ${problem}`;
}

function signature(parameters: readonly Named[]): string {
  const names = parameters.map(({ name, required }) => (required ? name : `${name}?`)).join(', ');
  const count = parameters.length;
  return count === 0 ? 'no arguments' : `${count} argument${count === 1 ? '' : 's'} (${names})`;
}
