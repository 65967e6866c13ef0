/** Translates expressions of common languages into NeuroScript. NeuroScript expressions are unchanged. */
import { FOREIGN_VALUES } from '../vocabulary/keywords.ts';
import { group, list, listLiteral, map, typedList } from './brackets.ts';
import { bracketed, call, lacksBrackets } from './functions.ts';
import { type Word, wordsOf } from './lexer.ts';
import { index, member } from './members.ts';
import { BINARY, ORDER, PREFIX_WORDS, PREFIXES, pair, within } from './operators.ts';
import { Reader } from './reader.ts';
import { type Scope, Unclear } from './scope.ts';
import { dollar } from './shell.ts';
import { filled, piecesOf, withEscapes } from './strings.ts';
import { choice, plain, settled, unguarded, type Value } from './values.ts';

const MAX_DEPTH = 180; // Three for each pair of brackets.

/** Most `?.` of one value. Each repeats the text before it. */
const MOST_GUARDS = 8;

const CONSTANTS: Readonly<Record<string, string>> = {
  ...FOREIGN_VALUES,
  TRUE: 'true',
  FALSE: 'false',
  nullptr: 'nil',
  Nil: 'nil',
};

const SPELT: Readonly<Record<string, string>> = { equal: '==', greater: '>', less: '<' };
const NEGATED: Readonly<Record<string, string>> = { '==': '!=', '>': '<=', '<': '>=' };

/** Translates the expression that all of these words form. Throws `Unclear`. */
export function translate(source: string, words: readonly Word[], scope: Scope, depth = 0): Value {
  const reader = new Expression(source, words, scope, depth);
  const value = reader.read();
  if (!reader.done) throw new Unclear();
  return value;
}

export function translateAll(source: string, words: readonly Word[], scope: Scope): readonly Value[] {
  return new Expression(source, words, scope, 0).all();
}

class Expression extends Reader {
  #depth: number;

  constructor(source: string, words: readonly Word[], scope: Scope, depth: number) {
    super(source, words, scope);
    this.#depth = depth;
  }

  all(): readonly Value[] {
    const values: Value[] = [];
    while (!this.done) {
      values.push(this.read());
      if (!this.done) this.expect(',');
    }
    return values;
  }

  read(): Value {
    return this.#deeper(() => this.#conditional());
  }

  /** Every way in which an expression contains another one passes here. */
  #deeper(read: () => Value): Value {
    if (++this.#depth > MAX_DEPTH) throw new Unclear();
    const value = read();
    this.#depth--;
    return value;
  }

  #conditional(): Value {
    const value = unguarded(this.scope, this.operand(1));
    if (this.take('?')) {
      const then = this.read();
      this.expect(':');
      return choice(plain(value), then, this.read(), value.s);
    }
    if (this.peek() === 'if' && this.words.slice(this.at).some(({ text }) => text === 'else')) {
      this.at++;
      const cond = plain(this.operand(1));
      this.expect('else');
      return choice(cond, value, this.read(), value.s);
    }
    return value;
  }

  /** Reads `is equal to`, `is greater than` and similar; null for any other operator. */
  #spelt(): string | null {
    const negated = this.peek(1) === 'not';
    const at = this.at + (negated ? 2 : 1);
    const [kind, than] = [this.words[at]?.text ?? '', this.words[at + 1]?.text];
    const operator = than === 'to' || than === 'than' ? SPELT[kind] : undefined;
    if (operator === undefined) return null;
    this.at = at + 2;
    return negated ? (NEGATED[operator] ?? null) : operator;
  }

  /** Reads `is empty` and `is not empty`; null for anything else. */
  #emptiness({ text, s }: Value): Value | null {
    const negated = this.peek(1) === 'not';
    const last = this.words[this.at + (negated ? 2 : 1)];
    if (last?.text !== 'empty' || this.scope.kinds.has('empty')) return null;
    this.at += negated ? 3 : 2;
    const of = /^[\w.]+$/.test(text) ? text : `(${text})`;
    return { text: `${negated ? 'some' : 'no'} ${of}`, kind: 'truth', s, e: last.e };
  }

  part(words: readonly Word[]): Value {
    return new Expression(this.source, words, this.scope, this.#depth).read();
  }

  operand(level: number): Value {
    if (level > 8) return this.prefix();
    if (level === 3 && /^(?:not|NOT)$/.test(this.peek() ?? '')) return this.#deeper(() => this.#negated());
    let left = this.operand(level + 1);
    for (;;) {
      const word = this.words[this.at];
      const negated = word?.text === 'not' && this.peek(1) === 'in';
      if (level === 3 && (word?.text === 'in' || negated)) {
        this.at += negated ? 2 : 1;
        left = within(this, left, this.operand(level + 1), negated);
        continue;
      }
      const empty = level === 3 && word?.text === 'is' ? this.#emptiness(left) : null;
      if (empty !== null) {
        left = empty;
        continue;
      }
      const words = level === 3 && word?.text === 'is' ? this.#spelt() : null;
      if (words !== null && word !== undefined) {
        left = pair(this, left, word, words, this.operand(level + 1));
        continue;
      }
      const [found, spelling] = (word?.kind === 'text' ? undefined : BINARY.get(word?.text ?? '')) ?? [0, ''];
      if (word === undefined || found !== level) return left;
      this.at++;
      if (spelling === 'contains') {
        left = within(this, this.operand(level + 1), left, false);
        continue;
      }
      const not = word.text === 'is' && this.take('not');
      const operator = not ? '!=' : spelling;
      const right = this.operand(level + 1);
      left = pair(this, left, word, operator, right);
      const next = this.words[this.at]?.text ?? '';
      if (level === 3 && ORDER.has(operator) && ORDER.has(next)) {
        this.at++;
        const third = this.operand(level + 1);
        left = { text: `${left.text} and ${plain(right)} ${next} ${plain(third)}`, kind: 'truth', s: left.s, e: third.e };
      }
    }
  }

  /** `not a == b`. Python negates the comparison; NeuroScript compares a negation. */
  #negated(): Value {
    const word = this.words[this.at++];
    if (word === undefined) throw new Unclear();
    const of = this.operand(3);
    if (of.operator === 'comparison') this.scope.guess();
    const text = of.operator === 'comparison' ? `(${plain(of)})` : plain(of);
    return { text: `not${this.source.slice(word.e, of.s).replace(/^$/, ' ')}${text}`, kind: 'truth', s: word.s, e: of.e };
  }

  prefix(): Value {
    return this.#deeper(() => this.#prefixed());
  }

  #prefixed(): Value {
    const word = this.words[this.at];
    if (word === undefined) throw new Unclear();
    const next = this.words[this.at + 1];
    if (word.kind === 'name' && PREFIX_WORDS.has(word.text) && next !== undefined && !/^[()\]},]$/.test(next.text)) {
      this.at++;
      const of = this.prefix();
      return { text: `${word.text} ${plain(of)}`, kind: word.text === 'typeof' ? 'unknown' : 'truth', s: word.s, e: of.e };
    }
    if (word.text === '#' && next?.kind === 'name') {
      this.at++;
      const of = this.postfix();
      return { text: `len(${plain(of)})`, kind: 'number', s: word.s, e: of.e };
    }
    if (word.text === '...') {
      this.at++;
      return this.prefix();
    }
    if (word.text === '-z' || word.text === '-n') {
      this.at++;
      const of = this.prefix();
      return { text: `${word.text === '-z' ? 'no' : 'some'} ${plain(of)}`, kind: 'truth', s: word.s, e: of.e };
    }
    const isAnswer = word.kind === 'name' && /^(?:yes|no)$/.test(word.text) && !this.scope.kinds.has(word.text);
    if (isAnswer && (next === undefined || /^[)\]},]$/.test(next.text))) {
      this.at++;
      this.scope.guess();
      return { text: word.text === 'yes' ? 'true' : 'false', kind: 'truth', s: word.s, e: word.e };
    }
    if (word.kind === 'name' && next?.text === ':=' && this.at > 0) return this.#named(word);
    // `vec![1, 2]`, `format!("…")`, `&xs`
    if (word.text === '&' || (word.text === 'vec' && next?.text === '!')) {
      this.at += word.text === '&' ? 1 : 2;
      this.take('mut');
      return this.prefix();
    }
    const spelling = PREFIXES[word.text];
    if (spelling !== undefined && word.kind !== 'text') {
      this.at++;
      const negated = this.prefix();
      const tested = spelling.startsWith('not') && negated.guard !== undefined;
      const of = tested
        ? { ...negated, text: `(${negated.guard} and ${plain(negated)})` }
        : settled(this.scope, unguarded(this.scope, negated));
      const gap = word.kind === 'name' ? this.source.slice(word.e, of.s) : '';
      const literal = of.literal === true ? { literal: true } : {};
      const kind = spelling.startsWith('not') ? 'truth' : of.kind;
      return { text: `${spelling}${gap}${plain(of)}`, kind, s: word.s, e: of.e, ...literal };
    }
    if (['await', 'new', 'call'].includes(word.text) && next?.kind === 'name') return this.#marked(word);
    const base = this.postfix();
    if (!this.take('**')) return base;
    const power = this.prefix();
    return { text: `${plain(base)} ** ${plain(power)}`, kind: 'number', s: base.s, e: power.e };
  }

  /** `n := len(xs)` within brackets sets the variable before the statement. */
  #named(word: Word): Value {
    this.at += 2;
    const value = this.read();
    if (this.scope.before === null) throw new Unclear();
    this.scope.before.push(`set ${word.text} = ${plain(value)}`);
    return { ...value, text: word.text, s: word.s };
  }

  /** `await f()`, `new Map()`, `call f()`. */
  #marked(word: Word): Value {
    this.at++;
    if (word.text !== 'new') return { ...this.prefix(), s: word.s };
    const name = this.words[this.at]?.text ?? '';
    this.at++;
    if (this.peek() === '<') while (!this.done && this.words[this.at++]?.text !== '>');
    const args = this.peek() === '(' ? list(this, '(', ')') : [];
    const brace = this.words[this.at];
    if (brace?.text === '{' && args.length === 0) return { ...map(this, brace), s: word.s };
    const e = this.words[this.at - 1]?.e ?? word.e;
    if (/^(?:Map|Object|WeakMap|Dictionary|HashMap|TreeMap|LinkedHashMap)$/.test(name) && args.length === 0)
      return { text: '{}', kind: 'map', s: word.s, e };
    if (/^(?:Set|Array|List|ArrayList|LinkedList|HashSet)$/.test(name) && args.length === 0)
      return { text: '[]', kind: 'list', s: word.s, e };
    const [only] = args;
    if (name === 'Set' && only !== undefined) return { text: `tool.list.Unique(${plain(only)})`, kind: 'list', s: word.s, e };
    if (/(?:Error|Exception)$/.test(name))
      return { text: only === undefined ? `"${name}"` : plain(only), kind: 'text', s: word.s, e };
    throw new Unclear();
  }

  postfix(): Value {
    return this.#deeper(() => this.#withMembers());
  }

  #withMembers(): Value {
    let value = this.#primary();
    const guards: string[] = [];
    for (;;) {
      const word = this.words[this.at];
      const last = this.words[this.at - 1];
      if (word?.text === '!' && this.peek(1) === '(' && last?.e === word.s && this.words[this.at + 1]?.s === word.e) {
        this.at++;
        continue;
      }
      // `"a" . $b` of PHP joins texts.
      const joins = word?.text === '.' && (this.words[this.at + 1]?.kind === 'text' || this.peek(1)?.startsWith('$') === true);
      if (joins) return value;
      if (guards.length >= MOST_GUARDS) throw new Unclear();
      if (word?.text === '?.' && !value.text.includes('(')) guards.push(`${plain(value)} != nil`);
      if (word?.text === '.' || word?.text === '?.') {
        this.at++;
        if (this.peek() === '[') continue;
        value = member(this, value);
      } else if (word?.text === '[' && last !== undefined) value = index(this, value);
      else if (
        word?.text === '(' &&
        (last?.e === word.s || last?.text === '!') &&
        /^[\w.]+$/.test(value.text) &&
        value.kind !== 'number'
      )
        value = call(this, value);
      else if (lacksBrackets(this, value, last)) value = bracketed(this, value);
      else return guards.length === 0 ? value : { ...value, guard: guards.join(' and ') };
    }
  }

  #primary(): Value {
    const word = this.words[this.at];
    if (word === undefined) throw new Unclear();
    const { s, e, text } = word;
    if (word.kind === 'number') {
      this.at++;
      return { text, kind: 'number', s, e, literal: true };
    }
    if (word.kind === 'text') {
      this.at++;
      return this.#text(word);
    }
    if (text === '(' || word.kind === 'name') {
      const arrow = this.#arrow();
      if (arrow !== null) return arrow;
    }
    if (text === '(') return group(this, word);
    if (text === '[' && this.peek(1) === ']' && this.words[this.at + 2]?.kind === 'name' && this.peek(3) === '{') {
      this.at += 3;
      return { ...typedList(this, word), s };
    }
    if (text === '[') return listLiteral(this, word);
    if (text === '{') return map(this, word);
    if (text.startsWith('$') || text === '@') return dollar(this, word);
    if (word.kind !== 'name') throw new Unclear();
    this.at++;
    const constant = CONSTANTS[text];
    if (constant !== undefined && !this.scope.kinds.has(text))
      return { text: constant, kind: /^(?:true|false)$/.test(constant) ? 'truth' : 'unknown', s, e, literal: true };
    if (this.scope.caught.includes(text) && this.peek() !== '.') return { text: 'system_error.message', kind: 'text', s, e };
    return { text, kind: this.scope.kindOf(text), s, e, items: this.scope.items.get(text) };
  }

  /** `x => …`, `(a, b) => …`, `lambda x: …`. */
  #arrow(): Value | null {
    const s = this.words[this.at]?.s ?? 0;
    let at = this.at;
    const lambda = this.peek() === 'lambda';
    if (lambda) at++;
    const params: string[] = [];
    for (; at < this.words.length; at++) {
      const word = this.words[at];
      if (word?.kind === 'name') params.push(word.text);
      else if (word?.text !== '(' && word?.text !== ')' && (word?.text !== ',' || (!lambda && this.peek() !== '('))) break;
      if (params.length > 4) return null;
    }
    if (this.words[at]?.text !== (lambda ? ':' : '=>')) return null;
    this.at = at + 1;
    const body = this.read();
    return { text: '', kind: 'unknown', s, e: body.e, form: { k: 'arrow', params, body } };
  }

  #text(word: Word): Value {
    const { s, e, text } = word;
    const pieces = piecesOf(text, this.scope.dollars, this.scope.filled);
    const [only] = pieces;
    const holes = pieces.some((piece) => 'source' in piece);
    if (holes && text.startsWith('"') && !this.scope.shell && !text.includes('#{')) this.scope.guess();
    // Single quotes keep a backslash in NeuroScript and in the shell.
    const escapes = text.startsWith("'") && text.includes('\\') && !this.scope.shell;
    if (escapes) this.scope.guess();
    const hole = (source: string): string => plain(settled(this.scope, this.#inner(source)));
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
      return { text: hole(only.source), kind: this.scope.kindOf(only.source), s, e };
    const unclosed = /^(["'])(?:(?!\1)[^\\]|\\.)*$/.test(text);
    if (unclosed) this.scope.guess();
    // Python keeps the backslash of what is no escape, as in a pattern. Others leave it out before a mark.
    const quoted = /^(?:["']|```)/.test(text) && !/^(?:"""|''')/.test(text) && !text.startsWith('`');
    const closed = quoted && text.length > 1 && text.endsWith(text.charAt(0)) && !unclosed;
    const escaped = closed && !holes ? withEscapes(text) : text;
    if (escaped !== text) {
      if (['$', '#', '{', '@', '%'].some((mark) => text.includes(`\\${mark}`))) this.scope.guess();
      return { text: escaped, kind: 'text', s, e, literal: true, worded: true };
    }
    const same =
      /^(?:["']|```)/.test(text) &&
      !/^(?:"""|''')/.test(text) &&
      !escapes &&
      pieces.every((piece) => 'fixed' in piece || (text.startsWith('```') && text.includes(`{{${piece.source}}}`)));
    const worded = pieces.some((piece) => 'fixed' in piece && /[^\d\s.eE+-]/.test(piece.fixed));
    if (same) return { text: unclosed ? text + text.charAt(0) : text, kind: 'text', s, e, literal: true, worded };
    return {
      text: filled(pieces.map((piece) => ('fixed' in piece ? piece.fixed : { value: hole(piece.source) }))),
      kind: 'text',
      s,
      e,
      literal: true,
      worded,
    };
  }

  /** Source within a string. `{n:.2f}` rounds. */
  #inner(source: string): Value {
    const rounded = /^(.*):\.(\d)f$/.exec(source);
    const read = rounded?.[1] ?? source;
    const value = translate(read, this.scope.renamed(wordsOf(read)), this.scope, this.#depth + 1);
    if (rounded !== null) this.scope.guess();
    return rounded === null ? value : { ...value, text: `tool.math.Round(${plain(value)}, ${rounded[2]})` };
  }
}
