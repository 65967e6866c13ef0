/** Statements of other languages that stand alone, as statements of NeuroScript. */
import { KEYWORDS } from '../vocabulary/keywords.ts';
import { nearestName } from '../vocabulary/names.ts';
import { translate, translateAll } from './expression.ts';
import { type Scope, Unclear } from './scope.ts';
import { OPERATORS, operatorAt, separate, separateAtCommas, wraps } from './split.ts';
import { fillFormat, quoted } from './strings.ts';
import { lifted, plain, type Value } from './values.ts';
import type { Word } from './words.ts';

const DECLARES = new Set('let const var local my readonly dim auto val final declare export'.split(' '));
const PRINTS = new Set(
  'print println printf echo puts say write display output console.log fmt.Println console.info System.out.println'.split(' '),
);
const KEYWORD_SET = new Set<string>(KEYWORDS);
const STATEMENTS = ['set', 'emit', 'call', 'return', 'fail', 'must', 'whisper', 'break', 'continue'];

/** The lines that stand for a statement; none for one to be deleted. Throws `Unclear`. */
export function simple(source: string, words: readonly Word[], scope: Scope): readonly string[] {
  return new Simple(source, words, scope).lines();
}

class Simple {
  readonly #source: string;
  readonly #words: readonly Word[];
  readonly #scope: Scope;

  constructor(source: string, words: readonly Word[], scope: Scope) {
    this.#source = source;
    this.#words = words;
    this.#scope = scope;
  }

  lines(): readonly string[] {
    this.#scope.after = [];
    this.#scope.dollars = PRINTS.has(this.#first) || /^\[|^\$/.test(this.#first);
    const lines = this.#guarded() ?? this.#statement();
    return [...lines, ...this.#scope.after];
  }

  get #first(): string {
    return this.#words[0]?.text ?? '';
  }

  #text(index: number): string {
    return this.#words[index]?.text ?? '';
  }

  #value(words: readonly Word[]): Value {
    return translate(this.#source, words, this.#scope);
  }

  /** `[ $n -gt 2 ] && emit "big"`: a statement on one side of an operator. */
  #guarded(): readonly string[] | null {
    const at = this.#words.findIndex(({ text, kind }) => kind === 'mark' && (text === '&&' || text === '||'));
    const next = this.#words[at + 1];
    if (at < 1 || next === undefined || (!STATEMENTS.includes(next.text) && !PRINTS.has(next.text) && next.text !== 'exit'))
      return null;
    if (KEYWORD_SET.has(this.#first) && !['not', 'no', 'some'].includes(this.#first)) return null;
    const cond = condition(this.#source, this.#words.slice(0, at), this.#scope);
    const then = new Simple(this.#source, this.#words.slice(at + 1), this.#scope).lines();
    const guard = this.#text(at) === '&&' ? cond : `not (${cond})`;
    return [`if ${guard}`, ...then.map((line) => `  ${line}`), 'endif'];
  }

  #statement(): readonly string[] {
    const [word, second] = this.#words;
    if (word === undefined) throw new Unclear();
    const first = word.text;
    const lower = first.toLowerCase();
    if (word.kind === 'text' && this.#words.length === 1) return [];
    if (first === ';' && word.kind === 'mark') return [`# ${this.#source.slice(second?.s ?? word.e, this.#words.at(-1)?.e)}`];
    if (first !== lower && KEYWORD_SET.has(lower) && second?.text !== '(' && second?.text !== '=')
      return new Simple(this.#source, [{ ...word, text: lower }, ...this.#words.slice(1)], this.#scope).lines();
    if (first === '((') throw new Unclear();
    const handler = this.#byWord(first, second);
    if (handler !== null) return handler;
    const assignment = this.#assignment(this.#words);
    if (assignment !== null) return assignment;
    return this.#call();
  }

  /** Statements that their first word tells. */
  #byWord(first: string, second: Word | undefined): readonly string[] | null {
    const rest = this.#words.slice(1);
    const assigned = second?.text === '=' || second?.text === '.' || (second?.text === '[' && !DECLARES.has(first));
    const path =
      second?.text === '.'
        ? this.#words
            .slice(0, 3)
            .map(({ text }) => text)
            .join('')
        : first;
    if (path === 'console.error' || path === 'console.warn') return [`whisper "log", ${this.#joined(this.#arguments(3))}`];
    if (PRINTS.has(path)) return this.#print(path.includes('.') ? 3 : 1);
    if (assigned) return null;
    if (first === 'set') return this.#set(rest);
    if (first === 'emit') return rest.length === 0 ? null : lifted(this.#joinedValue(rest), (text) => [`emit ${text}`]);
    if (first === 'return') {
      if (rest.length === 0) return ['return'];
      const values = translateAll(this.#source, rest, this.#scope);
      const [only] = values;
      if (values.length === 1 && only !== undefined) return lifted(only, (text) => [`return ${text}`]);
      return [`return ${values.map(plain).join(', ')}`];
    }
    if (first === 'fail' || first === 'must') return [`${first} ${plain(this.#value(rest))}`];
    if (first === 'whisper') {
      const values = translateAll(this.#source, rest, this.#scope).map(plain);
      return [`whisper ${values.length === 1 ? `"note", ${values[0]}` : values.join(', ')}`];
    }
    if (first === 'clear' && second?.text === 'error') return ['clear_error'];
    if (first === 'call') return this.#callOf(rest);
    if (DECLARES.has(first)) return this.#declaration(rest);
    if (first === 'raise' || first === 'throw' || first === 'panic') return this.#failure(rest);
    if (first === 'assert') return [`must ${plain(this.#value(separateAtCommas(rest)[0] ?? rest))}`];
    if (first === 'pass' || first === 'noop') return ['set _ = nil'];
    if (first === 'del' || first === 'delete') return this.#removal(rest);
    if (/^(?:import|from|using|use|include|package|require)$/.test(first)) return [];
    if (first === 'exit' || first === 'quit') return this.#exit(rest);
    if (first === 'read' && second?.kind === 'name') return [`promptuser "${second.text}" into ${second.text}`];
    if (['break', 'continue', 'clear_error'].includes(first) && rest.length === 0) return [first];
    if (KEYWORD_SET.has(first) && first !== 'tool') throw new Unclear();
    return null;
  }

  #print(from: number): readonly string[] {
    const macro = this.#text(from) === '!' ? 1 : 0;
    const words = this.#words.slice(from + macro);
    const [open] = words;
    const called = open?.text === '(' && words.at(-1)?.text === ')';
    const inner = called ? words.slice(1, -1) : words;
    if (inner.length === 0) return ['emit ""'];
    const [format] = inner;
    if (
      !called &&
      this.#first === 'echo' &&
      inner.every(({ kind }) => kind === 'name') &&
      !inner.some(({ text }) => this.#scope.kinds.has(text))
    )
      return [`emit ${quoted(inner.map(({ text }) => text).join(' '))}`];
    if (!called && this.#first === 'printf' && format?.kind === 'text') {
      const values = separate(inner.slice(1)).map((one) => plain(this.#value(one)));
      return [`emit ${fillFormat(format.text, values)}`];
    }
    if (!called && this.#first === 'echo')
      return [
        `emit ${separate(inner)
          .map((one) => plain(this.#value(one)))
          .join(' + " " + ')}`,
      ];
    return lifted(this.#joinedValue(inner), (text) => [`emit ${text}`]);
  }

  /** One value, or several with blanks between them. */
  #joinedValue(words: readonly Word[]): Value {
    const values = translateAll(this.#source, words, this.#scope);
    const [first] = values;
    if (first === undefined) throw new Unclear();
    if (values.length === 1) return first;
    const texts = values.map(plain);
    if (first.literal === true && /(?<!\{)\{\}|%[ds]/.test(first.text))
      return { ...first, text: fillFormat(first.text, texts.slice(1)) };
    return { ...first, text: this.#joined(values) };
  }

  #joined(values: readonly Value[]): string {
    return values
      .map((value) => (/[ ](?:<|>|[!=<>]=|and|or) /.test(plain(value)) ? `(${plain(value)})` : plain(value)))
      .join(' + " " + ');
  }

  #arguments(open: number): readonly Value[] {
    return translateAll(this.#source, this.#words.slice(open + 1, -1), this.#scope);
  }

  #set(words: readonly Word[]): readonly string[] {
    const [first, second] = words;
    if (first?.text === '-') return [];
    if (first === undefined) throw new Unclear();
    const found = this.#assignment(words);
    if (found !== null) return found;
    const name = first.text === '$' ? second : first;
    const rest = words.slice(first.text === '$' ? 2 : 1);
    if (name?.kind !== 'name' || rest.length === 0) throw new Unclear();
    const value = this.#value(rest[0]?.text === 'to' ? rest.slice(1) : rest);
    return this.#assign(name.text, value);
  }

  #declaration(words: readonly Word[]): readonly string[] {
    const list = words[0]?.text === 'mut' ? words.slice(1) : words;
    const [first, second] = list;
    if (first?.text === '{') return this.#fields(list);
    if (first?.text === '[') {
      const close = list.findIndex(({ text }) => text === ']');
      return this.#assignment([...list.slice(1, close), ...list.slice(close + 1)]) ?? [];
    }
    if (first?.kind !== 'name') throw new Unclear();
    if (second === undefined) return this.#assign(first.text, null);
    const equals = list.findIndex(({ text }) => text === '=');
    if (second.text === ':' && equals > 0) return this.#assignment([first, ...list.slice(equals)]) ?? [];
    if (second.text === '+' && list[2]?.text === '+') throw new Unclear();
    const found = this.#assignment(list);
    if (found === null) throw new Unclear();
    return found;
  }

  /** `const { a, b } = m` */
  #fields(words: readonly Word[]): readonly string[] {
    const close = words.findIndex(({ text }) => text === '}');
    const names = words.slice(1, close).filter(({ text }) => text !== ',');
    if (words[close + 1]?.text !== '=' || names.some(({ kind }) => kind !== 'name')) throw new Unclear();
    const of = plain(this.#value(words.slice(close + 2)));
    return names.flatMap(({ text }) => this.#assign(text, { text: `${of}.${text}`, kind: 'unknown', s: 0, e: 0 }));
  }

  /** `x = 1`, `x += 1`, `x := 1`, `x <- 1`, `x++`, `a, b = b, a`; null for anything else. */
  #assignment(words: readonly Word[]): readonly string[] | null {
    const at = operatorAt(words);
    const operator = words[at]?.text ?? '';
    const [first] = words;
    if (at < 0 || first === undefined) return null;
    if (operator === '++' || operator === '--') {
      const target = words.filter((_, index) => index !== at).filter(({ text }) => text !== '(' && text !== ')');
      return this.#change(target, operator.charAt(0), '1');
    }
    const value = words.slice(at + 1);
    if (OPERATORS.has(operator)) return this.#change(words.slice(0, at), operator.slice(0, -1), plain(this.#value(value)));
    const targets = words.slice(0, at).filter(({ text }) => text !== '$');
    const names = separateAtCommas(targets).map((one) => plain(this.#value(one)));
    if (names.length > 1) return this.#several(names, value);
    const [target = ''] = names;
    const shell =
      value[0]?.text === '(' && value.length > 2 && value.at(-1)?.text === ')' && at === 1 && words[0]?.e === words[1]?.s;
    const inner = value.slice(1, -1);
    if (shell && inner.every(({ kind }) => kind !== 'mark'))
      return this.#assign(target, { text: `[${inner.map(word).join(', ')}]`, kind: 'list', s: 0, e: 0 });
    return this.#assign(target, this.#value(value));
  }

  #several(names: readonly string[], words: readonly Word[]): readonly string[] {
    const values = translateAll(this.#source, words, this.#scope);
    const [only] = values;
    for (const name of names) this.#scope.kinds.set(name, 'unknown');
    const right = values.length === 1 && only !== undefined ? plain(only) : `[${values.map(plain).join(', ')}]`;
    return [`set ${names.join(', ')} = ${right}`];
  }

  #change(words: readonly Word[], operator: string, by: string): readonly string[] {
    const target = plain(this.#value(words.filter(({ text }) => text !== '$')));
    if (operator === '//') return [`set ${target} = tool.math.Floor(${target} / (${by}))`];
    if (operator === '||') return [`if no ${target}`, `  set ${target} = ${by}`, 'endif'];
    const right = /[ ]/.test(by) && operator !== '+' ? `(${by})` : by;
    return [`set ${target} = ${target} ${operator === '..' ? '+' : operator} ${right}`];
  }

  #assign(target: string, value: Value | null): readonly string[] {
    if (!/^[A-Za-z_]/.test(target) || target.startsWith('tool.') || KEYWORD_SET.has(target)) throw new Unclear();
    if (/^\w+$/.test(target)) this.#scope.kinds.set(target, value?.kind ?? 'unknown');
    if (value === null) return [`set ${target} = nil`];
    return lifted(value, (text) => [`set ${target} = ${text}`], /^\w+$/.test(target) ? target : null);
  }

  #failure(words: readonly Word[]): readonly string[] {
    if (words.length === 0) throw new Unclear();
    const [name, open] = words;
    const wraps = name?.kind === 'name' && open?.text === '(' && (/^[A-Z]/.test(name.text) || name.text === 'Error');
    if (!wraps) return [`fail ${plain(this.#value(words))}`];
    const [message] = translateAll(this.#source, words.slice(2, -1), this.#scope);
    return [`fail ${message === undefined ? `"${name.text}"` : plain(message)}`];
  }

  #removal(words: readonly Word[]): readonly string[] {
    const { element } = this.#value(words);
    if (element === undefined) throw new Unclear();
    if (this.#scope.kindOf(element.of) === 'list') throw new Unclear();
    return [`set ${element.of} = tool.map.Remove(${element.of}, ${element.key})`];
  }

  #exit(words: readonly Word[]): readonly string[] {
    const [what] = words.filter(({ text }) => text !== '(' && text !== ')');
    if (what === undefined || what.text === '0') return ['return'];
    if (/^(?:for|while|do|loop)$/.test(what.text)) return ['break'];
    this.#scope.guess();
    return [`fail "exit ${what.text}"`];
  }

  /** `call f`, `call f "x"`, `call f(x)`. */
  #callOf(words: readonly Word[]): readonly string[] {
    const [name, open] = words;
    if (name === undefined) throw new Unclear();
    if (name.text === 'tool' || open?.text === '(' || open?.text === '.') return [`call ${plain(this.#value(words))}`];
    return [
      `call ${name.text}(${separate(words.slice(1))
        .map((one) => plain(this.#value(one)))
        .join(', ')})`,
    ];
  }

  /** A call, a changing method, a procedure as a command, a misspelt keyword. */
  #call(): readonly string[] {
    const [first, second] = this.#words;
    if (first === undefined) throw new Unclear();
    const method = this.#method();
    if (method !== null) return method;
    if (first.kind === 'name' && this.#scope.procedures.has(first.text) && second?.text !== '(') return this.#callOf(this.#words);
    const doubled = first.text === '(' && second?.text === '(';
    if (doubled) return new Simple(this.#source, this.#words.slice(2, -2), this.#scope).lines();
    if (first.kind === 'name' && second !== undefined && second.kind !== 'mark') {
      const meant = nearestName(first.text.toLowerCase(), STATEMENTS);
      if (meant === undefined) throw new Unclear();
      this.#scope.guess();
      return new Simple(this.#source, [{ ...first, text: meant }, ...this.#words.slice(1)], this.#scope).lines();
    }
    const value = this.#value(this.#words);
    if (!/^[\w.]+\(.*\)$/s.test(value.text) || value.form !== undefined) throw new Unclear();
    if (/^(?:tool\.|\w+\()/.test(value.text)) return [`call ${value.text}`];
    throw new Unclear();
  }

  /** `xs.append(1)`: a method that changes its receiver. */
  #method(): readonly string[] | null {
    const open = this.#words.findIndex(({ text }) => text === '(');
    const [dot, name] = [this.#words[open - 2], this.#words[open - 1]];
    if (open < 3 || dot?.text !== '.' || name?.kind !== 'name' || this.#words.at(-1)?.text !== ')') return null;
    if (this.#first === 'tool') return null;
    const receiver = this.#value(this.#words.slice(0, open - 2));
    const of = plain(receiver);
    const words = this.#words.slice(open + 1, -1);
    if (/^(?:forEach|each)$/.test(name.text)) return this.#each(of, words);
    const args = translateAll(this.#source, words, this.#scope).map(plain);
    const [one = '', two = ''] = args;
    const form = `${name.text}/${args.length}`;
    if (/^(?:append|push|push_back|add)\/1$/.test(form)) return [`set ${of}[len(${of})] = ${one}`];
    if (/^(?:extend|concat)\/1$/.test(form)) return [`set ${of} = ${of} + ${one}`];
    if (/^(?:set|put)\/2$/.test(form)) return [`set ${of}[${one}] = ${two}`];
    if (/^(?:delete|remove)\/1$/.test(form)) return [`set ${of} = tool.map.Remove(${of}, ${one})`];
    if (/^(?:update)\/1$/.test(form)) return [`set ${of} = tool.map.Merge(${of}, ${one})`];
    if (form === 'insert/2') return [`set ${of} = tool.list.Insert(${of}, ${one}, ${two})`];
    if (form === 'unshift/1') return [`set ${of} = tool.list.Prepend(${of}, ${one})`];
    if (form === 'sort/0') return [`set ${of} = tool.list.Sort(${of})`];
    if (form === 'reverse/0') return [`set ${of} = tool.list.Reverse(${of})`];
    if (form === 'pop/0') return [`set ${of} = tool.list.Slice(${of}, 0, len(${of}) - 1)`];
    return null;
  }

  /** `xs.forEach((x) => console.log(x))` */
  #each(of: string, words: readonly Word[]): readonly string[] {
    const arrow = words.findIndex(({ text }) => text === '=>');
    const names = words
      .slice(0, arrow)
      .filter(({ kind }) => kind === 'name')
      .map(({ text }) => text);
    if (arrow < 1 || names.length === 0 || names.length > 2) throw new Unclear();
    for (const name of names) this.#scope.kinds.set(name, 'unknown');
    const body = new Simple(this.#source, words.slice(arrow + 1), this.#scope).lines();
    return [`for each ${[...names].reverse().join(', ')} in ${of}`, ...body.map((line) => `  ${line}`), 'endfor'];
  }
}

/** A condition, without the brackets of a test or of a head. */
export function condition(source: string, words: readonly Word[], scope: Scope): string {
  scope.dollars = true;
  let inner = words;
  for (let strip = true; strip; ) {
    const [first] = inner;
    const last = inner.at(-1);
    strip = first?.text === '[' && last?.text === ']' && inner.length > 2 && wraps(inner);
    if (strip) inner = inner.slice(1, -1);
  }
  if (inner.length === 1 && inner[0]?.text === ':') return 'true';
  const value = plain(translate(source, inner, scope));
  scope.dollars = false;
  return value;
}

/** A word of a shell list as a value. */
export function word({ kind, text }: Word): string {
  return kind === 'name' ? `"${text}"` : text;
}
