import type { Value } from '../wire/values.ts';
import { type Coerced, coerce } from './argtypes.ts';
import type { Parameter, ToolDefinition } from './define.ts';
import { issuesText, type StandardSchema } from './schema.ts';

/**
 * Matches a call's arguments to a tool's parameters by position and fits each to its type (language.md 9.3–9.4, P6):
 * defaults are used, a surplus is an error. All problems come in one text.
 */
export async function matchArgs(
  tool: ToolDefinition,
  given: readonly Value[],
): Promise<Coerced<Readonly<Record<string, unknown>>>> {
  const { parameters } = tool;
  const problems: string[] = [];
  const missing = parameters.filter((parameter, index) => parameter.required && index >= given.length);
  if (missing.length > 0) problems.push(`missing required arguments: ${missing.map(({ name }) => name).join(', ')}`);
  if (given.length > parameters.length) problems.push(`takes ${signature(parameters)}, got ${given.length}`);
  const args: Record<string, unknown> = Object.create(null);
  for (const [index, parameter] of parameters.entries()) {
    if (index >= given.length && parameter.required) continue;
    const result = await fitted(parameter, given[index]);
    if (result.ok) args[parameter.name] = result.value;
    else problems.push(`argument '${parameter.name}': ${result.problem}`);
  }
  if (problems.length === 0) return { ok: true, value: args };
  return { ok: false, problem: `tool '${tool.canonicalName}' argument validation failed: ${problems.join('; ')}` };
}

function signature(parameters: readonly Parameter[]): string {
  const names = parameters.map(({ name, required }) => (required ? name : `${name}?`)).join(', ');
  const count = parameters.length;
  return count === 0 ? 'no arguments' : `${count} argument${count === 1 ? '' : 's'} (${names})`;
}

function fitted(parameter: Parameter, given: Value | undefined): Coerced<unknown> | Promise<Coerced<unknown>> {
  if ('schema' in parameter.kind) return validate(parameter.kind.schema, given);
  const value = given ?? parameter.default;
  if (value !== null) return coerce(parameter.kind.type, value);
  return parameter.required ? { ok: false, problem: 'is required, but was nil' } : { ok: true, value: null };
}

/** A schema that refuses nil is asked again with `undefined`: for a script, nil is how an argument is left out. */
async function validate(schema: StandardSchema, given: Value | undefined): Promise<Coerced<unknown>> {
  const standard = schema['~standard'];
  let result = await standard.validate(given);
  if (result.issues !== undefined && given === null) {
    const absent = await standard.validate(undefined);
    if (absent.issues === undefined) result = absent;
  }
  return result.issues === undefined ? { ok: true, value: result.value } : { ok: false, problem: issuesText(result.issues) };
}
