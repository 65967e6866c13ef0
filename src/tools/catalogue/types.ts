import type { ArgType } from '../define/argtypes.ts';
import type { JsonSchema } from '../define/jsonschema.ts';

const tagged = (tag: string, content: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: { [tag]: content },
  required: [tag],
  additionalProperties: false,
});
const listOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items });

/**
 * The JSON Schema of each ArgType, with the tags of tagged JSON. It describes only the usual form: it omits that a text may stand for a
 * number.
 */
const SCHEMAS: { readonly [T in ArgType]: JsonSchema } = {
  any: {},
  string: { type: 'string' },
  int: { type: 'integer' },
  float: { type: 'number' },
  number: { type: 'number' },
  bool: { type: 'boolean' },
  boolean: { type: 'boolean' },
  map: { type: 'object' },
  list: { type: 'array' },
  slice: { type: 'array' },
  slice_any: { type: 'array' },
  slice_string: listOf({ type: 'string' }),
  slice_int: listOf({ type: 'integer' }),
  slice_float: listOf({ type: 'number' }),
  slice_bool: listOf({ type: 'boolean' }),
  slice_map: listOf({ type: 'object' }),
  map_string_string: { type: 'object', additionalProperties: { type: 'string' } },
  map_string_int: { type: 'object', additionalProperties: { type: 'integer' } },
  map_string_any: { type: 'object' },
  map_any_any: { type: 'object' },
  blob: { anyOf: [{ type: 'string' }, tagged('$bytes', { type: 'string', contentEncoding: 'base64' })] },
  nil: { type: 'null' },
  void: { type: 'null' },
  handle: {
    anyOf: [
      { type: 'string', pattern: '^[A-Za-z0-9._:-]+$' },
      tagged('$handle', { anyOf: [{ type: 'string' }, { type: 'object' }] }),
    ],
  },
  nodeid: { type: 'string', pattern: '^N_.' },
  entityid: { anyOf: [{ type: 'string', pattern: '^E_.' }, { type: 'object' }] },
  embedding: listOf({ type: 'number' }),
  timedate: { anyOf: [{ type: 'string', format: 'date-time' }, tagged('$time', { type: 'string', format: 'date-time' })] },
};

/** The JSON Schema of an ArgType. */
export function argTypeSchema(type: ArgType): JsonSchema {
  return SCHEMAS[type];
}
