import { z } from 'zod';
import { fields, kindOf, later, type Problem, pathText, readAs } from '../files/problem.ts';
import { decode } from '../wire/codec.ts';
import { usageError } from '../wire/errorinfo.ts';
import { type ErrorInfo, NeuroScriptError } from '../wire/errors.ts';
import { LIMITS, type LimitValues } from '../wire/limits.ts';
import { variableProblem } from '../wire/options.ts';
import type { EventInput, TaggedJson } from '../wire/protocol.ts';
import type { RequestId } from '../wire/result.ts';
import { messageOf } from '../wire/unknown.ts';

/** One line of `run --jsonl` (`docs/schemas/request.schema.json`), checked, with defaults for absent fields. */
export interface RequestLine {
  /** What the result line repeats. */
  readonly id: RequestId;
  /** Command blocks; or definitions, with `call`. */
  readonly src: string;
  /** Definitions, loaded first. A command block in them is `ERR_USAGE`, and nothing runs. */
  readonly lib: readonly string[];
  /** A procedure to call after loading, with its arguments; null for none. */
  readonly call: { readonly name: string; readonly args: readonly TaggedJson[] } | null;
  /** Values of globals by name, as tagged JSON. */
  readonly globals: Readonly<Record<string, TaggedJson>>;
  /** Events to deliver, in order. */
  readonly events: readonly EventInput[];
  /** The limits that the request tightens; those of the pool belong to the runtime. */
  readonly limits: Partial<LimitValues>;
}

/** A request, or the reason why the line is not one. The id is that of the line, if it has one. */
export type RequestOutcome =
  /** The request. */
  | { readonly ok: true; readonly request: RequestLine }
  /** Why the line is no request. */
  | { readonly ok: false; readonly id: RequestId; readonly error: ErrorInfo };

/** The form of a line (`docs/schemas/request.schema.json`). */
export const requestForm = later(() => {
  // A value of the line is JSON: only its tags can be wrong.
  const tagged = z
    .custom<TaggedJson>()
    .superRefine((value, { addIssue }) => {
      const problem = problemWith(value);
      if (problem !== null) addIssue(problem);
    })
    .meta({ $ref: 'value.schema.json' });

  // A check of a record would go on after the first problem.
  const globals = z
    .custom<Readonly<Record<string, TaggedJson>>>()
    .superRefine((value: unknown, { addIssue }) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        return addIssue(`must be a map, got ${kindOf(value)}`);
      for (const [name, item] of Object.entries(value)) {
        const problem = variableProblem(name) ?? problemWith(item);
        if (problem !== null) return addIssue({ code: 'custom', path: [name], message: problem });
      }
    })
    .meta({
      type: 'object',
      propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_]*$' },
      additionalProperties: { $ref: 'value.schema.json' },
    });

  const event = fields({
    name: z.string(),
    source: z.string().default(''),
    payload: tagged.default(null),
    id: z.string().optional().meta({ description: 'What handlers find as ID.' }),
    ts: z.number().min(0).optional().meta({ description: 'What handlers find as TS: Unix nanoseconds.' }),
  });

  // The runtime checks the ranges, as those of all limits.
  const limits = Object.fromEntries(
    LIMITS.map(({ key, min, unit }) => [
      key,
      z
        .number()
        .optional()
        .meta({ type: unit === 'usd' ? 'number' : 'integer', minimum: min }),
    ]),
  );

  return fields({
    id: z.union([z.string(), z.number(), z.null()]).default(null).meta({ description: 'Comes back with the result.' }),
    src: z.string().meta({ description: 'Command blocks; or definitions, with `call`.' }),
    lib: z
      .union([z.string(), z.array(z.string())])
      .default([])
      .meta({ description: 'Definitions, loaded first. A command block in them is a usage error, and nothing runs.' }),
    call: z.string().optional().meta({ description: 'The procedure to call after the command blocks.' }),
    args: z.array(tagged).optional(),
    globals: globals.default({}),
    events: z.array(event).default([]),
    limits: fields(limits)
      .default({})
      .meta({ description: 'Only ever tighten what the command allows. Bytes, milliseconds, counts.' }),
  }).meta({ title: 'Request', description: 'One line of `neuroscript run --jsonl`.', dependentRequired: { args: ['call'] } });
});

class Refused extends NeuroScriptError {
  constructor(message: string) {
    super('ERR_USAGE', message);
  }
}

/**
 * Reads one request. An unknown key, a value of the wrong type, an unknown limit and a malformed tag are `usage` errors
 * (`ERR_USAGE`). The runtime checks the ranges of limits.
 */
export function requestFromJson(line: string): RequestOutcome {
  return outcomeOf(() => parse(line));
}

/** As {@link requestFromJson}, of a value that was JSON. */
export function requestFrom(value: unknown): RequestOutcome {
  return outcomeOf(() => value);
}

function outcomeOf(given: () => unknown): RequestOutcome {
  let id: RequestId = null;
  try {
    const value = given();
    const found: unknown = Reflect.get(Object(value), 'id');
    if (typeof found === 'string' || Number.isFinite(found)) id = found as RequestId;
    return { ok: true, request: read(value) };
  } catch (error) {
    if (error instanceof Refused) return { ok: false, id, error: usageError(error.message) };
    throw error;
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new Refused(`the line is not JSON: ${messageOf(error)}`);
  }
}

function read(value: unknown): RequestLine {
  const { lib, call, args, ...request } = readAs(requestForm(), value, refuse);
  if (args !== undefined && call === undefined) throw new Refused("'args' needs 'call', the procedure they are for");
  return {
    ...request,
    lib: typeof lib === 'string' ? [lib] : lib,
    call: call === undefined ? null : { name: call, args: args ?? [] },
  };
}

function refuse({ path, problem }: Problem): never {
  throw new Refused(`${path.length === 0 ? 'the request' : pathText(path)}: ${problem}`);
}

/** Why JSON is not a value of the language; null when it is one. */
function problemWith(value: TaggedJson): string | null {
  try {
    decode(value);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}
