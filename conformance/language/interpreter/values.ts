/** Values of the language, and what can be said of one value alone. */

/** A list. `shared` belongs to its price: see "Copies" in `docs/limits.md`. */
export class List {
  items: Value[];
  shared = false;

  constructor(items: Value[]) {
    this.items = items;
  }
}

/** A map. Its entries keep the order in which their keys were first set. */
export class Dict {
  entries: Map<string, Value>;
  shared = false;

  constructor(entries: Iterable<readonly [string, Value]> = []) {
    this.entries = new Map(entries);
  }
}

/** The kinds of values that only tools make. `fields` is the content of an error, `size` that of bytes. */
export type Special =
  | { readonly kind: 'bytes'; readonly base64: string; readonly size: number }
  | { readonly kind: 'timedate'; readonly text: string }
  | { readonly kind: 'fuzzy'; readonly degree: number }
  | { readonly kind: 'error'; readonly fields: Dict }
  | { readonly kind: 'handle'; readonly name: string; readonly id: string };

/** A value that only tools make. */
export class Opaque {
  readonly of: Special;

  constructor(of: Special) {
    this.of = of;
  }
}

/** Any value. */
export type Value = null | boolean | number | string | List | Dict | Opaque;

/** A fuzzy value. */
export function fuzzy(degree: number): Opaque {
  return new Opaque({ kind: 'fuzzy', degree: Math.min(1, Math.max(0, degree)) });
}

/** The degree of a fuzzy value; undefined for any other value. */
export function degreeOf(value: Value): number | undefined {
  return value instanceof Opaque && value.of.kind === 'fuzzy' ? value.of.degree : undefined;
}

/** What `typeof` gives. */
export function typeName(value: Value): string {
  if (value === null) return 'nil';
  if (value instanceof List) return 'list';
  if (value instanceof Dict) return 'map';
  if (value instanceof Opaque) return value.of.kind;
  return typeof value;
}

/** Whether a value counts as true. */
export function isTrue(value: Value): boolean {
  if (value instanceof List) return value.items.length > 0;
  if (value instanceof Dict) return value.entries.size > 0;
  if (value instanceof Opaque) {
    if (value.of.kind === 'fuzzy') return value.of.degree > 0.5;
    if (value.of.kind === 'bytes') return value.of.size > 0;
    return value.of.kind !== 'error';
  }
  return value !== null && value !== false && value !== 0 && value !== '';
}

/** The text of a number: the shortest decimal without exponent that reads back as the same number. */
export function numberText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  const [mantissa = '', exponent] = String(value).split('e');
  if (exponent === undefined) return mantissa;
  const sign = mantissa.startsWith('-') ? '-' : '';
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  return sign + digits.padEnd(point, '0');
}

/** The text of a value as `emit` prints it. The caller has counted its depth. */
export function textOf(value: Value): string {
  if (value === null) return 'nil';
  if (typeof value === 'number') return numberText(value);
  if (value instanceof List) return `[${value.items.map(quotedText).join(', ')}]`;
  if (value instanceof Dict)
    return `{${[...value.entries].map(([key, item]) => `${quoted(key)}: ${quotedText(item)}`).join(', ')}}`;
  return value instanceof Opaque ? opaqueText(value.of) : String(value);
}

function quotedText(value: Value): string {
  return typeof value === 'string' ? quoted(value) : textOf(value);
}

function opaqueText(of: Special): string {
  switch (of.kind) {
    case 'bytes':
      return `bytes(${of.size})`;
    case 'timedate':
      return of.text;
    case 'fuzzy':
      return numberText(of.degree);
    case 'handle':
      return `<handle ${of.name}>`;
    case 'error': {
      const message = of.fields.entries.get('message');
      return `error: ${typeof message === 'string' && message !== '' ? message : '(unspecified)'}`;
    }
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** A text in quotes, as it stands inside a list or a map. */
function quoted(text: string): string {
  return `"${Array.from(text, (character) => ESCAPES[character] ?? escaped(character)).join('')}"`;
}

function escaped(character: string): string {
  if (PRINTABLE.test(character)) return character;
  const point = character.codePointAt(0) ?? 0;
  const hex = (width: number): string => point.toString(16).padStart(width, '0');
  if (point < 0x80) return `\\x${hex(2)}`;
  return point < 0x10000 ? `\\u${hex(4)}` : `\\U${hex(8)}`;
}

/** The items of a list, the values of a map; nothing of other values. */
export function partsOf(value: Value): readonly Value[] {
  if (value instanceof List) return value.items;
  return value instanceof Dict ? [...value.entries.values()] : [];
}

/** The text that a value carries as JSON: of a text, the text itself; of bytes, their base64; of a number that JSON lacks, its name. */
export function contentOf(value: Value): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (!(value instanceof Opaque)) return '';
  if (value.of.kind === 'bytes') return value.of.base64;
  return value.of.kind === 'timedate' ? value.of.text : '';
}
