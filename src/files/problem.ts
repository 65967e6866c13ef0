import { z } from 'zod';
import { FIRST_ISSUE } from './check.ts';

/** Keys and indexes that lead from the top of a value to a part of it. */
export type Path = readonly (string | number)[];

/** What is wrong with a value, in words, and the path to the wrong part. */
export interface Problem {
  readonly path: Path;
  readonly problem: string;
}

/** A map with these keys and no other. A problem with another key names those that are known. */
export function fields<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const known = `unknown key; known are ${Object.keys(shape).join(', ')}`;
  return z.strictObject(shape, { error: ({ code }) => (code === 'unrecognized_keys' ? known : undefined) });
}

/** Schemas that are made when they are first used. A command that loads their module and does not use them starts without them. */
export function later<Forms>(make: () => Forms): () => Forms {
  let made: Forms | undefined;
  return () => (made ??= make());
}

/** The first thing for which a schema refuses the value. */
export function problemOf({ issues: [issue] }: z.ZodError, value: unknown): Problem {
  return issue === undefined ? { path: [], problem: 'is not of its form' } : toldOf(issue, value);
}

/** The value as the schema reads it. `fail` gets the first problem. */
export function readAs<Form>(schema: z.ZodType<Form>, value: unknown, fail: (problem: Problem) => never): Form {
  const { data, error } = schema.safeParse(value, FIRST_ISSUE);
  return error === undefined ? data : fail(problemOf(error, value));
}

function toldOf(issue: z.core.$ZodIssue, top: unknown): Problem {
  const path = issue.path.filter((step) => typeof step !== 'symbol');
  let value = top;
  for (const step of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, step) : undefined;
  if (issue.code === 'unrecognized_keys') return { path: [...path, issue.keys[0] ?? ''], problem: knownOf(issue.message) };
  if (issue.code === 'invalid_union') {
    // The branch that comes farthest has the problem that a person means.
    const inner = issue.errors.flatMap(([first]) => (first === undefined ? [] : [first]));
    const deepest = inner.toSorted((a, b) => b.path.length - a.path.length)[0];
    if (deepest !== undefined && (deepest.path.length > 0 || deepest.code !== 'invalid_type')) {
      const { path: within, problem } = toldOf(deepest, value);
      return { path: [...path, ...within], problem };
    }
    return { path, problem: `must be ${listed(inner.map(wantedOf))}, got ${kindOf(value)}` };
  }
  return { path, problem: problemWith(issue, value) };
}

function problemWith(issue: z.core.$ZodIssue, value: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return value === undefined ? 'is missing' : `must be ${wantedOf(issue)}, got ${kindOf(value)}`;
    case 'invalid_value':
      return `must be ${listed(issue.values.map(String))}, got ${typeof value === 'string' ? `'${value.slice(0, 60)}'` : kindOf(value)}`;
    case 'too_small':
      return typeof value === 'number' ? `must be at least ${issue.minimum}, got ${value}` : 'must not be empty';
    case 'too_big':
      return typeof value === 'number'
        ? `must be at most ${issue.maximum}, got ${value}`
        : `may have at most ${issue.maximum} ${typeof value === 'string' ? 'characters' : 'items'}`;
    case 'invalid_key':
      // The key itself is the last step of the path.
      return issue.issues[0]?.message ?? issue.message;
    default:
      return issue.message;
  }
}

const WANTED: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
  record: 'a map',
  null: 'null',
};

function wantedOf(issue: z.core.$ZodIssue): string {
  return issue.code === 'invalid_type' ? (WANTED[issue.expected] ?? issue.expected) : issue.message;
}

function listed(choices: readonly string[]): string {
  return choices.length < 2 ? choices.join('') : `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
}

/** The words of {@link fields}; zod's own for another object, which name the key again. */
function knownOf(message: string): string {
  return message.startsWith('unknown key') ? message : 'unknown key';
}

/** The name of a value's kind in YAML and JSON. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  return typeof value === 'string' ? 'a text' : `the ${typeof value} ${String(value)}`;
}

/** A path as it stands in messages: `events[0].name`. */
export function pathText(path: Path): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '');
}
