import { clipped } from '../../wire/clip.ts';
import { isRecord } from '../../wire/unknown.ts';
import type { JsonSchema } from './jsonschema.ts';

/** Bounds of the text of a schema, which may come from an untrusted server. */
const MAX_WORDS = 400;
const MAX_DEPTH = 6;
const MAX_KEYS = 24;
const MAX_CHOICES = 12;
const MAX_LITERAL = 60;

const WORDS: Readonly<Record<string, string>> = { integer: 'int', boolean: 'bool', null: 'nil', array: 'list', object: 'map' };
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * A JSON Schema as a type: `string`, `list of number`, `"a" | "b"`, `{path: string, depth?: int}`; `any` where it has no type. A type
 * of more than 400 characters shows fewer levels: `map` and `list` stand for the others.
 */
export function schemaWords(schema: JsonSchema | boolean | undefined): string {
  for (let depth = MAX_DEPTH; depth > 0; depth -= 1) {
    const words = typeOf(schema, depth);
    if (words.length <= MAX_WORDS) return words;
  }
  const words = typeOf(schema, 0);
  return words.length <= MAX_WORDS ? words : 'any';
}

/** A part of a schema that has a description: `[].path` for the key `path` of the items of a list. */
export interface SchemaNote {
  readonly path: string;
  readonly description: string;
}

/** The descriptions inside of a schema in its order, without its own; at most this many. */
export function schemaNotes(schema: JsonSchema | boolean | undefined, most: number): readonly SchemaNote[] {
  const notes: SchemaNote[] = [];
  const walk = (part: unknown, path: string, depth: number): void => {
    if (notes.length >= most || depth > MAX_DEPTH || !isRecord(part)) return;
    if (path !== '' && typeof part.description === 'string' && part.description !== '')
      notes.push({ path, description: part.description });
    for (const [key, each] of Object.entries(part.properties ?? {})) walk(each, `${path}.${keyWords(key)}`, depth + 1);
    walk(part.items, `${path}[]`, depth + 1);
    for (const each of choicesOf(part)) walk(each, path, depth + 1);
  };
  walk(schema, '', 0);
  return notes;
}

function typeOf(schema: JsonSchema | boolean | undefined, depth: number): string {
  if (!isRecord(schema)) return 'any';
  if (schema.const !== undefined) return literal(schema.const);
  if (Array.isArray(schema.enum)) return union(schema.enum.map(literal));
  const choices = choicesOf(schema);
  if (choices.length > 0) return union(choices.map((each) => typeOf(each, depth)));
  const types = schema.type === undefined ? [] : [schema.type].flat();
  return types.length === 0 ? 'any' : union(types.map((type) => named(String(type), schema, depth)));
}

function named(type: string, { items, properties, required = [] }: JsonSchema, depth: number): string {
  const word = WORDS[type] ?? type;
  if (depth === 0) return word;
  if (type === 'array') {
    const item = typeOf(items, depth - 1);
    if (item === 'any') return word;
    return `${word} of ${isUnion(items) && item.includes(' | ') ? `(${item})` : item}`;
  }
  const keys = type === 'object' ? Object.entries(properties ?? {}) : [];
  if (keys.length === 0) return word;
  const shown = keys.slice(0, MAX_KEYS).map(([key, each]) => {
    const value = typeOf(each, depth - 1);
    return `${keyWords(key)}${required.includes(key) ? '' : '?'}${value === 'any' ? '' : `: ${value}`}`;
  });
  return `{${[...shown, ...(keys.length > MAX_KEYS ? ['…'] : [])].join(', ')}}`;
}

function isUnion(schema: JsonSchema | boolean | undefined): boolean {
  return isRecord(schema) && (schema.enum !== undefined || choicesOf(schema).length > 0 || Array.isArray(schema.type));
}

function union(choices: readonly string[]): string {
  const different = [...new Set(choices)];
  const more = different.length > MAX_CHOICES ? ['…'] : [];
  return [...different.slice(0, MAX_CHOICES), ...more].join(' | ');
}

function keyWords(key: string): string {
  return IDENTIFIER.test(key) && key.length <= MAX_LITERAL ? key : literal(key);
}

/** A value as JSON on one line, without control characters. */
function literal(value: unknown): string {
  const text = (JSON.stringify(value) ?? 'any').replace(/\p{C}/gu, '');
  return text.length <= MAX_LITERAL ? text : `${clipped(text, MAX_LITERAL).toWellFormed()}…`;
}

function choicesOf({ anyOf, oneOf }: JsonSchema): readonly JsonSchema[] {
  const choices = anyOf ?? oneOf;
  return Array.isArray(choices) ? choices : [];
}
