import { z } from 'zod';
import { isRecord } from '../../wire/unknown.ts';

type Form = (value: unknown) => boolean;

const isSchema: Form = (value) => typeof value === 'boolean' || isRecord(value);
const isListOf =
  (form: Form): Form =>
  (value) =>
    Array.isArray(value) && value.every(form);
const isText: Form = (value) => typeof value === 'string';
const isFlag: Form = (value) => typeof value === 'boolean';
const isNumber: Form = (value) => Number.isFinite(value);
const isMapOfSchemas: Form = (value) => isRecord(value) && Object.values(value).every(isSchema);
const isSize: Form = (value) => Number.isSafeInteger(value) && Number(value) >= 0;

const words = (text: string): readonly string[] => text.split(' ');

/** The formats that the compiler of schemas enforces. It ignores all others. */
const FORMATS = new Set([
  ...words('email uri uri-reference uuid guid date-time date time duration hostname ipv4 ipv6 mac cidr cidr-v6 base64'),
  ...words('base64url e164 credit_card iban jwt emoji nanoid cuid cuid2 ulid xid ksuid'),
]);

/** Keywords that constrain values of some types. The compiler ignores them in a schema of another type, and in one without `type`. */
const TYPED: readonly (readonly [form: Form, types: string, keywords: string])[] = [
  [isText, 'string', 'pattern'],
  [(value) => FORMATS.has(String(value)), 'string', 'format'],
  [isSize, 'string', 'minLength maxLength'],
  [isNumber, 'number integer', 'minimum maximum'],
  [(value) => isNumber(value) && Number(value) > 0, 'number integer', 'multipleOf'],
  [(value) => isNumber(value) || isFlag(value), 'number integer', 'exclusiveMinimum exclusiveMaximum'],
  [isSize, 'array', 'minItems maxItems minContains maxContains'],
  [isFlag, 'array', 'uniqueItems'],
  [(value) => isSchema(value) || isListOf(isSchema)(value), 'array', 'items'],
  [isListOf(isSchema), 'array', 'prefixItems'],
  [isSchema, 'array', 'contains'],
  [isSize, 'object', 'minProperties maxProperties'],
  [isListOf(isText), 'object', 'required'],
  [isSchema, 'object', 'additionalProperties propertyNames'],
  [(value) => isMapOfSchemas(value) && !Object.hasOwn(Object(value), '__proto__'), 'object', 'properties'],
  [isMapOfSchemas, 'object', 'patternProperties'],
];

/** Keywords for values of every type, notes, and keywords that the compiler itself refuses. */
const UNTYPED: readonly (readonly [form: Form, keywords: string])[] = [
  [isListOf(isSchema), 'anyOf oneOf allOf'],
  [isText, '$ref'],
  [Array.isArray, 'enum'],
  [isMapOfSchemas, '$defs definitions'],
  [() => true, 'type const default title description examples example deprecated readOnly writeOnly'],
  [() => true, '$schema $id id $anchor $comment contentEncoding contentMediaType contentSchema'],
  [() => true, 'not if then else unevaluatedItems unevaluatedProperties dependentSchemas dependentRequired'],
];

const TYPES = new Map(TYPED.flatMap(([, types, keywords]) => words(keywords).map((keyword) => [keyword, words(types)] as const)));
const FORMS: ReadonlyMap<string, Form> = new Map(
  [...UNTYPED, ...TYPED.map(([form, , keywords]) => [form, keywords] as const)].flatMap(([form, keywords]) =>
    words(keywords).map((keyword) => [keyword, form] as const),
  ),
);

type Schema = Readonly<Record<string, unknown>>;
type JsonSchema = Parameters<typeof z.fromJSONSchema>[0];

/** Keywords that the compiler ignores without certain other keywords, and `required` with a name that `properties` lacks. */
const BESIDE: readonly (readonly [keywords: string, is: (schema: Schema) => boolean, others: string])[] = [
  ['minItems maxItems', ({ items, prefixItems }) => items !== undefined || prefixItems !== undefined, "'items'"],
  ['minContains maxContains', ({ contains }) => contains !== undefined, "'contains'"],
  ['exclusiveMinimum', ({ exclusiveMinimum, minimum }) => exclusiveMinimum !== true || minimum !== undefined, "'minimum'"],
  ['exclusiveMaximum', ({ exclusiveMaximum, maximum }) => exclusiveMaximum !== true || maximum !== undefined, "'maximum'"],
  [
    'required',
    ({ required, properties }) => [required].flat().every((name) => Object.hasOwn(Object(properties ?? {}), String(name))),
    'properties of these names',
  ],
];

/** Keywords whose value is a schema or a list of schemas, and those whose value maps names to schemas. */
const WITH_SCHEMA = words('items prefixItems contains additionalProperties propertyNames anyOf oneOf allOf');
const WITH_SCHEMAS = words('properties patternProperties $defs definitions');

/**
 * Throws an `Error` that names the first keyword of a JSON Schema, or of a schema within it, that the compiler would ignore: a misspelt
 * one, an unknown format, a value of the wrong form, or a constraint that another keyword hides. Keywords that start with `x-` are notes.
 */
export function checkKeywords(schema: unknown, path = ''): void {
  if (!isRecord(schema)) return;
  const given = Object.entries(schema).filter(([keyword, value]) => value !== undefined && !keyword.startsWith('x-'));
  for (const [keyword, value] of given) {
    const where = `'${path}${keyword}'`;
    const form = FORMS.get(keyword);
    if (form === undefined) throw new Error(`${where} is not a keyword that can be enforced`);
    if (!form(value)) throw new Error(`${where} cannot be ${JSON.stringify(value)}`);
    const types = TYPES.get(keyword);
    const { type } = schema;
    if (types !== undefined && !hasValues(schema)) throw new Error(`${where} is not enforced without 'type' beside it`);
    if (types !== undefined && type !== undefined && ![type].flat().some((each) => types.includes(String(each))))
      throw new Error(`${where} is not enforced with the type ${JSON.stringify(type)}`);
    for (const [keywords, isBeside, others] of BESIDE)
      if (words(keywords).includes(keyword) && !isBeside(schema))
        throw new Error(`${where} is not enforced without ${others} beside it`);
    const within = WITH_SCHEMAS.includes(keyword) && isRecord(value) ? Object.entries(value) : [];
    for (const [name, each] of within) checkKeywords(each, `${path}${keyword}.${name}.`);
    if (WITH_SCHEMA.includes(keyword)) for (const each of [value].flat()) checkKeywords(each, `${path}${keyword}.`);
  }
  const parts = words('$ref anyOf oneOf allOf').filter((keyword) => schema[keyword] !== undefined);
  const hidden = hasValues(schema) ? schema['$ref'] !== undefined : parts.length > 1;
  if (hidden) throw new Error(`'${path}${parts[0]}' is not enforced together with the keywords beside it; put each into 'allOf'`);
  checkValues(schema, path);
}

/**
 * Throws an `Error` for a reference of a schema, or of a schema within it, that leads to itself without an item or a property between: the
 * check of a value there would never end.
 */
export function checkReferences(root: unknown): void {
  const open = new Set<unknown>();
  const done = new Set<unknown>();
  const follow = (schema: unknown): void => {
    if (!isRecord(schema) || done.has(schema)) return;
    if (open.has(schema)) throw new Error("'$ref' leads to itself");
    open.add(schema);
    const { $ref: ref, anyOf = [], oneOf = [], allOf = [] } = schema;
    if (typeof ref === 'string') follow(ref.split('/').slice(1).reduce(memberOf, root));
    for (const each of [anyOf, oneOf, allOf].flat()) follow(each);
    open.delete(schema);
    done.add(schema);
  };
  const walk = (schema: unknown): void => {
    if (!isRecord(schema)) return;
    follow(schema);
    for (const keyword of WITH_SCHEMA) for (const each of [schema[keyword]].flat()) walk(each);
    for (const keyword of WITH_SCHEMAS) for (const each of Object.values(Object(schema[keyword]))) walk(each);
  };
  walk(root);
}

function memberOf(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}

/** The compiler checks only `enum` or `const`, so the values that they list must fit the other keywords of the schema. */
function checkValues(schema: Schema, path: string): void {
  const { enum: listed, const: constant, type } = schema;
  if (listed !== undefined && constant !== undefined)
    throw new Error(`'${path}enum' and '${path}const' are not enforced together`);
  const rest = Object.entries(schema).filter(([keyword]) => TYPES.has(keyword));
  for (const value of Array.isArray(listed) ? listed : [constant]) {
    const types = type === undefined ? typesOf(value) : [type].flat().filter((each) => typesOf(value).includes(String(each)));
    if (value === undefined) continue;
    const beside: JsonSchema = JSON.parse(JSON.stringify({ ...Object.fromEntries(rest), type: types[0] }));
    const fits = rest.length === 0 || z.fromJSONSchema(beside).safeParse(value).success;
    if (types.length === 0 || !fits)
      throw new Error(`'${path}${listed === undefined ? 'const' : 'enum'}' has a value that the keywords beside it refuse`);
  }
}

/** The types of JSON Schema that a value has. */
function typesOf(value: unknown): readonly string[] {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  if (typeof value === 'number') return Number.isInteger(value) ? ['integer', 'number'] : ['number'];
  return [typeof value];
}

/** Whether a schema names its values or their type. Only then does the compiler check the other keywords. */
function hasValues(schema: Schema): boolean {
  return ['type', 'enum', 'const'].some((keyword) => schema[keyword] !== undefined);
}
