import { argumentMessage, argumentProblem, countProblems, MUST_NOT_BE_NIL } from '../../wire/arguments.ts';
import { decode, decodeOrdered } from '../../wire/codec.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { isHeavy } from '../../wire/pieces.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import { grouped } from '../../wire/text/grouped.ts';
import { type OrderedValue, type Value, ValueError } from '../../wire/values.ts';
import { callForm } from '../catalogue/index.ts';
import { type Coerced, coerce } from '../define/argtypes.ts';
import type { ToolDefinition } from '../define/definition.ts';
import type { Parameter } from '../define/parameters.ts';
import { issuesText, type SchemaIssue, type StandardSchema } from '../define/standardschema.ts';
import { ToolError } from '../errors.ts';
import { jsonSize, orderedValueFrom, valueFrom } from './large.ts';

/** A value in the form that a tool gets. */
type Given = Value | OrderedValue;

/**
 * Matches the arguments of a call to a tool's parameters by position and converts each to its type. Defaults replace missing arguments;
 * surplus ones are an error. One text names all problems.
 */
export async function matchArgs(
  tool: ToolDefinition,
  given: readonly Given[],
): Promise<Coerced<Readonly<Record<string, unknown>>>> {
  const { parameters } = tool;
  const problems = countProblems(parameters, given.length);
  let args: Record<string, unknown> = Object.create(null);
  for (const [index, parameter] of parameters.entries()) {
    if ('partOf' in parameter.kind || (index >= given.length && parameter.required)) continue;
    const fit = fitted(parameter, given[index], tool);
    // Awaits only promises, because an `await` costs as much as the conversion of a value.
    const result = fit instanceof Promise ? await fit : fit;
    if (result.ok) args[parameter.name] = result.value;
    else problems.push(argumentProblem(parameter.name, result.problem));
  }
  const [first] = parameters;
  // The schema that checks all arguments together; null when each has its own.
  const whole = first !== undefined && 'partOf' in first.kind ? first.kind.partOf : null;
  if (whole !== null && problems.length === 0) {
    const result = await validateAll(whole, parameters, given);
    for (const issue of result.issues ?? []) problems.push(issueOfOne(issue));
    // A schema of an object is expected to give an object. If it gives anything else, `run` of the same author receives that.
    if (result.issues === undefined) args = result.value as Record<string, unknown>;
  }
  if (problems.length === 0) return { ok: true, value: args };
  const form = callForm(tool);
  // A problem names the argument, but not what stands in its map.
  if (form.includes('{')) problems.push(`the call has the form ${form}`);
  return { ok: false, problem: argumentMessage(tool.canonicalName, problems) };
}

/**
 * The arguments of a call by name, converted to the types of the tool's parameters. Rejects with {@link ToolError} 4 when they do not
 * fit.
 */
export async function checkArguments(
  tool: ToolDefinition,
  given: readonly TaggedJson[],
): Promise<Readonly<Record<string, unknown>>> {
  if (tool.maxArgBytes !== null) await checkSize(tool, given, tool.maxArgBytes);
  const args = await matchArgs(tool, isHeavy(given) ? await valuesInPieces(tool, given) : valuesOf(tool, given));
  if (args.ok) return args.value;
  throw new ToolError(NS_CODES.ArgMismatch, args.problem);
}

async function checkSize({ canonicalName }: ToolDefinition, given: readonly TaggedJson[], most: number): Promise<void> {
  const bytes = await jsonSize(given);
  if (bytes <= most) return;
  const problem = `the arguments come to ${grouped(bytes)} bytes, ${grouped(most)} are allowed`;
  throw new ToolError(NS_CODES.ArgMismatch, argumentMessage(canonicalName, [problem]));
}

function valuesOf(tool: ToolDefinition, given: readonly TaggedJson[]): readonly Given[] {
  try {
    return given.map((json) => givenFrom(tool, json));
  } catch (cause) {
    throw mismatch(tool, cause);
  }
}

async function valuesInPieces(tool: ToolDefinition, given: readonly TaggedJson[]): Promise<readonly Given[]> {
  const values: Given[] = [];
  try {
    for (const json of given) values.push(await (tool.orderedMaps ? orderedValueFrom : valueFrom)(json));
  } catch (cause) {
    throw mismatch(tool, cause);
  }
  return values;
}

/** The error for an argument that is no value. */
function mismatch({ canonicalName }: ToolDefinition, cause: unknown): unknown {
  if (!(cause instanceof ValueError)) return cause;
  return new ToolError(NS_CODES.ArgMismatch, argumentMessage(canonicalName, [cause.message]), undefined, { cause });
}

function fitted(
  parameter: Parameter,
  given: Given | undefined,
  tool: ToolDefinition,
): Coerced<unknown> | Promise<Coerced<unknown>> {
  const { kind } = parameter;
  if ('schema' in kind) return validate(kind.schema, given);
  const value = given ?? givenFrom(tool, parameter.default);
  if ('type' in kind && value !== null) return coerce(kind.type, value);
  return parameter.required ? { ok: false, problem: MUST_NOT_BE_NIL } : { ok: true, value: null };
}

/** The value in the form that the tool gets. Each call gets its own, because a tool may change the lists and maps that it receives. */
function givenFrom({ orderedMaps }: ToolDefinition, json: TaggedJson): Given {
  return orderedMaps ? decodeOrdered(json) : decode(json);
}

/** Validates one argument. A schema that refuses nil gets `undefined` as well: a script leaves an argument out by nil. */
async function validate(schema: StandardSchema, given: Given | undefined): Promise<Coerced<unknown>> {
  const standard = schema['~standard'];
  let result = await standard.validate(given);
  if (result.issues !== undefined && given === null) {
    const absent = await standard.validate(undefined);
    if (absent.issues === undefined) result = absent;
  }
  return result.issues === undefined ? { ok: true, value: result.value } : { ok: false, problem: issuesText(result.issues) };
}

/** As {@link validate}, for all arguments at once: if the schema refuses them, those that are nil are left out. */
async function validateAll(schema: StandardSchema, parameters: readonly Parameter[], given: readonly Given[]) {
  const entries = parameters.slice(0, given.length).map(({ name }, index) => [name, given[index] ?? null] as const);
  const result = await schema['~standard'].validate(Object.fromEntries(entries));
  const some = entries.filter(([, value]) => value !== null);
  if (result.issues === undefined || some.length === entries.length) return result;
  const without = await schema['~standard'].validate(Object.fromEntries(some));
  return without.issues === undefined ? without : result;
}

/** A problem of one argument, in the words that {@link fitted} uses. */
function issueOfOne(issue: SchemaIssue): string {
  const [first, ...rest] = issue.path ?? [];
  if (first === undefined) return issuesText([issue]);
  return `argument '${String(typeof first === 'object' ? first.key : first)}': ${issuesText([{ message: issue.message, path: rest }])}`;
}
