import { type Document, isMap, isNode, isScalar, LineCounter, type ParsedNode, parseDocument, visit } from 'yaml';
import { ConfigError } from '../wire/errors.ts';
import { checkText } from '../wire/options.ts';
import { isRecord } from '../wire/unknown.ts';

/** Keys and indexes that lead from the top of a file to a value. */
export type Path = readonly (string | number)[];

/**
 * A configuration file in YAML, which includes JSON. It refuses wrong syntax, unknown tags, duplicate keys, and aliases that expand too
 * far.
 */
export class YamlFile {
  readonly name: string;
  readonly value: unknown;
  readonly #document: Document.Parsed<ParsedNode>;
  readonly #lines = new LineCounter();

  /** Throws {@link ConfigError} (`ERR_CONFIG`), whose text begins with `name:line:`, when the text is not YAML. */
  constructor(text: string, name: string) {
    checkText('the name of a file', name);
    checkText(`the text of ${name}`, text);
    this.name = name;
    // The parser's own search for duplicate keys takes quadratic time.
    this.#document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false, uniqueKeys: false });
    const [malformed] = this.#document.errors;
    const problem = malformed ?? this.#document.warnings[0];
    if (problem !== undefined) {
      const what = malformed === undefined ? '' : 'this is not YAML: ';
      throw new ConfigError(`${this.#placeOf(problem.pos[0])}: ${what}${firstLine(problem.message)}`);
    }
    const wrong = wrongKey(this.#document);
    if (wrong !== null) throw new ConfigError(`${this.#placeOf(wrong.at)}: ${wrong.problem}`);
    try {
      this.value = this.#document.toJS({ maxAliasCount: 100 });
    } catch (cause) {
      throw new ConfigError(`${name}: ${cause instanceof Error ? firstLine(cause.message) : 'not readable'}`, { cause });
    }
  }

  /** Throws {@link ConfigError} that names the file, the line of the value at `path` (or of its key), the path and the problem. */
  fail(path: Path, problem: string): never {
    const line = this.#lineOf(path);
    const place = path
      .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
      .join('')
      .replace(/^\./, '');
    throw new ConfigError(`${this.name}${line === null ? '' : `:${line}`}: ${place === '' ? '' : `${place}: `}${problem}`);
  }

  /** The entries of a map. Throws for any other value, and for a key that is not among `keys`; null allows any key. */
  map(path: Path, value: unknown, keys: readonly string[] | null): Readonly<Record<string, unknown>> {
    if (!isRecord(value)) return this.fail(path, `must be a map, got ${kindOf(value)}`);
    for (const key of Object.keys(value))
      if (keys !== null && !keys.includes(key)) this.fail([...path, key], `unknown key; known are ${keys.join(', ')}`);
    return value;
  }

  list(path: Path, value: unknown): readonly unknown[] {
    return Array.isArray(value) ? value : this.fail(path, `must be a list, got ${kindOf(value)}`);
  }

  text(path: Path, value: unknown): string {
    return typeof value === 'string' ? value : this.fail(path, `must be a text, got ${kindOf(value)}`);
  }

  flag(path: Path, value: unknown): boolean {
    return typeof value === 'boolean' ? value : this.fail(path, `must be true or false, got ${kindOf(value)}`);
  }

  #placeOf(offset: number): string {
    const { line, col } = this.#lines.linePos(offset);
    return `${this.name}:${line}:${col}`;
  }

  #lineOf(path: Path): number | null {
    for (let length = path.length; length >= 0; length--) {
      const start = this.#offsetOf(path.slice(0, length));
      if (start !== null) return this.#lines.linePos(start).line;
    }
    return null;
  }

  /** The offset of the key of a map's entry, else that of the value itself. */
  #offsetOf(path: Path): number | null {
    const parent: unknown = path.length === 0 ? null : this.#document.getIn(path.slice(0, -1), true);
    const last = path.at(-1);
    if (isMap(parent)) {
      const pair = parent.items.find(({ key }) => (isNode(key) ? String(key.toJS(this.#document)) : String(key)) === last);
      if (pair !== undefined && isNode(pair.key)) return pair.key.range?.[0] ?? null;
    }
    const node: unknown = this.#document.getIn(path, true);
    return isNode(node) ? (node.range?.[0] ?? null) : null;
  }
}

/**
 * The first key that occurs twice in its map or is no scalar; null when there is none. The parser would turn a list or a map in the
 * place of a key into text, which takes cubic time when such keys nest.
 */
function wrongKey(document: Document.Parsed<ParsedNode>): { readonly at: number; readonly problem: string } | null {
  let wrong: { readonly at: number; readonly problem: string } | null = null;
  visit(document, {
    Map(_key, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (key === null) continue;
        const at = (isNode(key) ? key.range?.[0] : undefined) ?? 0;
        if (!isScalar(key)) wrong = { at, problem: 'Map keys must be texts or numbers' };
        else if (seen.has(key.value)) wrong = { at, problem: 'Map keys must be unique' };
        else seen.add(key.value);
        if (wrong !== null) return visit.BREAK;
      }
      return undefined;
    },
  });
  return wrong;
}

/** The name of a value's kind in YAML. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  return typeof value === 'string' ? 'a text' : `the ${typeof value} ${String(value)}`;
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
