/** Translates simple statements of other languages. */
import { KEYWORDS } from '../vocabulary/keywords.ts';
import { nearestName } from '../vocabulary/spelling.ts';
import { operand } from './calls.ts';
import { condition } from './condition.ts';
import { translate, translateAll } from './expression.ts';
import { exit, fail, failure, must } from './failures.ts';
import type { Word } from './lexer.ts';
import { emit, joinedBy, print } from './prints.ts';
import { augmented, changed, removal } from './receivers.ts';
import { type Scope, Unclear } from './scope.ts';
import { spelled } from './spelling.ts';
import { OPERATORS, operatorAt, separate, separateAtCommas, word, wraps } from './split.ts';
import { lifted, plain, type Value } from './values.ts';

const DECLARES = new Set('let const var local my readonly dim auto val final declare export'.split(' '));
const TYPES = new Set('int long float double bool boolean string String char auto'.split(' '));
const PRINTS = new Set([
  ...'print println printf echo puts say write display output console.log fmt.Println console.info'.split(' '),
  ...'System.out.println fmt.Printf fmt.Print Console.WriteLine'.split(' '),
]);
/** Words that begin a statement of the shell, where `$name` in a string is a value. */
const SHELL = /^(?:echo|printf|\[|test|\$)$/;
const KEYWORD_SET = new Set<string>(KEYWORDS);
const MOST_BARS = 40; // Two for each block within a block.
const STATEMENTS = ['set', 'emit', 'call', 'return', 'fail', 'must', 'whisper', 'break', 'continue'];

/** The lines that replace a statement; none to delete it. Throws `Unclear`. */
export function simple(source: string, words: readonly Word[], scope: Scope): readonly string[] {
  return new Simple(source, spelled(words), scope).lines();
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
    const scope = this.#scope;
    const outer = [scope.before, scope.after] as const;
    const [before, after] = [[], []] as [string[], string[]];
    [scope.before, scope.after] = [before, after];
    scope.dollars = PRINTS.has(this.#first) || /^(?:\[|\$|test$)/.test(this.#first);
    scope.shell = SHELL.test(this.#first) && this.#text(1) !== '(';
    scope.whole = this.#first === '((' || (this.#first === '(' && this.#text(1) === '(');
    try {
      const lines = this.#guarded() ?? this.#modified() ?? this.#statement();
      return [...before, ...lines, ...after];
    } finally {
      [scope.before, scope.after] = outer;
      scope.whole = false;
      scope.shell = false;
    }
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
    const tested = this.#words.slice(this.#first === 'test' ? 1 : 0, at);
    const cond = condition(this.#source, tested, this.#scope);
    const then = new Simple(this.#source, this.#words.slice(at + 1), this.#scope).lines();
    const guard = this.#text(at) === '&&' ? cond : `not (${cond})`;
    return [`if ${guard}`, ...then.map((line) => `  ${line}`), 'endif'];
  }

  /** `puts "big" if n > 2`: a condition behind its statement. */
  #modified(): readonly string[] | null {
    const at = this.#words.findIndex(({ text, kind }) => kind === 'name' && (text === 'if' || text === 'unless'));
    const rest = this.#words.slice(at + 1);
    if (at < 1 || rest.length === 0 || rest.some(({ text, kind }) => kind === 'name' && text === 'else')) return null;
    const open = this.#words.slice(0, at).filter(({ text }) => /^[[({]$/.test(text)).length;
    const closed = this.#words.slice(0, at).filter(({ text }) => /^[\])}]$/.test(text)).length;
    if (open !== closed) return null;
    const cond = condition(this.#source, rest, this.#scope);
    const then = new Simple(this.#source, this.#words.slice(0, at), this.#scope).lines();
    return [`if ${this.#text(at) === 'if' ? cond : `not (${cond})`}`, ...then.map((line) => `  ${line}`), 'endif'];
  }

  #statement(): readonly string[] {
    const [word, second] = this.#words;
    if (word === undefined) throw new Unclear();
    const first = word.text;
    if (word.kind === 'text' && this.#words.length === 1) return [];
    if (first === ';' && word.kind === 'mark') return [`# ${this.#source.slice(second?.s ?? word.e, this.#words.at(-1)?.e)}`];
    if (first === '((') throw new Unclear();
    const handler = this.#byWord(first, second);
    if (handler !== null) return handler;
    const assignment = this.#assignment(this.#words);
    if (assignment !== null) return assignment;
    return this.#call();
  }

  /** Statements that are recognised by their first word. */
  #byWord(first: string, second: Word | undefined): readonly string[] | null {
    const rest = this.#words.slice(1);
    const assigned =
      second?.text === '=' || second?.text === '.' || (second?.text === '[' && first !== 'set' && !DECLARES.has(first));
    const path =
      second?.text === '.'
        ? this.#words
            .slice(0, 3)
            .map(({ text }) => text)
            .join('')
        : first;
    if (path === 'console.error' || path === 'console.warn') this.#scope.guess();
    if (path === 'console.error' || path === 'console.warn') return [`whisper "log", ${joinedBy(this.#arguments(3), '" "')}`];
    if (PRINTS.has(path)) {
      const from = path.includes('.') ? path.split('.').length * 2 - 1 : 1;
      return print(this.#source, path, this.#words.slice(this.#text(from) === '!' ? from + 1 : from), this.#scope);
    }
    if (assigned) return null;
    if (first === 'set') return this.#set(rest);
    if (first === 'emit') return rest.length === 0 ? null : emit(this.#source, rest, this.#scope);
    if (first === 'return') {
      if (rest.length === 0) return ['return'];
      const values = translateAll(this.#source, rest, this.#scope);
      const [only] = values;
      if (values.length === 1 && only !== undefined) return lifted(only, (text) => [`return ${text}`]);
      return [`return ${values.map(plain).join(', ')}`];
    }
    if (first === 'fail') return fail(this.#source, rest, this.#scope);
    if (first === 'must' || first === 'assert') return must(this.#source, rest, this.#scope);
    if (first === 'whisper') {
      const values = translateAll(this.#source, rest, this.#scope).map(plain);
      return [`whisper ${values.length === 1 ? `"note", ${values[0]}` : values.join(', ')}`];
    }
    if (first === 'log' && second?.text !== '(') return [`whisper "log", ${plain(this.#value(rest))}`];
    if (first === 'unset' && second?.kind === 'name' && rest.length === 1) return [`set ${second.text} = nil`];
    if (first === 'global' || first === 'nonlocal') return [];
    if (first === 'clear' && second?.text === 'error') return ['clear_error'];
    if (first === 'call') return this.#callOf(rest);
    if (DECLARES.has(first)) return this.#declaration(rest);
    if (TYPES.has(first) && second?.kind === 'name' && this.#text(2) === '=') return this.#declaration(rest);
    if (first === 'raise' || first === 'throw' || first === 'panic') return failure(this.#source, rest, this.#scope);
    if (first === 'pass' || first === 'noop') return ['set _ = nil'];
    if (first === 'del' || first === 'delete') return removal(this.#value(rest), this.#scope);
    if (/^(?:import|from|using|use|include|package|require)$/.test(first)) return [];
    if (first === 'exit' || first === 'quit') return exit(rest, this.#scope);
    if (first === 'read' && second?.kind === 'name') return [`promptuser "${second.text}" into ${second.text}`];
    const alone = rest.length === 0 || (rest.length === 2 && this.#text(1) === '(' && this.#text(2) === ')');
    if (['break', 'continue', 'clear_error'].includes(first) && alone) return [first];
    if (first === 'next' && alone) return ['continue'];
    if (KEYWORD_SET.has(first) && first !== 'tool') throw new Unclear();
    return null;
  }

  #arguments(open: number): readonly Value[] {
    return translateAll(this.#source, this.#words.slice(open + 1, -1), this.#scope);
  }

  #set(words: readonly Word[]): readonly string[] {
    const [first, second] = words;
    if (first?.text === '-') return [];
    if (first === undefined) throw new Unclear();
    if (first.text === '{' || (first.kind === 'name' && second?.text === ':')) return this.#declaration(words);
    const found = this.#assignment(words);
    if (found !== null) return found;
    const marked = first.text === '$' || first.text === '@';
    const name = marked ? second : first;
    const rest = words.slice(marked ? 2 : 1);
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
      if (close === 2 && list[1] !== undefined)
        return this.#assign(list[1].text, {
          ...this.#value(list.slice(4)),
          text: `${operand(plain(this.#value(list.slice(4))))}[0]`,
        });
      return this.#assignment([...list.slice(1, close), ...list.slice(close + 1)]) ?? [];
    }
    if (first?.kind !== 'name') throw new Unclear();
    if (second === undefined) return this.#assign(first.text, null);
    const equals = list.findIndex(({ text }) => text === '=');
    const parts = separateAtCommas(list);
    if (parts.length > 1 && parts.every(([name, sign]) => name?.kind === 'name' && (sign === undefined || sign.text === '=')))
      return parts.flatMap((part) => this.#declaration(part));
    if (second.text === 'be') return this.#assignment([first, { ...second, text: '=', kind: 'mark' }, ...list.slice(2)]) ?? [];
    if (second.kind === 'name' && list[2]?.text === '=') return this.#assignment([first, ...list.slice(2)]) ?? [];
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
    // A call is made once.
    const [map, before] = of.includes('(') ? ['_map', [`set _map = ${of}`]] : [of, []];
    const fields = names.flatMap(({ text }) => this.#assign(text, { text: `${map}.${text}`, kind: 'unknown', s: 0, e: 0 }));
    return [...before, ...fields];
  }

  /** `x = 1`, `x += 1`, `x := 1`, `x <- 1`, `x++`, `a, b = b, a`; null for anything else. */
  #assignment(words: readonly Word[]): readonly string[] | null {
    const at = operatorAt(words);
    const operator = words[at]?.text ?? '';
    const [first] = words;
    if (at < 0 || first === undefined) return null;
    if (operator === '++' || operator === '--') {
      const target = words.filter((_, index) => index !== at).filter(({ text }) => text !== '(' && text !== ')');
      const one: Value = { text: '1', kind: 'number', s: 0, e: 0, literal: true };
      return augmented(this.#scope, this.#value(target), operator.charAt(0), one);
    }
    const value = words.slice(at + 1);
    const chained = operator === '=' && value[0]?.kind === 'name' && value[1]?.text === '=';
    if (chained) return this.#chain(words);
    if (value[0]?.text === 'input' && value[1]?.text === '(' && at === 1 && value.length <= 4)
      return [`promptuser ${value.length === 4 ? plain(this.#value(value.slice(2, 3))) : '""'} into ${first.text}`];
    const inner = value.slice(1, -1);
    const shell =
      value[0]?.text === '(' && inner.length > 0 && value.at(-1)?.text === ')' && at === 1 && words[0]?.e === words[1]?.s;
    const array: Value | null =
      shell && inner.every(({ kind }) => kind !== 'mark')
        ? { text: `[${inner.map(word).join(', ')}]`, kind: 'list', s: 0, e: 0, literal: true }
        : null;
    const written = words.slice(0, at).filter(({ text }) => text !== '$' && text !== '@');
    const targets = ['(', '['].includes(written[0]?.text ?? '') && wraps(written) ? written.slice(1, -1) : written;
    if (OPERATORS.has(operator))
      return augmented(this.#scope, this.#value(targets), operator.slice(0, -1), array ?? this.#value(value));
    const parts = separateAtCommas(targets);
    if (parts.length > 1 && ['*', '...'].includes(parts.at(-1)?.[0]?.text ?? '')) return this.#rest(parts, value);
    const names = parts.map((one) => plain(this.#value(one)));
    if (names.length > 1) return this.#several(names, value);
    const [target = ''] = names;
    if (array !== null) return this.#assign(target, array);
    const assigned = this.#value(value);
    if (assigned.form?.k !== 'arrow') return this.#assign(target, assigned);
    const { params, body } = assigned.form;
    return [
      `func ${target}(${params.length === 0 ? '' : `needs ${params.join(', ')}`}) means`,
      `  return ${plain(body)}`,
      'endfunc',
    ];
  }

  /** `a = b = 0`, which may also compare `b` with 0. */
  #chain(words: readonly Word[]): readonly string[] {
    this.#scope.guess();
    const ends = words.flatMap(({ text, kind }, index) => (kind === 'mark' && text === '=' ? [index] : []));
    const last = ends.at(-1) ?? 0;
    const value = this.#value(words.slice(last + 1));
    if (value.form !== undefined || !ends.every((end) => end % 2 === 1 && words[end - 1]?.kind === 'name')) throw new Unclear();
    return ends.flatMap((end) => this.#assign(words[end - 1]?.text ?? '', value));
  }

  /** `a, *rest = xs`, `[a, ...rest] = xs` */
  #rest(parts: readonly (readonly Word[])[], words: readonly Word[]): readonly string[] {
    const names = parts.map((part) => part.at(-1)?.text ?? '');
    const rest = names.at(-1) ?? '';
    const of = plain(this.#value(words));
    const from = names.length - 1;
    return [
      ...this.#assign(rest, { text: of, kind: 'list', s: 0, e: 0 }),
      ...names.slice(0, -1).flatMap((name, at) => this.#assign(name, { text: `${rest}[${at}]`, kind: 'unknown', s: 0, e: 0 })),
      `set ${rest} = tool.list.Slice(${rest}, ${from}, len(${rest}))`,
    ];
  }

  #several(names: readonly string[], words: readonly Word[]): readonly string[] {
    const values = translateAll(this.#source, words, this.#scope);
    const [only] = values;
    for (const name of names) this.#scope.kinds.set(name, 'unknown');
    const right = values.length === 1 && only !== undefined ? plain(only) : `[${values.map(plain).join(', ')}]`;
    return [`set ${names.join(', ')} = ${right}`];
  }

  #assign(target: string, value: Value | null): readonly string[] {
    if (!/^[A-Za-z_]/.test(target) || target.startsWith('tool.') || KEYWORD_SET.has(target)) throw new Unclear();
    if (/^\w+$/.test(target)) {
      this.#scope.kinds.set(target, value?.kind ?? 'unknown');
      if (value?.items === undefined) this.#scope.items.delete(target);
      else this.#scope.items.set(target, value.items);
    } else this.#scope.items.delete(/^\w+/.exec(target)?.[0] ?? '');
    if (value !== null && /^\w+$/.test(value.text) && (value.kind === 'list' || value.kind === 'map')) {
      this.#scope.shared.add(target).add(value.text);
    }
    if (value === null) return [`set ${target} = nil`];
    return lifted(value, (text) => [`set ${target} = ${text}`], /^\w+$/.test(target) ? target : null);
  }

  /** `call f`, `call f "x"`, `call f(x)`. */
  #callOf(words: readonly Word[]): readonly string[] {
    const [name, open] = words;
    if (name === undefined) throw new Unclear();
    const method = name.text === 'tool' ? null : new Simple(this.#source, words, this.#scope).#method();
    if (method !== null) return method;
    if (name.text === 'tool' || open?.text === '(' || open?.text === '.') return [`call ${plain(this.#value(words))}`];
    return [
      `call ${name.text}(${separate(words.slice(1))
        .map((one) => plain(this.#value(one)))
        .join(', ')})`,
    ];
  }

  /** `xs.each { |x| puts x }` */
  #block(): readonly string[] | null {
    const at = this.#words.findIndex(({ text }, index) => text === '{' && this.#words[index - 1]?.text === 'each');
    const bars = this.#words.flatMap(({ text }, index) => (text === '|' ? [index] : []));
    const [open, close] = bars;
    if (at < 3 || open !== at + 1 || bars.length > MOST_BARS || close === undefined || this.#words.at(-1)?.text !== '}')
      return null;
    const names = this.#words.slice(open + 1, close).flatMap(({ kind, text }) => (kind === 'name' ? [text] : []));
    for (const name of names) this.#scope.kinds.set(name, 'unknown');
    const of = plain(this.#value(this.#words.slice(0, at - 2)));
    const body = new Simple(this.#source, this.#words.slice(close + 1, -1), this.#scope).lines();
    return [`for each ${names.join(', ')} in ${of}`, ...body.map((line) => `  ${line}`), 'endfor'];
  }

  /** A call, a changing method, a procedure as a command, a misspelt keyword. */
  #call(): readonly string[] {
    const [first, second] = this.#words;
    if (first === undefined) throw new Unclear();
    const method = this.#block() ?? this.#method();
    if (method !== null) return method;
    if (first.kind === 'name' && this.#scope.procedures.has(first.text) && second?.text !== '(') return this.#callOf(this.#words);
    if (second?.text === '<<') return [`set ${first.text}[len(${first.text})] = ${plain(this.#value(this.#words.slice(2)))}`];
    const doubled = first.text === '(' && second?.text === '(';
    // Three are no arithmetic of the shell.
    if (doubled && this.#text(2) !== '(') return new Simple(this.#source, this.#words.slice(2, -2), this.#scope).lines();
    if (first.kind === 'name' && second !== undefined && second.kind !== 'mark') {
      const meant = nearestName(first.text.toLowerCase(), STATEMENTS);
      if (meant === undefined) throw new Unclear();
      this.#scope.guess();
      return new Simple(this.#source, [{ ...first, text: meant }, ...this.#words.slice(1)], this.#scope).lines();
    }
    const value = this.#value(this.#words);
    if (!/^[\w.]+\(.*\)$/s.test(value.text) || value.form !== undefined) throw new Unclear();
    // A call that is made for its effect in another language may only return a value here.
    if (!this.#scope.procedures.has(first.text) && first.text !== 'tool') this.#scope.guess();
    if (/^(?:tool\.|\w+\()/.test(value.text)) return [`call ${value.text}`];
    throw new Unclear();
  }

  /** `xs.append(1)`: a method that changes its receiver. */
  #method(): readonly string[] | null {
    const open = this.#words.findIndex(({ text }) => text === '(');
    const [dot, name] = [this.#words[open - 2], this.#words[open - 1]];
    if (open < 3 || dot?.text !== '.' || name?.kind !== 'name' || this.#words.at(-1)?.text !== ')') return null;
    if (this.#first === 'tool') return null;
    const words = this.#words.slice(open + 1, -1);
    if (this.#first === 'table' && name.text === 'insert') {
      const [list, ...items] = translateAll(this.#source, words, this.#scope);
      return list === undefined || items.length !== 1 ? null : changed(this.#scope, list, 'append', items.map(plain));
    }
    const receiver = this.#value(this.#words.slice(0, open - 2));
    const of = plain(receiver);
    if (/^(?:forEach|each)$/.test(name.text)) return this.#each(of, words);
    return changed(this.#scope, receiver, name.text, translateAll(this.#source, words, this.#scope).map(plain));
  }

  /** `xs.forEach((x) => console.log(x))` */
  #each(of: string, words: readonly Word[]): readonly string[] {
    const arrow = words.findIndex(({ text }) => text === '=>');
    const pairs = /^tool\.map\.Entries\((\w+)\)$/.exec(of)?.[1];
    const names = words
      .slice(0, arrow)
      .filter(({ kind }) => kind === 'name')
      .map(({ text }) => text);
    if (arrow < 1 || names.length === 0 || names.length > 2) throw new Unclear();
    for (const name of names) this.#scope.kinds.set(name, 'unknown');
    const body = new Simple(this.#source, words.slice(arrow + 1), this.#scope).lines();
    const order = pairs === undefined ? names.toReversed() : names;
    return [`for each ${order.join(', ')} in ${pairs ?? of}`, ...body.map((line) => `  ${line}`), 'endfor'];
  }
}
