import { type Document, isMap, isNode, isScalar, Lexer, LineCounter, type ParsedNode, parseDocument, visit } from 'yaml';
import type { z } from 'zod';
import { kindOf, type Path, pathText, readAs } from '../files/problem.ts';
import { ConfigError } from '../wire/errors.ts';
import { checkText } from '../wire/options.ts';
import { isRecord } from '../wire/unknown.ts';

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
    if (hasMoreLexemes(text)) throw new ConfigError(`${name}: the file has more than ${MOST_LEXEMES} words and signs`);
    try {
      // The parser's own search for duplicate keys takes quadratic time.
      const options = { lineCounter: this.#lines, prettyErrors: false, uniqueKeys: false };
      this.#document = withoutStacks(() => parseDocument(text, options));
      this.value = this.#read();
    } catch (cause) {
      // The parser calls itself for each level.
      if (cause instanceof RangeError) throw new ConfigError(`${name}: ${TOO_DEEP}`, { cause });
      throw cause;
    }
  }

  #read(): unknown {
    const [malformed] = this.#document.errors;
    const problem = malformed ?? this.#document.warnings[0];
    if (problem !== undefined) {
      const what = malformed === undefined ? '' : 'this is not YAML: ';
      const told = problem.code === 'RESOURCE_EXHAUSTION' ? TOO_DEEP : `${what}${firstLine(problem.message)}`;
      throw new ConfigError(`${this.#placeOf(problem.pos[0])}: ${told}`);
    }
    const { wrong, aliases } = judged(this.#document);
    if (wrong !== null) throw new ConfigError(`${this.#placeOf(wrong.at)}: ${wrong.problem}`);
    let value: unknown;
    try {
      value = this.#document.toJS({ maxAliasCount: MOST_ALIASES });
    } catch (cause) {
      if (cause instanceof RangeError) throw cause;
      throw new ConfigError(`${this.name}: ${cause instanceof Error ? firstLine(cause.message) : 'not readable'}`, { cause });
    }
    if (aliases > 0 && hasMore(value, MOST_EXPANDED))
      throw new ConfigError(`${this.name}: its aliases make more than ${MOST_EXPANDED} values`);
    return value;
  }

  /** Throws {@link ConfigError} that names the file, the line of the value at `path` (or of its key), the path and the problem. */
  fail(path: Path, problem: string): never {
    const line = this.#lineOf(path);
    const place = pathText(path);
    throw new ConfigError(`${this.name}${line === null ? '' : `:${line}`}: ${place === '' ? '' : `${place}: `}${problem}`);
  }

  /** The file as the schema reads it. Throws {@link ConfigError} for its first problem. */
  as<Form>(schema: z.ZodType<Form>): Form {
    return this.part(schema, [], this.value);
  }

  /** The value at a path as the schema reads it. Throws {@link ConfigError} for its first problem. */
  part<Form>(schema: z.ZodType<Form>, path: Path, value: unknown): Form {
    return readAs(schema, value, (found) => this.fail([...path, ...found.path], found.problem));
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

const TOO_DEEP = 'it nests too deep to be read';

/** Most aliases of a file, because the parser searches the whole file for each, and most values of a file that has any. */
const MOST_ALIASES = 100;
const MOST_EXPANDED = 200_000;

/** Words and signs of a file. Each may be a value or a mistake, for which the parser takes as long as for some lines of text. */
const MOST_LEXEMES = 200_000;

function hasMoreLexemes(text: string): boolean {
  if (text.length <= MOST_LEXEMES) return false;
  let count = 0;
  for (const _ of new Lexer().lex(text)) if (++count > MOST_LEXEMES) return true;
  return false;
}

/** The parser makes an error for each mistake, and most of its time is that for the stack, which nobody reads. */
function withoutStacks<Result>(run: () => Result): Result {
  const { stackTraceLimit } = Error;
  Reflect.set(Error, 'stackTraceLimit', 0);
  try {
    return run();
  } finally {
    Reflect.set(Error, 'stackTraceLimit', stackTraceLimit);
  }
}

/** The first thing that is wrong with a file, null when there is none, and the number of its aliases. */
interface Judgement {
  readonly wrong: { readonly at: number; readonly problem: string } | null;
  readonly aliases: number;
}

/**
 * Looks for too many aliases, for values that JSON lacks, and for a key that is no scalar or occurs twice in its map. The parser would
 * turn a list or a map in the place of a key into text, which takes cubic time when such keys nest.
 */
function judged(document: Document.Parsed<ParsedNode>): Judgement {
  let wrong: Judgement['wrong'] = null;
  let aliases = 0;
  const refuse = (node: unknown, problem: string): symbol => {
    wrong = { at: (isNode(node) ? node.range?.[0] : undefined) ?? 0, problem };
    return visit.BREAK;
  };
  visit(document, {
    Alias(_key, node) {
      aliases += 1;
      return aliases > MOST_ALIASES ? refuse(node, `the file has more than ${MOST_ALIASES} aliases`) : undefined;
    },
    Scalar(_key, node) {
      return typeof node.value === 'object' && node.value !== null ? refuse(node, 'a value is not JSON') : undefined;
    },
    Collection(_key, node) {
      if (node.tag !== undefined && !PLAIN_TAGS.has(node.tag))
        return refuse(node, `${node.tag} is neither a list nor a map of JSON`);
      if (!isMap(node)) return undefined;
      const seen = new Set<string>();
      for (const { key } of node.items) {
        if (key !== null && !isScalar(key)) return refuse(key, 'Map keys must be texts or numbers');
        const text = String(key?.value ?? '');
        if (seen.has(text)) return refuse(key, 'Map keys must be unique');
        seen.add(text);
      }
      return undefined;
    },
  });
  return { wrong, aliases };
}

/** The tags of lists and maps that JSON has. */
const PLAIN_TAGS: ReadonlySet<string> = new Set(['tag:yaml.org,2002:seq', 'tag:yaml.org,2002:map']);

/** Whether a value has more values in it, each as often as it occurs. A value that holds itself has any number. */
function hasMore(value: unknown, most: number): boolean {
  const left = [value];
  for (let count = 0; left.length > 0; count++) {
    const each = left.pop();
    if (count + left.length >= most) return true;
    if (typeof each === 'object' && each !== null) for (const item of Object.values(each)) left.push(item);
  }
  return false;
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
