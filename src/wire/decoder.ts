import { fromBase64 } from './bytes.ts';
import { isPlaced, keyOf } from './mapkeys.ts';
import type { Maker } from './pieces.ts';
import type { TaggedJson } from './protocol.ts';
import { isList } from './tagged.ts';
import { ErrorValue, Fuzzy, Handle, type OrderedMap, type Single, TimeDate, ValueError, type ValueMap } from './values.ts';

/** Deepest nesting of lists and maps that crosses the boundary. A deeper value is refused, so that no stack overflows. */
export const MAX_DEPTH = 500;

const NUMBERS: ReadonlyMap<string, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['-0', -0],
]);

export interface Form<V> {
  single(value: Single): V;
  list(items: readonly V[]): V;
  itemsOf(list: V): readonly V[];
  map(keys: readonly string[], items: readonly V[]): V;
  /** The fields of an error; undefined for a value that is not a map. */
  fields(value: V): ValueMap | OrderedMap | undefined;
}

/** Makes values of tagged JSON, all at once or in pieces. */
export class Decoder<V> implements Maker<V> {
  readonly #form: Form<V>;

  constructor(form: Form<V>) {
    this.#form = form;
  }

  part(json: TaggedJson, depth: number): V {
    if (typeof json === 'string') return this.#form.single(wellFormed(json));
    if (json === null || typeof json !== 'object') return this.#form.single(json);
    if (depth >= MAX_DEPTH) throw new ValueError(`a value nests deeper than ${MAX_DEPTH} levels`);
    if (isList(json)) return this.#form.list(json.map((item) => this.part(item, depth + 1)));
    const names = Object.keys(json);
    const [first = ''] = names;
    if (keyOf(first) === null) {
      // The content of an error is as deep as the error itself.
      const content = json[first] ?? null;
      return this.#tagged(names, () => (first === '$error' ? this.part(content, depth) : null), content);
    }
    const items: V[] = [];
    for (const name of names) items.push(this.part(json[name] ?? null, depth + 1));
    return this.#map(names, items);
  }

  list(item: V): V {
    return this.#form.list([item]);
  }

  join(lists: readonly V[]): V {
    return this.#form.list(([] as readonly V[]).concat(...lists.map((list) => this.#form.itemsOf(list))));
  }

  map(names: readonly string[], items: readonly V[]): V {
    const [item] = items;
    if (keyOf(names[0] ?? '') !== null || item === undefined) return this.#map(names, items);
    return this.#tagged(names, () => item, typeof item === 'string' ? item : null);
  }

  #map(names: readonly string[], items: readonly V[]): V {
    for (const name of names) wellFormed(name);
    if (!names.some((name) => name.startsWith('$'))) return this.#form.map(names, items);
    const keys = names.map((name) => keyOf(name) ?? unknownTag(name));
    if (names.some(isPlaced) && new Set(keys).size !== keys.length)
      throw new ValueError("a whole number is the key of a map twice, with and without the '$' that keeps its place");
    return this.#form.map(keys, items);
  }

  /** A tag must be alone in its object. `fields` decodes the content of an error. */
  #tagged([tag = '', ...more]: readonly string[], fields: () => V | null, content: TaggedJson): V {
    if (more.length > 0) return unknownTag(tag);
    if (tag !== '$error') return this.#form.single(singleFrom(tag, content) ?? unknownTag(tag));
    const decoded = fields();
    const found = decoded === null ? undefined : this.#form.fields(decoded);
    return this.#form.single(found === undefined ? unknownTag(tag) : new ErrorValue(found));
  }
}

/** Refuses a lone surrogate: UTF-8 would silently turn it into another character. */
export function wellFormed(text: string): string {
  if (text.isWellFormed()) return text;
  throw new ValueError('a text holds a lone surrogate, half of a character; pass whole characters');
}

function unknownTag(tag: string): never {
  const hint = `a map's own key is written '$${tag}'`;
  throw new ValueError(`'${tag.slice(0, 40)}' is not a known tag with its content, alone in its object; ${hint}`);
}

/** The value of a tag other than `$error`. Undefined when the tag is unknown or its content is not of the right form. */
function singleFrom(tag: string, content: TaggedJson): Single | undefined {
  if (tag === '$fuzzy') return typeof content === 'number' ? new Fuzzy(content) : undefined;
  if (tag === '$handle' && isHandleContent(content)) return new Handle(content.kind, content.id);
  if (typeof content !== 'string') return undefined;
  if (tag === '$num') return NUMBERS.get(content);
  if (tag === '$bytes') return bytesFrom(content);
  if (tag === '$time') return new TimeDate(content);
  if (tag === '$handle') return new Handle(content);
  return undefined;
}

/** Undefined unless the text is canonical base64. */
function bytesFrom(base64: string): Uint8Array | undefined {
  const bytes = fromBase64(base64);
  return bytes === null ? undefined : new Uint8Array(bytes);
}

function isHandleContent(content: TaggedJson): content is { readonly kind: string; readonly id: string } {
  if (content === null || typeof content !== 'object' || isList(content)) return false;
  return typeof content['kind'] === 'string' && typeof content['id'] === 'string' && Object.keys(content).length === 2;
}
