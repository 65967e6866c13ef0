/** Values as the JSON of requests and results: `docs/commands.md`. */
import { Dict, fuzzy, List, Opaque, type Value } from './values.ts';

/** A value as JSON, with a tag for what JSON lacks. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

const NUMBERS: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
  '-0': -0,
};

/** The JSON text of a value, as results have it. */
export function jsonOf(value: Value): string {
  if (typeof value === 'number')
    return Number.isFinite(value) && !Object.is(value, -0) ? String(value) : tagged('$num', odd(value));
  if (value instanceof List) return `[${value.items.map((item) => jsonOf(item)).join(',')}]`;
  if (value instanceof Dict) return dictJson(value);
  if (!(value instanceof Opaque)) return JSON.stringify(value);
  const { of } = value;
  switch (of.kind) {
    case 'bytes':
      return tagged('$bytes', of.base64);
    case 'timedate':
      return tagged('$time', of.text);
    case 'fuzzy':
      return `{"$fuzzy":${of.degree}}`;
    case 'error':
      return `{"$error":${dictJson(of.fields)}}`;
    case 'handle':
      return of.id === ''
        ? tagged('$handle', of.name)
        : `{"$handle":{"kind":${JSON.stringify(of.name)},"id":${JSON.stringify(of.id)}}}`;
  }
}

function tagged(tag: string, text: string): string {
  return `{"${tag}":${JSON.stringify(text)}}`;
}

function odd(value: number): string {
  return Object.entries(NUMBERS).find(([, number]) => Object.is(number, value))?.[0] ?? 'NaN';
}

function dictJson({ entries }: Dict): string {
  const name = (key: string): string => JSON.stringify(key.startsWith('$') ? `$${key}` : key);
  return `{${[...entries].map(([key, item]) => `${name(key)}:${jsonOf(item)}`).join(',')}}`;
}

/** The value of tagged JSON. */
export function fromJson(json: Json): Value {
  if (json === null || typeof json !== 'object') return json;
  if (isList(json)) return new List(json.map(fromJson));
  const [[tag, content] = ['', null], ...more] = Object.entries(json);
  const special = more.length === 0 ? tagValue(tag, content) : undefined;
  return (
    special ?? new Dict(Object.entries(json).map(([key, item]) => [key.startsWith('$') ? key.slice(1) : key, fromJson(item)]))
  );
}

function isList(json: Json): json is readonly Json[] {
  return Array.isArray(json);
}

function tagValue(tag: string, content: Json): Value | undefined {
  if (tag === '$fuzzy') return fuzzy(Number(content));
  if (tag === '$error') {
    const fields = fromJson(content);
    return fields instanceof Dict ? new Opaque({ kind: 'error', fields }) : undefined;
  }
  if (typeof content !== 'string') return undefined;
  if (tag === '$num') return NUMBERS[content];
  if (tag === '$bytes') return new Opaque({ kind: 'bytes', base64: content, size: Buffer.from(content, 'base64').length });
  if (tag === '$time') return new Opaque({ kind: 'timedate', text: content });
  return tag === '$handle' ? new Opaque({ kind: 'handle', name: content, id: '' }) : undefined;
}
