import { fromJsonSchema, type JsonSchema, type SchemaResult, type StandardSchema } from '../tools/index.ts';
import { clipped } from '../wire/clip.ts';
import { weightOf } from '../wire/pieces.ts';
import { isRecord } from '../wire/unknown.ts';

/** The keywords to keep of a server's schema: their checks take linear time. */
const VALUES = ['type', 'enum', 'const'];
/** The same, for keywords that constrain values of one type. They are kept only with a `type`, because without one nothing is checked. */
const RANGES = ['required', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'];
const SIZES = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'];

/** Maximum number of parts of a schema, and maximum depth. Parts beyond a bound accept anything. */
const MAX_PARTS = 1000;
const MAX_DEPTH = 24;
/** Maximum length of a description, in characters. */
const MAX_WORDS = 1000;
/** Maximum length of the JSON of a default that a description names, in characters. */
const MAX_DEFAULT = 100;
/** Maximum length of the JSON of any other keyword, in characters. */
const MAX_TEXT = 10_000;

/**
 * Reduces the schema of a server to safe keywords and bounds its size. The schema is untrusted: no pattern is run, because a
 * regular expression can take forever. A reference within the schema is replaced by what it names, but not within itself. The server checks
 * its arguments as well.
 */
export function boundedSchema(schema: unknown): JsonSchema {
  let parts = 0;
  // Many references may name one large part: what is large about it is looked at once.
  const isSmall = once(isSmallJson);
  const words = once(plainWords);
  const fallbackWords = once(wordsOfDefault);
  const properties = once((map: object) => Object.entries(map).slice(0, MAX_PARTS));
  const named = once((pointer: string) => partAt(schema, pointer));
  /** The references around the present part. */
  const around: string[] = [];

  /** Keeps a part, with what it names in place of a reference. A list `allOf` of one part counts as a reference to that part. */
  function keep(value: unknown, depth: number): JsonSchema {
    if (!isRecord(value) || parts > MAX_PARTS || around.length > MAX_DEPTH) return keepPlain(value, depth);
    const { $ref: reference, allOf } = value;
    const isNamed = typeof reference === 'string' && !around.includes(reference);
    const part = isNamed ? named(reference) : Array.isArray(allOf) && allOf.length === 1 ? allOf[0] : undefined;
    if (!isRecord(part)) return keepPlain(value, depth);
    around.push(isNamed ? reference : '');
    const kept = keep(joined(value, part), depth);
    around.pop();
    return kept;
  }

  function keepPlain(value: unknown, depth: number): JsonSchema {
    parts += 1;
    if (!isRecord(value) || depth > MAX_DEPTH || parts > MAX_PARTS) return {};
    const kept: Record<string, unknown> = {};
    for (const key of VALUES) if (isSmall(value[key])) kept[key] = value[key];
    // Each type of a list is compiled with the whole schema below it, so a type twice on each of 24 levels would give 16 million schemas.
    if (Array.isArray(kept['type'])) kept['type'] = [...new Set(kept['type'])];
    const typed = VALUES.some((key) => kept[key] !== undefined);
    for (const key of typed ? [...RANGES, ...SIZES] : []) if (isSmall(value[key])) kept[key] = value[key];
    const { description, default: fallback } = value;
    const said = words(`${typeof description === 'string' ? description : ''}${fallbackWords(fallback)}`);
    if (said !== '') kept['description'] = said;
    if (typed && isRecord(value['properties']))
      kept['properties'] = Object.fromEntries(
        properties(value['properties']).map(([name, each]) => [name, keep(each, depth + 1)]),
      );
    if (typed && isRecord(value['items'])) kept['items'] = keep(value['items'], depth + 1);
    else if (kept['minItems'] !== undefined || kept['maxItems'] !== undefined) kept['items'] = {};
    for (const key of ['anyOf', 'oneOf'] as const) {
      const choices = value[key];
      // `oneOf` becomes `anyOf`. The server checks that only one fits.
      if (Array.isArray(choices) && choices.length > 0)
        kept['anyOf'] = choices.slice(0, MAX_PARTS).map((each) => keep(each, depth + 1));
    }
    return kept;
  }

  return keep(schema, 0);
}

/** Upper bound for the steps of one check: values times the schemas tried for each. A failing step takes some eight times as long. */
const MOST_TRIED = 250_000;
const FAILURE = 8;

/**
 * The check of a value by a server's schema; see {@link boundedSchema}. It accepts values that would take too long to check. Throws
 * `ConfigError` for an invalid schema.
 */
export function boundedCheck(schema: JsonSchema, what: string): StandardSchema['~standard'] {
  const { '~standard': check } = fromJsonSchema(schema, what);
  const most = MOST_TRIED / (1 + FAILURE * (widthOf([schema]) - 1));
  const validate = (value: unknown): SchemaResult<unknown> | Promise<SchemaResult<unknown>> =>
    weightOf(value, most) > most ? { value } : check.validate(value);
  return { ...check, validate };
}

/** Upper bound for the steps of these schemas for one part of a value. */
function widthOf(schemas: readonly JsonSchema[]): number {
  const all = [...schemas];
  const below = new Map<string | null, JsonSchema[]>();
  const check = (place: string | null, schema: unknown): void => {
    if (!isRecord(schema)) return;
    const found = below.get(place);
    if (found === undefined) below.set(place, [schema]);
    else found.push(schema);
  };
  let width = 0;
  for (const { type, enum: values, anyOf = [], items, properties = {} } of all) {
    width += Array.isArray(type) ? type.length : 1;
    // A list of texts costs one step, because it is looked up.
    if (values?.every((value) => typeof value === 'string') === false) width += values.length;
    for (const choice of anyOf) all.push(choice);
    check(null, items);
    for (const [key, schema] of Object.entries(properties)) check(key, schema);
  }
  for (const found of below.values()) width = Math.max(width, widthOf(found));
  return width;
}

/** The default of a part, for its description. As a keyword, the check would add the default to the arguments. */
function wordsOfDefault(fallback: unknown): string {
  const json = fallback === undefined ? undefined : JSON.stringify(fallback);
  return json === undefined || json.length > MAX_DEFAULT ? '' : ` (default: ${json})`;
}

/** The part of a schema that a reference within it names, `#/$defs/Name`; undefined for every other reference. */
function partAt(schema: unknown, reference: string): unknown {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined;
  let part = schema;
  for (const step of reference.split('/').slice(1, MAX_DEPTH)) {
    if (typeof part !== 'object' || part === null) return undefined;
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    part = Object.hasOwn(part, name) ? Reflect.get(part, name) : undefined;
  }
  return part;
}

const KEYWORDS = [...VALUES, ...RANGES, ...SIZES, 'description', 'default', 'properties', 'items', 'anyOf', 'oneOf'];

/** A part that a reference names, with the keywords beside the reference, which say more. Only keywords are copied: a part may have many others. */
function joined(beside: Readonly<Record<string, unknown>>, part: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const all: Record<string, unknown> = { $ref: part['$ref'], allOf: part['allOf'] };
  for (const key of KEYWORDS) all[key] = beside[key] ?? part[key];
  return all;
}

/** A function that computes each of its results once. */
function once<In, Out>(compute: (given: In) => Out): (given: In) => Out {
  const known = new Map<In, { readonly out: Out }>();
  return (given) => {
    const found = known.get(given) ?? { out: compute(given) };
    known.set(given, found);
    return found.out;
  };
}

/** Cleans a server's text for people and models: one line without control characters, of bounded length. */
export function plainWords(text: string): string {
  const words = text
    .toWellFormed()
    .replace(/\p{C}+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return words.length > MAX_WORDS ? `${clipped(words, MAX_WORDS)}…` : words;
}

function isSmallJson(value: unknown): boolean {
  return value !== undefined && (JSON.stringify(value)?.length ?? 0) <= MAX_TEXT;
}
