/** Reads expressions of common languages and writes them in NeuroScript. What is NeuroScript already stays as it is. */
import { FOREIGN_VALUES, KEYWORDS } from '../vocabulary/keywords.ts';
import { functionCall, type Kind, kindOfCall, methodCall, TYPE_TESTS } from './calls.ts';
import { type Scope, Unclear } from './scope.ts';
import { filled, piecesOf } from './strings.ts';
import { plain, type Value } from './values.ts';
import { type Word, wordsOf } from './words.ts';

const MAX_DEPTH = 60;

/** Binary operators: how tightly they bind, and how NeuroScript spells them. */
const BINARY: ReadonlyMap<string, readonly [level: number, spelling: string]> = new Map(
  [
    [1, 'or or', '|| or', '?? or', 'OR or'],
    [2, 'and and', '&& and', 'AND and'],
    [3, '== ==', '!= !=', '=== ==', '!== !=', '< <', '> >', '<= <=', '>= >=', '~= !=', '<> !=', '≠ !=', '≤ <=', '≥ >=', '= =='],
    [3, '-eq ==', '-ne !=', '-gt >', '-lt <', '-ge >=', '-le <=', 'eq ==', 'ne !=', 'is ==', 'equals =='],
    [4, '| |'],
    [5, '^ ^'],
    [6, '& &'],
    [7, '+ +', '- -', '.. +', '– -', '− -'],
    [8, '* *', '/ /', '% %', 'mod %', 'MOD %', '// //', '× *', '÷ /'],
  ].flatMap(([level, ...rows]) =>
    rows.map((row): [string, [number, string]] => {
      const [foreign = '', spelling = ''] = `${row}`.split(' ');
      return [foreign, [Number(level), spelling]];
    }),
  ),
);

const ORDER = new Set(['<', '>', '<=', '>=']);
const PREFIXES: Readonly<Record<string, string>> = { '!': 'not ', not: 'not', NOT: 'not', '-': '-', '–': '-', '~': '~' };
const PREFIX_WORDS = new Set(['no', 'some', 'typeof']);
const CONSTANTS: Readonly<Record<string, string>> = {
  ...FOREIGN_VALUES,
  TRUE: 'true',
  FALSE: 'false',
  nullptr: 'nil',
  Nil: 'nil',
};
const NAMESPACES = new Set(['json', 'math', 'Math', 'JSON', 'Object', 'Array', 'Promise', 'Number', 'String']);
const RESERVED = new Set<string>(KEYWORDS);

/** Translates the expression that all of these words form. Throws `Unclear`. */
export function translate(source: string, words: readonly Word[], scope: Scope, depth = 0): Value {
  const reader = new Expression(source, words, scope, depth);
  const value = reader.read();
  if (!reader.done) throw new Unclear();
  return value;
}

/** Translates expressions with commas between them. */
export function translateAll(source: string, words: readonly Word[], scope: Scope): readonly Value[] {
  return new Expression(source, words, scope, 0).all();
}

class Expression {
  readonly #source: string;
  readonly #words: readonly Word[];
  readonly #scope: Scope;
  #at = 0;
  #depth: number;

  constructor(source: string, words: readonly Word[], scope: Scope, depth: number) {
    this.#source = source;
    this.#words = words.filter(({ kind }) => kind !== 'end' && kind !== 'comment');
    this.#scope = scope;
    this.#depth = depth;
  }

  get done(): boolean {
    return this.#at >= this.#words.length;
  }

  all(): readonly Value[] {
    const values: Value[] = [];
    while (!this.done) {
      values.push(this.read());
      if (!this.done) this.#expect(',');
    }
    return values;
  }

  /** An expression, with what NeuroScript has statements for. */
  read(): Value {
    if (++this.#depth > MAX_DEPTH) throw new Unclear();
    const value = this.#conditional();
    this.#depth--;
    return value;
  }

  #conditional(): Value {
    const value = this.#binary(1);
    if (this.#take('?')) {
      const then = this.read();
      this.#expect(':');
      return this.#choice(plain(value), then, this.read(), value.s);
    }
    if (this.#peek() === 'if' && this.#words.slice(this.#at).some(({ text }) => text === 'else')) {
      this.#at++;
      const cond = plain(this.#binary(1));
      this.#expect('else');
      return this.#choice(cond, value, this.read(), value.s);
    }
    return value;
  }

  #choice(cond: string, then: Value, otherwise: Value, s: number): Value {
    return { text: '', kind: then.kind, s, e: otherwise.e, form: { k: 'choice', cond, then, otherwise } };
  }

  #binary(level: number): Value {
    if (level > 8) return this.#prefix();
    let left = this.#binary(level + 1);
    for (;;) {
      const word = this.#words[this.#at];
      const negated = word?.text === 'not' && this.#peek(1) === 'in';
      if (level === 3 && (word?.text === 'in' || negated)) {
        this.#at += negated ? 2 : 1;
        left = this.#within(left, this.#binary(level + 1), negated);
        continue;
      }
      const [found, spelling] = (word?.kind === 'text' ? undefined : BINARY.get(word?.text ?? '')) ?? [0, ''];
      if (word === undefined || found !== level) return left;
      this.#at++;
      const not = word.text === 'is' && this.#take('not');
      const operator = not ? '!=' : spelling;
      const right = this.#binary(level + 1);
      left = this.#pair(left, word, operator, right);
      const next = this.#words[this.#at]?.text ?? '';
      if (level === 3 && ORDER.has(operator) && ORDER.has(next)) {
        this.#at++;
        const third = this.#binary(level + 1);
        left = { ...left, text: `${left.text} and ${plain(right)} ${next} ${plain(third)}`, e: third.e };
      }
    }
  }

  #pair(left: Value, word: Word, operator: string, right: Value): Value {
    const { s } = left;
    const { e } = right;
    if (operator === 'or' && right.literal === true) {
      if (left.element !== undefined) {
        this.#scope.guess();
        return { text: `tool.map.Get(${left.element.of}, ${left.element.key}, ${plain(right)})`, kind: right.kind, s, e };
      }
      if (/^\w+$/.test(left.text)) {
        const cond = word.text === '??' ? `${left.text} != nil` : `some ${left.text}`;
        return this.#choice(cond, left, right, s);
      }
    }
    if (operator === '//') return { text: `tool.math.Floor(${plain(left)} / ${plain(right)})`, kind: 'number', s, e };
    if (operator === '|' && /^tool\.[\w.]+$/.test(right.text)) return this.#called(`${right.text}(${plain(left)})`, s, e);
    if (operator === '%' && left.literal === true && left.kind === 'text') return this.#formatted(left, right);
    const joins = operator === '&' && (left.kind === 'text' || right.kind === 'text');
    const written = joins ? '+' : operator;
    const before = this.#source.slice(left.e, word.s);
    const after = this.#source.slice(word.e, right.s);
    const blank = (gap: string): string => (gap === '' && /\w/.test(written) ? ' ' : gap.replace(/\u00a0/g, ' '));
    const text = `${plain(left)}${blank(before)}${written}${blank(after)}${plain(right)}`;
    const kind: Kind =
      operator !== '+' && !joins ? (/^[-*/%]/.test(operator) ? 'number' : 'unknown') : left.kind === 'text' ? 'text' : right.kind;
    return { text, kind, s, e };
  }

  #within(item: Value, list: Value, negated: boolean): Value {
    const call =
      methodCall('in', plain(list), list.kind, [plain(item)]) ??
      this.#guessed(`tool.list.Contains(${plain(list)}, ${plain(item)})`);
    return { text: negated ? `not ${call}` : call, kind: 'unknown', s: item.s, e: list.e };
  }

  #guessed(text: string): string {
    this.#scope.guess();
    return text;
  }

  /** `"n = %d" % n` */
  #formatted(left: Value, right: Value): Value {
    const values = right.form?.k === 'items' ? right.form.items : [plain(right)];
    return { text: fillFormat(left.text, values), kind: 'text', s: left.s, e: right.e };
  }

  #prefix(): Value {
    const word = this.#words[this.#at];
    if (word === undefined) throw new Unclear();
    const next = this.#words[this.#at + 1];
    if (word.kind === 'name' && PREFIX_WORDS.has(word.text) && next?.text !== '(') {
      this.#at++;
      const of = this.#prefix();
      return { text: `${word.text} ${plain(of)}`, kind: 'unknown', s: word.s, e: of.e };
    }
    if (word.text === '-z' || word.text === '-n') {
      this.#at++;
      const of = this.#prefix();
      return { text: `${word.text === '-z' ? 'no' : 'some'} ${plain(of)}`, kind: 'unknown', s: word.s, e: of.e };
    }
    const spelling = PREFIXES[word.text];
    if (spelling !== undefined && word.kind !== 'text') {
      this.#at++;
      const of = this.#prefix();
      const gap = word.kind === 'name' ? this.#source.slice(word.e, of.s) : '';
      const literal = of.literal === true ? { literal: true } : {};
      return { text: `${spelling}${gap}${plain(of)}`, kind: of.kind, s: word.s, e: of.e, ...literal };
    }
    if (['await', 'new', 'call'].includes(word.text) && next?.kind === 'name') return this.#marked(word);
    const base = this.#postfix();
    if (!this.#take('**')) return base;
    const power = this.#prefix();
    return { text: `${plain(base)} ** ${plain(power)}`, kind: 'number', s: base.s, e: power.e };
  }

  /** `await f()`, `new Map()`, `call f()`. */
  #marked(word: Word): Value {
    this.#at++;
    if (word.text !== 'new') return { ...this.#prefix(), s: word.s };
    const name = this.#words[this.#at]?.text ?? '';
    this.#at++;
    const args = this.#peek() === '(' ? this.#list('(', ')') : [];
    const e = this.#words[this.#at - 1]?.e ?? word.e;
    if (/^(?:Map|Object|WeakMap)$/.test(name) && args.length === 0) return { text: '{}', kind: 'map', s: word.s, e };
    if (/^(?:Set|Array)$/.test(name) && args.length === 0) return { text: '[]', kind: 'list', s: word.s, e };
    const [only] = args;
    if (name === 'Set' && only !== undefined) return { text: `tool.list.Unique(${plain(only)})`, kind: 'list', s: word.s, e };
    if (/(?:Error|Exception)$/.test(name))
      return { text: only === undefined ? `"${name}"` : plain(only), kind: 'text', s: word.s, e };
    throw new Unclear();
  }

  #postfix(): Value {
    let value = this.#primary();
    for (;;) {
      const word = this.#words[this.#at];
      const last = this.#words[this.#at - 1];
      if (word?.text === '.' || word?.text === '?.') {
        this.#at++;
        if (this.#peek() === '[') continue;
        value = this.#member(value);
      } else if (word?.text === '[' && last !== undefined) value = this.#index(value);
      else if (word?.text === '(' && last?.e === word.s && /^[\w.]+$/.test(value.text) && value.kind !== 'number')
        value = this.#call(value);
      else return value;
    }
  }

  #member(of: Value): Value {
    const word = this.#words[this.#at];
    if (word?.kind !== 'name') throw new Unclear();
    this.#at++;
    const name = word.text;
    if (
      /^(?:tool|json|math|Math|JSON|Object|Array|Promise|Number|String)\b[\w.]*$/.test(of.text) &&
      !this.#scope.kinds.has(of.text)
    )
      return { text: `${of.text}.${name}`, kind: 'unknown', s: of.s, e: word.e };
    if (this.#peek() === '(') return this.#method(of, name);
    if (this.#scope.caught.includes(of.text)) return { text: `system_error.${name}`, kind: 'unknown', s: of.s, e: word.e };
    if (name === 'length' || (name === 'size' && of.kind !== 'unknown'))
      return { text: `len(${plain(of)})`, kind: 'number', s: of.s, e: word.e };
    return { text: `${plain(of)}.${name}`, kind: 'unknown', s: of.s, e: word.e, element: { of: plain(of), key: `"${name}"` } };
  }

  #method(of: Value, name: string): Value {
    const args = this.#list('(', ')');
    const e = this.#words[this.#at - 1]?.e ?? of.e;
    const { s } = of;
    const [first, second] = args;
    if (first?.form?.k === 'arrow') return { ...this.#overItems(plain(of), name, first, second), s, e };
    const texts = args.map(plain);
    const whole = this.#ranges(of, name, texts);
    if (whole !== undefined) return { text: whole, kind: of.kind, s, e };
    if (name === 'format' && of.literal === true) return { text: fillFormat(of.text, texts), kind: 'text', s, e };
    if (name === 'get' && texts.length === 1) return { text: `${plain(of)}[${texts[0]}]`, kind: 'unknown', s, e };
    const kind = of.kind === 'unknown' && /^(?:includes|contains|include|index|indexOf)$/.test(name) ? 'list' : of.kind;
    const text = methodCall(name, plain(of), kind, texts);
    if (text === undefined) throw new Unclear();
    if (kind !== of.kind || name === 'pop') this.#scope.guess();
    if (name === 'pop') this.#scope.after.push(`set ${plain(of)} = tool.list.Slice(${plain(of)}, 0, len(${plain(of)}) - 1)`);
    const same = ['concat', 'copy'].includes(name) ? of.kind : kindOfCall(text);
    return { text, kind: same, s, e };
  }

  /** `slice`, `substring` and `at`, whose arguments count otherwise. */
  #ranges(of: Value, name: string, [from, to]: readonly string[]): string | undefined {
    const text = plain(of);
    if (name === 'at' && from !== undefined) return `${text}[${from.startsWith('-') ? `len(${text}) - ${from.slice(1)}` : from}]`;
    if (name !== 'slice' && name !== 'substring') return undefined;
    if (from === undefined) return undefined;
    return this.#slice(text, name === 'substring' ? 'text' : of.kind, from, to ?? `len(${text})`);
  }

  #slice(of: string, kind: Kind, from: string, to: string): string {
    const end = to.startsWith('-') ? `len(${of}) - ${to.slice(1)}` : to;
    const begin = from.startsWith('-') ? `len(${of}) - ${from.slice(1)}` : from;
    if (kind === 'unknown') this.#scope.guess();
    return kind === 'text'
      ? `tool.str.Substring(${of}, ${begin}, ${difference(end, begin)})`
      : `tool.list.Slice(${of}, ${begin}, ${end})`;
  }

  /** `xs.map(x => …)`, `xs.filter(…)`, `xs.reduce(…)`. */
  #overItems(of: string, name: string, { form, s, e }: Value, start: Value | undefined): Value {
    if (form?.k !== 'arrow') throw new Unclear();
    const [first = '_item', second] = form.params;
    const body = plain(form.body);
    const names = second === undefined ? first : `${second}, ${first}`;
    if (name === 'map') return { text: '', kind: 'list', s, e, form: { k: 'each', names, of, cond: null, item: body } };
    if (name === 'filter') return { text: '', kind: 'list', s, e, form: { k: 'each', names, of, cond: body, item: first } };
    if (name !== 'reduce' || start === undefined || second === undefined) throw new Unclear();
    return {
      text: '',
      kind: start.kind,
      s,
      e,
      form: { k: 'fold', list: of, sum: first, item: second, start: plain(start), body },
    };
  }

  #index(of: Value): Value {
    this.#expect('[');
    const text = plain(of);
    const from = this.#peek() === ':' ? null : this.read();
    if (this.#take(':')) {
      const to = this.#peek() === ']' ? null : this.read();
      const e = this.#expect(']').e;
      const sliced = this.#slice(text, of.kind, from === null ? '0' : plain(from), to === null ? `len(${text})` : plain(to));
      return { text: sliced, kind: of.kind, s: of.s, e };
    }
    if (from === null) throw new Unclear();
    const e = this.#expect(']').e;
    const key = plain(from);
    const negative = from.literal === true && key.startsWith('-') && of.kind !== 'map';
    const at = negative ? `len(${text}) - ${key.slice(1)}` : key;
    return { text: `${text}[${at}]`, kind: 'unknown', s: of.s, e, element: { of: text, key } };
  }

  #call(of: Value): Value {
    const at = this.#at;
    const name = of.text;
    const args = this.#list('(', ')');
    const open = this.#words[at];
    const last = this.#words[this.#at - 1];
    if (open === undefined || last === undefined) throw new Unclear();
    const { s } = of;
    const { e } = last;
    const texts = args.map(plain);
    if (name === 'isinstance' && texts.length === 2) {
      const test = TYPE_TESTS[texts[1] ?? ''];
      if (test !== undefined) return { text: `${test}(${texts[0]})`, kind: 'unknown', s, e };
    }
    if (name === 'dict') return { text: `{${this.#named(at)}}`, kind: 'map', s, e };
    const known = this.#scope.procedures.has(name) || name.startsWith('tool.') || (RESERVED.has(name) && name !== 'set');
    const foreign = known ? undefined : functionCall(name, texts);
    if (foreign !== undefined)
      return { ...this.#called(foreign, s, e), kind: foreign.startsWith('"') ? 'text' : kindOfCall(foreign) };
    if (NAMESPACES.has(name.split('.')[0] ?? '') && !known) throw new Unclear();
    return this.#called(`${name}${this.#source.slice(open.s, open.e)}${this.#between(args, open, last)})`, s, e);
  }

  #called(text: string, s: number, e: number): Value {
    return { text, kind: kindOfCall(text), s, e };
  }

  /** The items of a bracket as they stand, each translated. */
  #between(items: readonly Value[], open: Word, close: Word): string {
    let text = '';
    let at = open.e;
    for (const item of items) {
      const gap = this.#source.slice(at, item.s);
      const first = at === open.e;
      const other = gap.includes('=') || gap.includes(';') || (gap.trim() === '' && !first);
      text += other ? (first ? '' : ', ') : gap;
      text += plain(item);
      at = item.e;
    }
    return (
      text +
      (close.text === ')' || close.text === ']' || close.text === '}' ? this.#source.slice(at, close.s).replace(/,\s*$/, '') : '')
    );
  }

  /** `a=1, b=2` as the inside of a map. */
  #named(at: number): string {
    const parts: string[] = [];
    for (let index = at + 1; index < this.#at - 1; index++) {
      const [name, equals] = [this.#words[index], this.#words[index + 1]];
      if (name?.kind !== 'name' || equals?.text !== '=') continue;
      const rest = new Expression(this.#source, this.#words.slice(index + 2, this.#at - 1), this.#scope, this.#depth);
      parts.push(`"${name.text}": ${plain(rest.read())}`);
    }
    return parts.join(', ');
  }

  /** Items in brackets with commas between them. A missing comma or closing bracket is put in. */
  #list(open: string, close: string): readonly Value[] {
    this.#expect(open);
    const items: Value[] = [];
    while (!this.done && this.#peek() !== close) {
      if (this.#words[this.#at]?.kind === 'name' && this.#peek(1) === '=' && open === '(') {
        this.#scope.guess();
        this.#at += 2;
      }
      items.push(this.read());
      if (this.#peek() === close || this.#take(',')) continue;
      this.#take(';');
      this.#scope.guess();
    }
    if (!this.#take(close)) this.#scope.guess();
    return items;
  }

  #primary(): Value {
    const word = this.#words[this.#at];
    if (word === undefined) throw new Unclear();
    const { s, e, text } = word;
    if (word.kind === 'number') {
      this.#at++;
      return { text, kind: 'number', s, e, literal: true };
    }
    if (word.kind === 'text') {
      this.#at++;
      return this.#text(word);
    }
    if (text === '(' || word.kind === 'name') {
      const arrow = this.#arrow();
      if (arrow !== null) return arrow;
    }
    if (text === '(') return this.#group(word);
    if (text === '[') return this.#listLiteral(word);
    if (text === '{') return this.#map(word);
    if (text.startsWith('$')) return this.#dollar(word);
    if (word.kind !== 'name') throw new Unclear();
    this.#at++;
    const constant = CONSTANTS[text];
    if (constant !== undefined && !this.#scope.kinds.has(text)) return { text: constant, kind: 'unknown', s, e };
    if (this.#scope.caught.includes(text) && this.#peek() !== '.') return { text: 'system_error.message', kind: 'text', s, e };
    return { text, kind: this.#scope.kindOf(text), s, e };
  }

  /** `x => …`, `(a, b) => …`, `lambda x: …`. */
  #arrow(): Value | null {
    const s = this.#words[this.#at]?.s ?? 0;
    let at = this.#at;
    const lambda = this.#peek() === 'lambda';
    if (lambda) at++;
    const params: string[] = [];
    for (; at < this.#words.length; at++) {
      const word = this.#words[at];
      if (word?.kind === 'name') params.push(word.text);
      else if (word?.text !== '(' && word?.text !== ')' && word?.text !== ',') break;
      if (params.length > 4) return null;
    }
    if (this.#words[at]?.text !== (lambda ? ':' : '=>')) return null;
    this.#at = at + 1;
    const body = this.read();
    return { text: '', kind: 'unknown', s, e: body.e, form: { k: 'arrow', params, body } };
  }

  #text(word: Word): Value {
    const { s, e, text } = word;
    const pieces = piecesOf(text, this.#scope.dollars);
    const [only] = pieces;
    const hole = (source: string): string => plain(this.#inner(source));
    if (
      text.startsWith('`') &&
      !text.startsWith('```') &&
      pieces.length === 1 &&
      only !== undefined &&
      'fixed' in only &&
      /^tool\./.test(only.fixed)
    )
      return { ...this.#inner(only.fixed), s, e };
    if (pieces.length === 1 && only !== undefined && 'source' in only && !text.startsWith('`'))
      return { text: hole(only.source), kind: this.#scope.kindOf(only.source), s, e };
    const unclosed = /^(["'])(?:(?!\1)[^\\]|\\.)*$/.test(text);
    if (unclosed) this.#scope.guess();
    const same =
      /^(?:["']|```)/.test(text) &&
      !/^"""/.test(text) &&
      pieces.every((piece) => 'fixed' in piece || (text.startsWith('```') && text.includes(`{{${piece.source}}}`)));
    if (same) return { text: unclosed ? text + text.charAt(0) : text, kind: 'text', s, e, literal: true };
    return {
      text: filled(pieces.map((piece) => ('fixed' in piece ? piece.fixed : { value: hole(piece.source) }))),
      kind: 'text',
      s,
      e,
      literal: true,
    };
  }

  /** Source within a string. `{n:.2f}` rounds. */
  #inner(source: string): Value {
    const rounded = /^(.*):\.(\d)f$/.exec(source);
    const read = rounded?.[1] ?? source;
    const value = translate(read, wordsOf(read), this.#scope, this.#depth + 1);
    return rounded === null ? value : { ...value, text: `tool.math.Round(${plain(value)}, ${rounded[2]})` };
  }

  #group(open: Word): Value {
    const at = this.#at;
    const items = this.#list('(', ')');
    const last = this.#words[this.#at - 1] ?? open;
    const [only] = items;
    const comma = this.#words[this.#at - 2]?.text === ',';
    if (items.length !== 1 || comma || only === undefined) {
      if (this.#words.slice(at, this.#at).some(({ text }) => text === ';')) throw new Unclear();
      return { text: '', kind: 'list', s: open.s, e: last.e, form: { k: 'items', items: items.map(plain) } };
    }
    if (only.form !== undefined) return { ...only, s: open.s, e: last.e };
    return { text: `(${this.#between(items, open, last)})`, kind: only.kind, s: open.s, e: last.e };
  }

  #listLiteral(open: Word): Value {
    const comprehension = this.#comprehension(open);
    if (comprehension !== null) return comprehension;
    const items = this.#list('[', ']');
    const last = this.#words[this.#at - 1] ?? open;
    return { text: `[${this.#between(items, open, last)}]`, kind: 'list', s: open.s, e: last.e, literal: true };
  }

  /** `[x * 2 for x in xs if x > 2]` */
  #comprehension(open: Word): Value | null {
    const start = this.#at;
    const found = this.#words.findIndex(({ text }, index) => index > start && text === 'for');
    if (found < 0) return null;
    this.#expect('[');
    const item = plain(this.read());
    if (!this.#take('for')) {
      this.#at = start;
      return null;
    }
    const names: string[] = [];
    while (!this.done && !this.#take('in')) names.push(this.#words[this.#at++]?.text ?? '');
    const of = plain(this.#binary(1));
    const cond = this.#take('if') ? plain(this.#binary(1)) : null;
    const e = this.#expect(']').e;
    const form = { k: 'each', names: names.join('').replace(/,/g, ', '), of, cond, item } as const;
    return { text: '', kind: 'list', s: open.s, e, form };
  }

  #map(open: Word): Value {
    this.#expect('{');
    const parts: string[] = [];
    const spread: string[] = [];
    const range = this.#range(open);
    if (range !== null) return range;
    let [at, changed] = [open.e, false];
    while (!this.done && this.#peek() !== '}') {
      const word = this.#words[this.#at];
      if (this.#take('...')) {
        if (parts.length > 0) throw new Unclear();
        spread.push(plain(this.read()));
        at = this.#words[this.#at]?.e ?? at;
        this.#take(',');
        continue;
      }
      const key = this.read();
      const bare = word?.kind === 'name' && key.text === word.text && !this.#scope.kinds.has(word.text);
      const lead = parts.length === 0 && spread.length > 0 ? '' : this.#source.slice(at, key.s);
      if (this.#peek() === ',' || this.#peek() === '}') {
        if (word?.kind !== 'name') throw new Unclear();
        parts.push(`${lead}"${key.text}": ${key.text}`);
        changed = true;
        at = key.e;
      } else {
        if (!this.#take(':') && !this.#take('=>') && !this.#take('=')) throw new Unclear();
        const value = this.read();
        parts.push(`${lead}${bare ? `"${plain(key)}"` : plain(key)}: ${plain(value)}`);
        at = value.e;
      }
      if (this.#peek() === '}') break;
      if (this.#peek() === ',') {
        parts.push(this.#source.slice(at, this.#words[this.#at]?.e));
        at = this.#words[this.#at]?.e ?? at;
      }
      this.#expect(',');
    }
    const close = this.#expect('}');
    const text = `{${parts.join('')}${spread.length === 0 ? this.#source.slice(at, close.s) : ''}}`;
    const kind = 'map';
    if (spread.length === 0) return { text, kind, s: open.s, e: close.e, ...(changed ? {} : { literal: true }) };
    const merged = spread.reduce((all, one) => `tool.map.Merge(${all}, ${one})`);
    return { text: parts.length === 0 ? merged : `tool.map.Merge(${merged}, ${text})`, kind, s: open.s, e: close.e };
  }

  /** `{1..3}` */
  #range(open: Word): Value | null {
    const [from, dots, to, close] = this.#words.slice(this.#at);
    if (from?.kind !== 'number' || dots?.text !== '..' || to?.kind !== 'number' || close?.text !== '}') return null;
    this.#at += 4;
    return { text: `tool.list.Range(${from.text}, ${plus(to.text)})`, kind: 'list', s: open.s, e: close.e };
  }

  /** `$n`, `${n}`, `${#n}`, `${n:-5}`, `$((n + 1))`, `$(call)`. */
  #dollar(open: Word): Value {
    this.#at++;
    const { s } = open;
    if (open.text === '$((') {
      const value = this.read();
      this.#expect(')');
      return { text: `(${plain(value)})`, kind: 'number', s, e: this.#expect(')').e };
    }
    if (open.text === '$(') {
      if (this.#take('seq')) {
        const numbers: string[] = [];
        while (!this.done && this.#peek() !== ')') numbers.push(plain(this.#prefix()));
        const [from = '1', to] = numbers.length === 1 ? ['1', ...numbers] : numbers;
        if (to === undefined || numbers.length > 2) throw new Unclear();
        return { text: `tool.list.Range(${from}, ${plus(to)})`, kind: 'list', s, e: this.#expect(')').e };
      }
      const value = this.read();
      return { ...value, s, e: this.#expect(')').e };
    }
    if (open.text === '$') {
      const word = this.#words[this.#at];
      if (word?.kind !== 'name') throw new Unclear();
      this.#at++;
      return { text: word.text, kind: this.#scope.kindOf(word.text), s, e: word.e };
    }
    return this.#braced(s);
  }

  #braced(s: number): Value {
    const counts = this.#take('#');
    const value = this.#postfixWithoutStars();
    if (this.#take(':')) {
      this.#expect('-');
      const otherwise = this.read();
      const e = this.#expect('}').e;
      const [of, key] = [value.element?.of, value.element?.key];
      if (of === undefined || key === undefined) return this.#choice(`${plain(value)} != nil`, value, otherwise, s);
      return { text: `tool.map.Get(${of}, ${key}, ${plain(otherwise)})`, kind: otherwise.kind, s, e };
    }
    const e = this.#expect('}').e;
    return { ...value, text: counts ? `len(${plain(value)})` : value.text, s, e };
  }

  /** A name of the shell, with `[@]` for all of it. */
  #postfixWithoutStars(): Value {
    const [name, open, all, close] = this.#words.slice(this.#at);
    const whole = open?.text === '[' && (all?.text === '@' || all?.text === '*') && close?.text === ']';
    if (name?.kind !== 'name' || !whole) return this.#postfix();
    this.#at += 4;
    return { text: name.text, kind: 'list', s: name.s, e: close.e };
  }

  #peek(ahead = 0): string | undefined {
    const word = this.#words[this.#at + ahead];
    return word?.kind === 'text' ? undefined : word?.text;
  }

  #take(text: string): boolean {
    if (this.#peek() !== text) return false;
    this.#at++;
    return true;
  }

  #expect(text: string): Word {
    const word = this.#words[this.#at];
    if (word === undefined || !this.#take(text)) throw new Unclear();
    return word;
  }
}

/** `"n is {}"` or `"n is %d"` with values filled in. */
export function fillFormat(written: string, values: readonly string[]): string {
  const parts = written
    .slice(1, -1)
    .replace(/\\n$/, '')
    .split(/\{\d*\}|%[\d.]*[a-z]/);
  if (parts.length !== values.length + 1) throw new Unclear();
  const pieces = parts.flatMap((fixed, index) => {
    const value = values[index];
    return [...(fixed === '' ? [] : [fixed]), ...(value === undefined ? [] : [{ value }])];
  });
  return filled(pieces);
}

/** One more than a number that is written down, or a sum. */
export function plus(text: string): string {
  return /^-?\d+$/.test(text) ? `${Number(text) + 1}` : `${text} + 1`;
}

function difference(end: string, begin: string): string {
  if (begin === '0') return end;
  return /^\d+$/.test(end) && /^\d+$/.test(begin) ? `${Number(end) - Number(begin)}` : `${end} - ${begin}`;
}
