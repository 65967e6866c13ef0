/** Translates the heads of blocks of other languages. */

import { condition } from './condition.ts';
import { translate } from './expression.ts';
import type { Word } from './lexer.ts';
import { type Scope, Unclear } from './scope.ts';
import { simple } from './simple.ts';
import { typeEnd } from './spelling.ts';
import { closingOf, separateAtCommas, word, wraps } from './split.ts';
import { plain, plus } from './values.ts';

/** The kinds of blocks, by their ends. */
export type BlockKind = 'if' | 'while' | 'for' | 'func' | 'command' | 'on' | 'together' | 'try' | 'switch' | 'repeat';

/** A head as NeuroScript. */
export interface Head {
  readonly kind: BlockKind;
  readonly lines: readonly string[];
  /** The end of the block: `brace` a `}`, `colon` the end of the indentation, `word` a word. */
  readonly style: 'brace' | 'colon' | 'word';
  /** The value that a `switch` compares. */
  readonly subject?: string;
  /** Names that stand for the caught error. */
  readonly caught?: string;
}

const FUNCTIONS = new Set('function def fn func fun proc sub procedure'.split(' '));
const MODIFIERS = new Set('export public static pub async default private'.split(' '));

/** The head that a statement is; null for any other statement. Throws `Unclear`. */
export function headOf(source: string, all: readonly Word[], scope: Scope): Head | null {
  let words = all;
  while (words.length > 1 && MODIFIERS.has(words[0]?.text ?? '')) words = words.slice(1);
  const trimmed = trailer(words);
  return new Reader(source, trimmed.words, trimmed.style, scope).read();
}

/** The place of a statement after the head on the same line; -1 without one. */
export function bodyAt(words: readonly Word[]): number {
  const [first, second] = words;
  if (!/^(?:if|while|for|foreach|unless)$/.test(first?.text ?? '')) return -1;
  const then = words.findIndex(({ text, kind }) => kind === 'name' && text === 'then');
  if (then > 1 && then < words.length - 1) return then + 1;
  const statement = words.findIndex(
    ({ text, kind }, index) => index > 1 && kind === 'name' && BODIES.has(text) && words[index - 1]?.text !== '.',
  );
  if (statement > 0 && ['if', 'unless'].includes(first?.text ?? '')) return statement;
  const close = second?.text === '(' ? closingOf(words, 1) : -1;
  const [next, behind] = [words[close + 1], words[close + 2]];
  if (close < 0 || next?.kind !== 'name' || (behind === undefined && !/^(?:break|continue|return)$/.test(next.text))) return -1;
  return OPERATORS_IN_WORDS.has(next.text) || next.text === 'then' || next.text === 'do' ? -1 : close + 1;
}

/** Keywords that begin a statement and can stand nowhere else. */
const BODIES = new Set(['set', 'emit', 'call', 'fail', 'must', 'whisper', 'return', 'break', 'continue']);

const OPERATORS_IN_WORDS = new Set(['and', 'or', 'is', 'in', 'mod', 'not', 'eq', 'ne', 'equals', 'if', 'MOD', 'AND', 'OR']);

/** A head without its `{`, `:`, `then` or `do`. */
function trailer(words: readonly Word[]): { readonly words: readonly Word[]; readonly style: Head['style'] } {
  const last = words.at(-1);
  if (words.length > 1 && last?.text === '{') {
    const head = Math.max(words.findLastIndex(({ text }) => text !== '{') + 1, 1);
    return { ...trailer(words.slice(0, head)), style: 'brace' };
  }
  if (words.length > (words[0]?.text === 'while' ? 2 : 1) && last?.text === ':')
    return { words: words.slice(0, -1), style: 'colon' };
  if (words.length > 1 && /^(?:then|do|THEN|DO|Then|Do|begin)$/.test(last?.text ?? '') && words[0]?.text !== 'on')
    return { words: words.slice(0, -1), style: 'word' };
  return { words, style: 'word' };
}

/** Methods that change the length of a list. */
const MUTATES = /^(?:push|pop|shift|unshift|splice|append|insert|remove|add|clear)$/;

/** Most characters of a block that are searched. */
const MAX_BODY = 4000;

class Reader {
  readonly #source: string;
  readonly #words: readonly Word[];
  readonly #style: Head['style'];
  readonly #scope: Scope;

  constructor(source: string, words: readonly Word[], style: Head['style'], scope: Scope) {
    this.#source = source;
    this.#words = words;
    this.#style = style;
    this.#scope = scope;
  }

  read(): Head | null {
    const [first, second] = this.#words;
    const rest = this.#words.slice(1);
    const word = first?.text ?? '';
    const lower = word.toLowerCase();
    if (second?.text === '=' || second?.text === '.') return this.#arrow() ?? this.#blockCall();
    if (lower === 'if') return this.#bound(rest) ?? this.#head('if', `if ${this.#condition(rest)}`);
    if (lower === 'guard' && rest.at(-1)?.text === 'else') return this.#guard(rest.slice(0, -1));
    if (lower === 'unless') return this.#head('if', `if not (${this.#condition(rest)})`);
    if (lower === 'while') return this.#head('while', `while ${this.#condition(rest)}`);
    if (lower === 'until' && rest.length > 0) return this.#head('while', `while not (${this.#condition(rest)})`);
    if (lower === 'for' || lower === 'foreach') return this.#loop(rest, lower === 'foreach');
    if (FUNCTIONS.has(word)) return this.#procedure(rest);
    if (lower === 'command' && rest.length === 0) return this.#head('command', 'command');
    if (lower === 'on') return this.#handler(rest);
    if ((lower === 'together' || lower === 'parallel') && rest.length === 0) return this.#head('together', 'together');
    if ((lower === 'try' || lower === 'begin') && rest.length === 0) return this.#head('try', 'try');
    if ((lower === 'repeat' || lower === 'loop' || lower === 'do') && rest.length === 0)
      return this.#head('repeat', 'while true');
    if (lower === 'switch' || (/^(?:match|case|when)$/.test(lower) && (rest.length > 0 || this.#style === 'brace')))
      return this.#switch(rest);
    if (first?.kind === 'name' && second?.text === '(' && this.#style === 'brace') return this.#procedure(this.#words);
    return this.#arrow() ?? this.#blockCall();
  }

  #head(kind: BlockKind, ...lines: readonly string[]): Head {
    return { kind, lines, style: this.#style };
  }

  #condition(words: readonly Word[]): string {
    const bare = this.#style !== 'word' && words[0]?.text === '(' && wraps(words) ? words.slice(1, -1) : words;
    return condition(this.#source, bare, this.#scope);
  }

  /** `guard n > 0 else {`, `guard let n = m["a"] else {` */
  #guard(words: readonly Word[]): Head {
    if (!/^(?:let|var)$/.test(words[0]?.text ?? '')) return this.#head('if', `if not (${this.#condition(words)})`);
    const [, name] = words;
    return this.#head('if', ...simple(this.#source, words, this.#scope), `if ${name?.text} == nil`);
  }

  /** `if let Some(v) = m {`, `if v, ok := m["a"]; ok {`: a statement, and a test of what it sets. Null for any other head. */
  #bound(words: readonly Word[]): Head | null {
    const binds = /^(?:let|var)$/.test(words[0]?.text ?? '');
    const end = binds ? words.length : words.findIndex(({ text }) => text === ';');
    if (this.#style !== 'brace' || end < 1 || words[0]?.text === '(') return null;
    const bare = words.slice(binds ? 1 : 0, end).filter(({ text }) => !binds || !/^(?:Some|Ok|[()])$/.test(text));
    const [name, equals] = bare;
    if (!binds)
      return this.#head('if', ...simple(this.#source, bare, this.#scope), `if ${this.#condition(words.slice(end + 1))}`);
    if (name?.kind !== 'name' || equals?.text !== '=') throw new Unclear();
    this.#scope.kinds.set(name.text, 'unknown');
    return this.#head('if', `set ${name.text} = ${this.#value(bare.slice(2))}`, `if ${name.text} != nil`);
  }

  #value(words: readonly Word[]): string {
    return plain(translate(this.#source, words, this.#scope));
  }

  #loop(words: readonly Word[], isEach: boolean): Head {
    const each = words[0]?.text === 'each' ? words.slice(1) : words;
    let inner = each;
    while (inner[0]?.text === '(' && wraps(inner)) inner = inner.slice(1, -1);
    const bare = inner.length === each.length;
    const together = inner.at(-1)?.text === 'together' ? ' together' : '';
    let list = together === '' ? inner : inner.slice(0, -1);
    const declares = /^(?:let|const|var)$/.test(list[0]?.text ?? '');
    if (declares) list = list.slice(1);
    const type = typeEnd(list);
    if (list[type]?.kind === 'name') list = list.slice(type);
    if (list.length === 0) return this.#head('while', 'while true');
    const counted = this.#counted(list);
    if (counted !== null) return counted;
    const at = list.findIndex(
      ({ text, kind }) => (kind === 'name' && (text === 'in' || text === 'of' || text === 'as')) || text === ':=' || text === ':',
    );
    if (at < 0) return this.#head('while', `while ${this.#condition(list)}`);
    const separator = list[at]?.text;
    const [left, right] = separator === 'as' ? [list.slice(at + 1), list.slice(0, at)] : [list.slice(0, at), list.slice(at + 1)];
    const names = left.filter(({ kind }) => kind === 'name').map(({ text }) => text);
    const written = words[0]?.text === 'each' && separator === 'in';
    const range = separator === ':=' && right[0]?.text === 'range';
    // `for … in` of JavaScript, and a range with one name in Go, give indexes or keys.
    const keys = names.length === 1 && (range || (declares && !bare && !isEach && separator === 'in'));
    this.#scope.open = this.#style === 'brace' && bare;
    const over = range ? right.slice(1) : right;
    const head = this.#over(keys ? [...names, '_value'] : names, over, together, written || keys);
    this.#scope.open = false;
    return head;
  }

  #over(all: readonly string[], right: readonly Word[], together: string, written: boolean): Head {
    const pairs = /^(?:(?:enumerate|Object\.entries)\((.*)\)|(.*)\.(?:items|entries|each_with_index)(?:\(\))?)$/s;
    const text = this.#source.slice(right[0]?.s, right.at(-1)?.e);
    const found = all.length === 2 ? pairs.exec(text) : null;
    const shift = found === null ? 0 : found[1] === undefined ? -1 : text.startsWith('e') ? 2 : 4;
    const list = found === null ? right : shift < 0 ? right.slice(0, -(text.endsWith(')') ? 4 : 2)) : right.slice(shift, -1);
    const plainWords =
      list.length > 0 &&
      list.every(({ kind, text: each }) => kind === 'number' || (kind === 'name' && !this.#scope.kinds.has(each)));
    const shell = !written && plainWords && (list.length > 1 || list[0]?.kind === 'number');
    // `0 until 2` of another language is no list of words.
    if (shell && new Set(list.map(({ kind }) => kind)).size > 1) this.#scope.guess();
    this.#scope.dollars = true;
    const value = shell ? null : translate(this.#source, list, this.#scope);
    this.#scope.dollars = false;
    const of = value === null ? `[${list.map(word).join(', ')}]` : plain(value);
    const names = all[0] === '_' && all.length === 2 ? all.slice(1) : all;
    // A Python loop over a map gives its keys; a shell loop over text gives its words.
    const shellText = right[0]?.text.startsWith('$') && value?.kind !== 'list';
    if (value?.kind === 'unknown' && !written && (this.#style === 'colon' || shellText)) this.#scope.guess();
    for (const name of names) {
      this.#scope.kinds.set(name, name === names.at(-1) ? (value?.items ?? 'unknown') : 'unknown');
      this.#scope.shared.add(name);
    }
    if (names.length === 0 || names.length > 2) throw new Unclear();
    const keys = !written && names.length === 1 && value?.kind === 'map';
    const [name] = names;
    return this.#head('for', `for each ${keys ? `${name}, _value` : names.join(', ')} in ${of}${together}`);
  }

  /** `i = 1 to 3`, `let i = 0; i < 3; i++`; null for any other loop. */
  #counted(words: readonly Word[]): Head | null {
    const [name, equals] = words;
    if (name?.kind !== 'name' || !/^(?:=|:=|from)$/.test(equals?.text ?? '')) return null;
    if (words.some(({ text }) => text === 'range')) return null;
    const to = words.findIndex(({ text }) => /^to$/i.test(text) || text === ',');
    const [first, second] = words.flatMap(({ text }, index) => (text === ';' ? [index] : []));
    this.#scope.kinds.set(name.text, 'number');
    if (first === undefined || second === undefined) {
      if (to < 0) return null;
      const step = words.findIndex(({ text }) => /^step$/i.test(text));
      const end = this.#value(words.slice(to + 1, step < 0 ? undefined : step));
      const by = step < 0 ? '' : `, ${this.#value(words.slice(step + 1))}`;
      return this.#head('for', `for each ${name.text} in tool.list.Range(${this.#value(words.slice(2, to))}, ${plus(end)}${by})`);
    }
    const test = words.slice(first + 1, second);
    const change = words
      .slice(second + 1)
      .map(({ text }) => text)
      .filter((text) => text !== name.text)
      .join('');
    const [compared, operator] = test;
    const by = /^(?:\+\+|--)$/.test(change) ? '1' : /^[+-]=(\d+)$/.exec(change)?.[1];
    if (compared?.text !== name.text || operator === undefined || by === undefined) throw new Unclear();
    const end = this.#value(test.slice(2));
    const down = change.startsWith('-');
    if (down !== operator.text.startsWith('>')) throw new Unclear();
    const inclusive = operator.text.endsWith('=') ? (down ? `${end} - 1` : plus(end)) : end;
    if (this.#changes([name.text, ...test.slice(2).flatMap(({ kind, text }) => (kind === 'name' ? [text] : []))]))
      throw new Unclear();
    const step = down ? `, -${by}` : by === '1' ? '' : `, ${by}`;
    return this.#head(
      'for',
      `for each ${name.text} in tool.list.Range(${this.#value(words.slice(2, first))}, ${inclusive}${step})`,
    );
  }

  /** Whether the block may change one of these names, which would change the count of the loop. */
  #changes(names: readonly string[]): boolean {
    const end = this.#words.at(-1)?.e ?? 0;
    const body = this.#scope.between(end, end + MAX_BODY);
    let depth = 0;
    for (const [index, { text }] of body.entries()) {
      if (text === '{' || text === 'do') depth++;
      if ((text === '}' || text === 'done') && --depth <= 0) return false;
      if (!names.includes(text)) continue;
      const [before, next, called] = [body[index - 1]?.text ?? '', body[index + 1]?.text ?? '', body[index + 2]?.text ?? ''];
      const sets = /^(?:[-+*/%]?=|\+\+|--)$/.test(next) || /^(?:\+\+|--)$/.test(before) || (next === '.' && MUTATES.test(called));
      if (sets) return true;
    }
    return true;
  }

  #procedure(words: readonly Word[]): Head {
    const [name, open] = words;
    if (name?.kind !== 'name') throw new Unclear();
    const close = open?.text === '(' ? closingOf(words, 1) : 0;
    if (close < 0) throw new Unclear();
    const after = words.slice(close + 1);
    const means = after.at(-1)?.text === 'means';
    const clause = words[open?.text === '(' ? 2 : 1]?.text ?? '';
    const inner = open?.text === '(' ? words.slice(2, close) : words.slice(1, -1);
    const clean = !inner.some(
      ({ text }, at) => ['=', ':'].includes(text) || (text === ',' && CLAUSES.has(inner[at + 1]?.text ?? '')),
    );
    if (/^(?:needs|optional|returns|means)$/.test(clause) && means && clean) {
      for (const { kind, text } of words) if (kind === 'name') this.#scope.kinds.set(text, 'unknown');
      return this.#head('func', `func ${this.#source.slice(name.s, words.at(-1)?.e)}`);
    }
    const { text, defaults } = this.#parameters(open?.text === '(' || CLAUSES.has(clause) ? inner : []);
    return this.#head('func', `func ${name.text}(${text}) means`, ...defaults);
  }

  #parameters(words: readonly Word[]): { readonly text: string; readonly defaults: readonly string[] } {
    const needs: string[] = [];
    const optional: string[] = [];
    const returns: string[] = [];
    const defaults: string[] = [];
    let clause = 'needs';
    for (const part of separateAtCommas(words).flatMap(atClauses)) {
      const one = CLAUSES.has(part[0]?.text ?? '') ? part.slice(1) : part;
      if (one.length < part.length) clause = part[0]?.text ?? '';
      if (one.length === 0) continue;
      const equals = one.findIndex(({ text }) => text === '=');
      const name = parameterOf(one);
      if (name?.kind !== 'name') throw new Unclear();
      this.#scope.kinds.set(name.text, 'unknown');
      this.#scope.shared.add(name.text);
      if (clause === 'returns') returns.push(name.text);
      else if (equals < 0) (clause === 'optional' ? optional : needs).push(name.text);
      else {
        optional.push(name.text);
        const value = this.#value(one.slice(equals + 1));
        if (value !== 'nil') defaults.push(`  if ${name.text} == nil`, `    set ${name.text} = ${value}`, '  endif');
      }
    }
    const clauses = [
      ...(needs.length > 0 ? [`needs ${needs.join(', ')}`] : []),
      ...(optional.length > 0 ? [`optional ${optional.join(', ')}`] : []),
      ...(returns.length > 0 ? [`returns ${returns.join(', ')}`] : []),
    ];
    return { text: clauses.join(' '), defaults };
  }

  #handler(words: readonly Word[]): Head | null {
    if (words[0]?.text === 'event') return this.#head('on', this.#source.slice(this.#words[0]?.s, this.#words.at(-1)?.e));
    if (words[0]?.text !== 'error') return null;
    return {
      kind: 'on',
      lines: ['on error do'],
      style: this.#style,
      caught: words.slice(1).find(({ kind, text }) => kind === 'name' && text !== 'as' && text !== 'do')?.text ?? 'error',
    };
  }

  #switch(words: readonly Word[]): Head {
    const last = words.at(-1)?.text;
    if (this.#words[0]?.text === 'case' && last !== 'in' && !/^\s*when\b/.test(this.#source.slice(words.at(-1)?.e)))
      throw new Unclear();
    const subject = words.length === 0 ? '' : this.#condition(last === 'in' ? words.slice(0, -1) : words);
    return { kind: 'switch', lines: [], style: this.#style, subject };
  }

  /** `const add = (a, b) => {` */
  #arrow(): Head | null {
    const words = /^(?:const|let|var)$/.test(this.#words[0]?.text ?? '') ? this.#words.slice(1) : this.#words;
    const [name, equals] = words;
    if (this.#style !== 'brace' || words.at(-1)?.text !== '=>' || equals?.text !== '=' || name?.kind !== 'name') return null;
    const rest = words.slice(words[2]?.text === 'async' ? 3 : 2, -1);
    const inner = rest[0]?.text === '(' ? rest.slice(1, closingOf(rest, 0)) : rest;
    return this.#head('func', `func ${name.text}(${this.#parameters(inner).text}) means`);
  }

  /** `xs.forEach(x => {`, `xs.each do |x|` */
  #blockCall(): Head | null {
    const at = this.#words.findIndex(
      ({ text }, index) => /^(?:forEach|each|each_with_index|times)$/.test(text) && this.#words[index - 1]?.text === '.',
    );
    if (at < 2 || this.#words.at(-1)?.text === '}') return null;
    const after = this.#words.slice(at + 1);
    const arrow = after.at(-1)?.text === '=>' || after[1]?.text === 'function';
    const ruby = after.some(({ text }) => text === '|');
    if (!ruby && !(arrow && this.#style === 'brace')) return null;
    const names = after
      .filter(({ kind, text }) => kind === 'name' && text !== 'do' && text !== 'function')
      .map(({ text }) => text);
    for (const name of names) this.#scope.kinds.set(name, 'unknown');
    const receiver = this.#value(this.#words.slice(0, at - 1));
    const pairs = /^tool\.map\.Entries\((\w+)\)$/.exec(receiver)?.[1];
    const keysFirst = pairs !== undefined || this.#words[at]?.text === 'each';
    const order = (keysFirst ? names : names.toReversed()).join(', ');
    const of = this.#words[at]?.text === 'times' ? `tool.list.Range(0, ${receiver})` : (pairs ?? receiver);
    return {
      kind: 'for',
      lines: [`for each ${order} in ${of}`],
      style: ruby ? 'word' : 'brace',
    };
  }
}

const CLAUSES = new Set(['needs', 'optional', 'returns']);

/** The words of a parameter list, divided where a clause begins. */
function atClauses(words: readonly Word[]): readonly (readonly Word[])[] {
  const starts = [0, ...words.flatMap(({ text }, at) => (at > 0 && CLAUSES.has(text) ? [at] : []))];
  return starts.map((at, index) => words.slice(at, starts[index + 1]));
}

/** The name of a parameter: `$x`, `_ x: Int`, `int x`, `x`. */
function parameterOf(words: readonly Word[]): Word | undefined {
  const bare = words[0]?.text === '$' || words[0]?.text === '_' ? words.slice(1) : words;
  const type = typeEnd(bare);
  return bare[type]?.kind === 'name' ? bare[type] : bare[0];
}
