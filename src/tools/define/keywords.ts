import { isRecord } from '../../wire/unknown.ts';

type Form = (value: unknown) => boolean;

const isSchema: Form = (value) => typeof value === 'boolean' || isRecord(value);
const isListOf =
  (form: Form): Form =>
  (value) =>
    Array.isArray(value) && value.every(form);
const isText: Form = (value) => typeof value === 'string';
const isFlag: Form = (value) => typeof value === 'boolean';
const isNumber: Form = (value) => typeof value === 'number';
const isSize: Form = (value) => Number.isSafeInteger(value) && Number(value) >= 0;

const words = (text: string): readonly string[] => text.split(' ');

/** The formats that the compiler of schemas enforces. It passes over every other one. */
const FORMATS = new Set([
  ...words('email uri uri-reference uuid guid date-time date time duration hostname ipv4 ipv6 mac cidr cidr-v6 base64'),
  ...words('base64url e164 credit_card iban jwt emoji nanoid cuid cuid2 ulid xid ksuid'),
]);

/** Keywords that constrain values of one type. The compiler passes over them in a schema without `type`. */
const TYPED: readonly (readonly [form: Form, keywords: string])[] = [
  [isText, 'pattern'],
  [(value) => FORMATS.has(String(value)), 'format'],
  [isNumber, 'minimum maximum multipleOf'],
  [(value) => isNumber(value) || isFlag(value), 'exclusiveMinimum exclusiveMaximum'],
  [isSize, 'minLength maxLength minItems maxItems minContains maxContains minProperties maxProperties'],
  [isFlag, 'uniqueItems'],
  [isListOf(isText), 'required'],
  [(value) => isSchema(value) || isListOf(isSchema)(value), 'items'],
  [isListOf(isSchema), 'prefixItems'],
  [isSchema, 'additionalItems contains additionalProperties propertyNames'],
  [(value) => isRecord(value) && Object.values(value).every(isSchema), 'properties patternProperties'],
];

/** Keywords for values of every type, notes, and keywords that the compiler itself refuses. */
const UNTYPED: readonly (readonly [form: Form, keywords: string])[] = [
  [isListOf(isSchema), 'anyOf oneOf allOf'],
  [isText, '$ref'],
  [Array.isArray, 'enum'],
  [(value) => isRecord(value) && Object.values(value).every(isSchema), '$defs definitions'],
  [() => true, 'type const default title description examples example deprecated readOnly writeOnly'],
  [() => true, '$schema $id id $anchor $comment contentEncoding contentMediaType contentSchema'],
  [() => true, 'not if then else unevaluatedItems unevaluatedProperties dependentSchemas dependentRequired'],
];

const forms = (table: typeof TYPED): ReadonlyMap<string, Form> =>
  new Map(table.flatMap(([form, keywords]) => words(keywords).map((keyword) => [keyword, form] as const)));
const TYPED_FORMS = forms(TYPED);
const ALL_FORMS = new Map([...forms(UNTYPED), ...TYPED_FORMS]);

/** Keywords that the compiler passes over in a schema that says nothing about the items. */
const SIZES_OF_LISTS = words('minItems maxItems');

/** Keywords whose value is a schema or a list of schemas, and those whose value maps names to schemas. */
const WITH_SCHEMA = words('items prefixItems additionalItems contains additionalProperties propertyNames anyOf oneOf allOf');
const WITH_SCHEMAS = words('properties patternProperties $defs definitions');

/**
 * Throws an `Error` that names the first keyword of a JSON Schema, or of a schema within it, that the compiler would pass over: a
 * misspelt one, an unknown format, a value of the wrong form, or a constraint that another keyword hides. Keywords that start
 * with `x-` are notes.
 */
export function checkKeywords(schema: unknown, path = ''): void {
  if (!isRecord(schema)) return;
  const given = Object.entries(schema).filter(([keyword, value]) => value !== undefined && !keyword.startsWith('x-'));
  for (const [keyword, value] of given) {
    const where = `'${path}${keyword}'`;
    const form = ALL_FORMS.get(keyword);
    if (form === undefined) throw new Error(`${where} is no keyword that can be enforced`);
    if (!form(value)) throw new Error(`${where} cannot be ${JSON.stringify(value)}`);
    if (TYPED_FORMS.has(keyword) && !hasValues(schema)) throw new Error(`${where} is not enforced without 'type' beside it`);
    if (SIZES_OF_LISTS.includes(keyword) && schema['items'] === undefined && schema['prefixItems'] === undefined)
      throw new Error(`${where} is not enforced without 'items' beside it`);
    const within = WITH_SCHEMAS.includes(keyword) && isRecord(value) ? Object.entries(value) : [];
    for (const [name, each] of within) checkKeywords(each, `${path}${keyword}.${name}.`);
    if (WITH_SCHEMA.includes(keyword)) for (const each of [value].flat()) checkKeywords(each, `${path}${keyword}.`);
  }
  const parts = words('$ref anyOf oneOf allOf').filter((keyword) => schema[keyword] !== undefined);
  const hidden = hasValues(schema) ? schema['$ref'] !== undefined : parts.length > 1;
  if (hidden) throw new Error(`'${path}${parts[0]}' is not enforced together with the keywords beside it; put each into 'allOf'`);
}

/** Whether a schema names its values or their type, so that the compiler looks at its other keywords. */
function hasValues(schema: Readonly<Record<string, unknown>>): boolean {
  return ['type', 'enum', 'const'].some((keyword) => schema[keyword] !== undefined);
}
