/** Calls of functions, of the program and of other languages. */
import { BUILTINS } from '../vocabulary/builtins.ts';
import { KEYWORDS } from '../vocabulary/keywords.ts';
import { toolParts } from '../vocabulary/names.ts';
import { between, list } from './brackets.ts';
import { functionCall, type Kind, kindOfCall, methodCall, operand, TYPE_TESTS } from './calls.ts';
import type { Word } from './lexer.ts';
import { overItems } from './members.ts';
import { BINARY } from './operators.ts';
import type { Reader } from './reader.ts';
import { type Scope, Unclear } from './scope.ts';
import { SEARCHES, searched } from './search.ts';
import { fillFormat } from './strings.ts';
import { called, plain, settled, type Value } from './values.ts';

const RESERVED = new Set<string>(KEYWORDS);

/** The arguments of a function, which may be one of another language. */
export function call(reader: Reader, of: Value): Value {
  const at = reader.at;
  const { text: name, s } = of;
  const { scope } = reader;
  const args = list(reader, '(', ')');
  const open = reader.words[at];
  const last = reader.words[reader.at - 1];
  if (open === undefined || last === undefined) throw new Unclear();
  const { e } = last;
  const [only] = args;
  const search = name === 'any' || name === 'all' ? name : null;
  if (search !== null && args.length === 1 && only?.form?.k === 'each' && !scope.procedures.has(name)) {
    const { names, of: list, cond, item } = only.form;
    const both = search === 'any' ? `(${cond}) and (${item})` : `not (${cond}) or (${item})`;
    return searched(scope, search, { names, of: list, cond: cond === null ? item : both, item }, s, e);
  }
  const isTool = name.startsWith('tool.');
  const foreign = isTool ? foreignToolCall(scope, name, args, { s, e }) : null;
  if (foreign !== null) {
    scope.miscalls = true;
    return foreign;
  }
  const values = args.map((arg) => settled(scope, arg));
  const own = (): Value => called(`${name}${reader.source.slice(open.s, open.e)}${between(reader, values, open, last)})`, s, e);
  const local = scope.tools.size > 0 && !scope.tools.has(name.toLowerCase()) ? asMethod(name, values.map(plain)) : undefined;
  if (local !== undefined) return { text: local, kind: kindOfCall(local), s, e };
  if (scope.procedures.has(name) || isTool || (RESERVED.has(name) && name !== 'set')) return own();
  if (name === 'dict') return { text: `{${named(reader, at)}}`, kind: 'map', s, e };
  const special = test(reader, name, values, s, e) ?? converted(name, values, s, e) ?? spread(reader, at, name, values, s, e);
  if (special !== null) return special;
  if (values.some(({ form }) => form !== undefined)) throw new Unclear();
  const known = functionCall(name, values.map(plain));
  if (known === undefined) {
    if (name.includes('.')) throw new Unclear();
    return own();
  }
  if (known.doubtful) scope.guess();
  return { text: known.text, kind: known.text.startsWith('("" +') ? 'text' : kindOfCall(known.text), s, e };
}

/** `tool.str.StartsWith(text, start)`: the method of another language that a tool without this name stands for. */
function asMethod(name: string, [of, ...args]: readonly string[]): string | undefined {
  const [group, local] = toolParts(name);
  if (of === undefined || !(group in KINDS)) return undefined;
  const call = methodCall(`${local.charAt(0).toLowerCase()}${local.slice(1)}`, of, KINDS[group] ?? 'unknown', args);
  return call?.doubtful === false && call.text.startsWith(`${group}.`) ? call.text : undefined;
}

const KINDS: Readonly<Record<string, Kind>> = { 'tool.str': 'text', 'tool.list': 'list', 'tool.map': 'map' };

/** `isinstance(x, str)`, `type(x) == str`. */
function test(reader: Reader, name: string, values: readonly Value[], s: number, e: number): Value | null {
  const [first, second] = values;
  if (first === undefined) return null;
  const is = (type: string): string => {
    const found = TYPE_TESTS[type];
    if (found === undefined) throw new Unclear();
    return `${found}(${plain(first)})`;
  };
  if (name === 'isinstance' && second !== undefined) return { text: is(plain(second)), kind: 'truth', s, e };
  const [compared, type] = [reader.peek() ?? '', reader.words[reader.at + 1]];
  if (name !== 'type' || type === undefined || !/^(?:[!=]=|is)$/.test(compared)) return null;
  reader.at += 2;
  return { text: `${compared === '!=' ? 'not ' : ''}${is(type.text)}`, kind: 'truth', s, e: type.e };
}

/** Conversions and formats that are certain for these values. */
function converted(name: string, [first, ...more]: readonly Value[], s: number, e: number): Value | null {
  if (first === undefined) return null;
  if (/^(?:fmt\.Sprintf|sprintf|format)$/.test(name) && first.literal === true)
    return { text: fillFormat(first.text, more.map(plain)), kind: 'text', s, e };
  if (more.length > 0) return null;
  if (/^(?:list|tuple|Array\.from)$/.test(name) && first.kind === 'list') return { ...first, s, e };
  if (!/^(?:int|parseInt|intval)$/.test(name)) return null;
  if (first.kind === 'number') return { text: `tool.math.Trunc(${plain(first)})`, kind: 'number', s, e };
  return /^["']\d+["']$/.test(first.text) ? { text: `tool.str.ToNumber(${first.text})`, kind: 'number', s, e } : null;
}

/** `Math.max(...xs)`, `sorted(xs, reverse=True)`. */
function spread(reader: Reader, at: number, name: string, [first]: readonly Value[], s: number, e: number): Value | null {
  const words = reader.words.slice(at, reader.at);
  if (first === undefined) return null;
  if (words[1]?.text === '...' && /^(?:Math\.)?(?:max|min)$/.test(name))
    return called(`tool.math.${name.endsWith('max') ? 'Max' : 'Min'}(${plain(first)})`, s, e);
  const reversed = words.some(({ text }, index) => text === 'reverse' && words[index + 2]?.text === 'True');
  return name === 'sorted' && reversed ? called(`tool.list.Reverse(tool.list.Sort(${plain(first)}))`, s, e) : null;
}

/** `a=1, b=2` as the inside of a map. */
function named(reader: Reader, at: number): string {
  const parts: string[] = [];
  for (let index = at + 1; index < reader.at - 1; index++) {
    const [name, equals] = [reader.words[index], reader.words[index + 1]];
    if (name?.kind !== 'name' || equals?.text !== '=') continue;
    parts.push(`"${name.text}": ${plain(reader.part(reader.words.slice(index + 2, reader.at - 1)))}`);
  }
  return parts.join(', ');
}

/** Words that go on with a statement behind a value. */
const NO_ARGUMENT = new Set('if else unless then do for in not as into with together while to step'.split(' '));

/** Whether a value is a function or a tool whose arguments follow without brackets. */
export function lacksBrackets({ words, at, scope }: Reader, { text }: Value, last: Word | undefined): boolean {
  const word = words[at];
  if (word === undefined || word.kind === 'mark' || last === undefined || last.e === word.s || scope.kinds.has(text))
    return false;
  if (word.kind === 'name' && (BINARY.has(word.text) || NO_ARGUMENT.has(word.text))) return false;
  return (text in BUILTINS && text !== 'typeof') || (text.startsWith('tool.') && text.split('.').length > 2);
}

/** `len xs`, `tool.list.Sort xs`, `tool.str.Join xs, ", "`. */
export function bracketed(reader: Reader, { text, s }: Value): Value {
  if (!text.startsWith('tool.')) {
    const only = reader.prefix();
    return called(`${text}(${plain(only)})`, s, only.e);
  }
  const args = [reader.read()];
  while (reader.take(',')) args.push(reader.read());
  reader.scope.guess();
  return called(`${text}(${args.map((arg) => plain(settled(reader.scope, arg))).join(', ')})`, s, args.at(-1)?.e ?? s);
}

interface CallSpans {
  readonly s: number;
  readonly e: number;
}

/** What a call of a tool means whose arguments are those of another language; null where it is a call like any other. */
function foreignToolCall(scope: Scope, name: string, args: readonly Value[], { s, e }: CallSpans): Value | null {
  const [list, by, start, ...more] = args;
  const [group, local] = toolParts(name.toLowerCase());
  if (list === undefined || by === undefined || more.length > 0 || list.form?.k === 'arrow') return null;
  const of = (): string => plain(settled(scope, list));
  const field = fieldOf(by);
  if (group === 'tool.math' && start === undefined && /^(?:sum|max|min|mean|median)$/.test(local)) {
    const each =
      by.form?.k === 'arrow' ? overItems(of(), 'map', by, undefined) : field === null ? null : fieldsOf(of(), field, by);
    return each === null ? null : called(`${name}(${plain(settled(scope, each))})`, s, e);
  }
  if (group === 'tool.str' && local === 'substring' && start === undefined) {
    const text = of();
    return called(`${name}(${text}, ${plain(settled(scope, by))}, len(${text}))`, s, e);
  }
  // A function is no argument of any tool.
  if (group !== 'tool.list' || (scope.tools.has(`${group}.${local}`) && by.form === undefined)) return null;
  if (/^(?:concat|extend|addall|combine)$/.test(local) && start === undefined && by.form === undefined)
    return { text: `(${operand(of())} + ${operand(plain(by))})`, kind: 'list', s, e };
  if (/^(?:map|pluck|column)$/.test(local) && field !== null && start === undefined)
    return { ...fieldsOf(of(), field, by), s, e };
  if (by.form?.k !== 'arrow') return null;
  const search = SEARCHES[local] ?? (/^(?:any|all)$/.test(local) ? (local as 'any' | 'all') : undefined);
  const [item = '_item'] = by.form.params;
  if (search !== undefined) return searched(scope, search, { names: item, of: of(), cond: plain(by.form.body), item }, s, e);
  if (/^(?:map|filter|reduce)$/.test(local)) return { ...overItems(of(), local, by, start), s, e };
  return byKey(name, local, of(), by.form, { s, e });
}

/** `SortBy(rows, r => r.price)`: the key alone. A minus before it is the other order. */
function byKey(
  name: string,
  local: string,
  of: string,
  { params, body }: { readonly params: readonly string[]; readonly body: Value },
  { s, e }: CallSpans,
): Value | null {
  const [, minus, item, key] = /^(-?)(\w+)\.(\w+)$/.exec(plain(body)) ?? [];
  if (params.length !== 1 || item !== params[0] || key === undefined) return null;
  if (local !== 'groupby' && local !== 'sortby' && local !== 'sort') return null;
  if (local === 'groupby') return minus === '' ? called(`${name}(${of}, "${key}")`, s, e) : null;
  return called(`tool.list.SortBy(${of}, "${key}"${minus === '' ? '' : ', true'})`, s, e);
}

/** The field that a text names; null for any other value. */
function fieldOf({ text, literal, kind }: Value): string | null {
  return (literal === true && kind === 'text' && /^(["'])[A-Za-z_]\w*\1$/.exec(text) && text.slice(1, -1)) || null;
}

/** The list of a field of each item. */
function fieldsOf(of: string, field: string, { s, e }: CallSpans): Value {
  return { text: '', kind: 'list', s, e, form: { k: 'each', names: '_item', of, cond: null, item: `_item.${field}` } };
}
