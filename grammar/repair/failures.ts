/** Translates statements that raise an error or end the program. */
import { condition } from './condition.ts';
import { translate, translateAll } from './expression.ts';
import type { Word } from './lexer.ts';
import { type Scope, Unclear } from './scope.ts';
import { separateAtCommas, wraps } from './split.ts';
import { lifted, plain } from './values.ts';

/** `fail "why"`, `fail("why", 3)`: the text of several values is the reason. */
export function fail(source: string, words: readonly Word[], scope: Scope): readonly string[] {
  const inner = words[0]?.text === '(' && wraps(words) ? words.slice(1, -1) : words;
  const values = translateAll(source, inner, scope);
  const [first] = values;
  if (first === undefined) return ['fail'];
  if (values.length > 1) scope.guess();
  return lifted(values.find(({ kind }) => kind === 'text') ?? first, (text) => [`fail ${text}`]);
}

/** `must x > 0`, `assert x > 0, "why"`. */
export function must(source: string, words: readonly Word[], scope: Scope): readonly string[] {
  const [test = words, why] = separateAtCommas(words);
  const cond = condition(source, test, scope);
  return why === undefined ? [`must ${cond}`] : [`if not (${cond})`, `  fail ${plain(translate(source, why, scope))}`, 'endif'];
}

/** `raise ValueError("why")`, `throw "why"`, without its first word. */
export function failure(source: string, words: readonly Word[], scope: Scope): readonly string[] {
  if (words.length === 0) throw new Unclear();
  const [name, open] = words;
  const wraps = name?.kind === 'name' && open?.text === '(' && (/^[A-Z]/.test(name.text) || name.text === 'Error');
  if (!wraps) return [`fail ${plain(translate(source, words, scope))}`];
  const [message] = translateAll(source, words.slice(2, -1), scope);
  return [`fail ${message === undefined ? `"${name.text}"` : plain(message)}`];
}

/** `exit`, `exit 1`, `exit for`, without its first word. */
export function exit(words: readonly Word[], scope: Scope): readonly string[] {
  const [what] = words.filter(({ text }) => text !== '(' && text !== ')');
  if (what === undefined || what.text === '0') {
    // The statement ends the program, not only the procedure.
    if (scope.inside) scope.guess();
    return ['return'];
  }
  if (/^(?:for|while|do|loop)$/.test(what.text)) return ['break'];
  scope.guess();
  return [`fail "exit ${what.text}"`];
}
