import type { JsonSchema } from '../tools/index.ts';

/** Keywords that are kept of a server's schema: those whose check takes a time in proportion to the value. */
const PLAIN = ['type', 'required', 'enum', 'const', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'];
const SIZES = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'];

/** Most parts of one schema, and how deep they nest; beyond, anything is accepted there. */
const MAX_PARTS = 1000;
const MAX_DEPTH = 24;
/** Longest description that is kept, in characters. */
const MAX_WORDS = 1000;
/** Longest text anywhere else in a schema. */
const MAX_TEXT = 10_000;

/**
 * What is kept of a schema that a server sent. It is data from a stranger: no pattern of it is ever run (a regular expression
 * can take for ever), no reference is followed, and its size is bounded. The server checks its arguments itself besides.
 */
export function boundedSchema(schema: unknown): JsonSchema {
  let parts = 0;

  function keep(value: unknown, depth: number): JsonSchema {
    parts += 1;
    if (!isObject(value) || depth > MAX_DEPTH || parts > MAX_PARTS) return {};
    const kept: Record<string, unknown> = {};
    for (const key of [...PLAIN, ...SIZES]) if (isSmall(value[key])) kept[key] = value[key];
    if (typeof value['description'] === 'string') kept['description'] = plainWords(value['description']);
    if (isObject(value['properties']))
      kept['properties'] = Object.fromEntries(
        Object.entries(value['properties']).map(([name, each]) => [name, keep(each, depth + 1)]),
      );
    if (isObject(value['items'])) kept['items'] = keep(value['items'], depth + 1);
    for (const key of ['anyOf', 'oneOf'] as const) {
      const choices = value[key];
      // As `anyOf`: how many of them fit is the server's business.
      if (Array.isArray(choices) && choices.length > 0) kept['anyOf'] = choices.map((each) => keep(each, depth + 1));
    }
    return kept;
  }

  return keep(schema, 0);
}

/** A server's words for people and models: one line, no control characters, not too long. They are never instructions. */
export function plainWords(text: string): string {
  const words = text
    .toWellFormed()
    .replace(/\p{C}+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return words.length > MAX_WORDS ? `${words.slice(0, MAX_WORDS).toWellFormed()}…` : words;
}

function isSmall(value: unknown): boolean {
  return value !== undefined && (JSON.stringify(value)?.length ?? 0) <= MAX_TEXT;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
