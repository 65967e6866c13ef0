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
 * regular expression can take forever, and no reference is followed. The server checks its arguments as well.
 */
export function boundedSchema(schema: unknown): JsonSchema {
  let parts = 0;

  function keep(value: unknown, depth: number): JsonSchema {
    parts += 1;
    if (!isRecord(value) || depth > MAX_DEPTH || parts > MAX_PARTS) return {};
    const kept: Record<string, unknown> = {};
    for (const key of VALUES) if (isSmall(value[key])) kept[key] = value[key];
    // Each type of a list is compiled with the whole schema below it, so a type twice on each of 24 levels would give 16 million schemas.
    if (Array.isArray(kept['type'])) kept['type'] = [...new Set(kept['type'])];
    const typed = VALUES.some((key) => kept[key] !== undefined);
    for (const key of typed ? [...RANGES, ...SIZES] : []) if (isSmall(value[key])) kept[key] = value[key];
    const words = wordsOf(value);
    if (words !== '') kept['description'] = words;
    if (typed && isRecord(value['properties']))
      kept['properties'] = Object.fromEntries(
        Object.entries(value['properties'])
          .slice(0, MAX_PARTS)
          .map(([name, each]) => [name, keep(each, depth + 1)]),
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

/** The description of a part, with its default in words. As a keyword, the check would add the default to the arguments. */
function wordsOf({ description, default: fallback }: Readonly<Record<string, unknown>>): string {
  const json = fallback === undefined ? undefined : JSON.stringify(fallback);
  const said = typeof description === 'string' ? plainWords(description) : '';
  return json === undefined || json.length > MAX_DEFAULT ? said : plainWords(`${said} (default: ${json})`);
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

function isSmall(value: unknown): boolean {
  return value !== undefined && (JSON.stringify(value)?.length ?? 0) <= MAX_TEXT;
}
