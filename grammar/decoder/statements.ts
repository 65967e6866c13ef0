/**
 * Statements and blocks. The rules of a block depend on its scope, because `break` needs a loop, `return` has values only in a procedure,
 * and an event handler is not allowed directly in a command block.
 */
import { all, any, chars, type Form, many, maybe, type Part, type RuleBook, rule, some } from './form.ts';
import { BUILTIN_WORDS, type Lexis, metadata, otherStringsHeader, stringsHeader } from './lexis.ts';

export interface Scope {
  readonly name: string;
  readonly loop: boolean;
  /** The form of `return`: with values, without, after an emitted token, or not allowed. */
  readonly returns: 'values' | 'bare' | 'token' | 'none';
  readonly events: boolean;
  /** Names of the scopes of the bodies of loops, of branches and of handlers. */
  readonly loops: string;
  readonly branches: string;
  readonly handlers: string;
}

const scope = (name: string, more: Partial<Scope>): Scope => ({
  ...{ name, loop: false, returns: 'bare', events: true, loops: 'cl', branches: 'c', handlers: 'c' },
  ...more,
});

/** The scopes of a file: a command block, the blocks in one, a procedure or event handler, and their loops. */
export const FILE_SCOPES: readonly Scope[] = [
  scope('ct', { events: false }),
  scope('c', {}),
  scope('cl', { loop: true, branches: 'cl', handlers: 'cl' }),
  ...procedureScopes(),
];

/** The scopes of procedures and event handlers. */
export function procedureScopes(): readonly Scope[] {
  return [
    scope('p', { returns: 'values', loops: 'pl', branches: 'p', handlers: 'p' }),
    scope('pl', { returns: 'values', loop: true, loops: 'pl', branches: 'pl', handlers: 'pl' }),
  ];
}

/** Defines the statements that are the same everywhere, and then those of each scope. `calls`: whether any tool can be called. */
export function statements(rules: RuleBook, lexis: Lexis, scopes: readonly Scope[], calls: boolean): void {
  const together = calls && !lexis.doubleBrackets;
  const {
    line: { any: s, some: s1 },
    name,
    lineEnd,
  } = lexis;
  const [x, w, wordAfter] = [rule('x-l'), rule('w-l'), rule('w-k')];
  const target = rules.define('target', name, s, many(any(all(rule('index-b'), s), all('.', s, lexis.field, s))));
  const targets = rules.define('targets', target, many(',', s, target));
  const set = all('set', s1, targets, '=', s);
  const tool = calls ? [all(rule('tool-b'), s)] : [];
  const callee = any(all(any(name, ...BUILTIN_WORDS), s, rule('args-b'), s), ...tool);
  const into = rules.define('into', 'into', s1, target);
  const string = all(lexis.string, s);
  rules.define(
    'simple',
    any(
      all(set, x),
      all('emit', w),
      all('call', s1, callee),
      all('must', w),
      all('fail', any(s, w)),
      all('whisper', w, ',', s, x),
      all('clear_error', s),
      all('clear', s1, 'event', any(all(s1, 'named', s, string), w)),
      all('ask', w, ',', s, any(x, all(rule('x-k'), any(into, all('with', any(w, all(wordAfter, into))))))),
      all('promptuser', wordAfter, into),
      ...(together
        ? [all('together', many(chars(' \t')), lineEnd, rule('first'), maybe(rule('calls')), 'endtogether', many(chars(' \t')))]
        : []),
    ),
  );
  if (together) {
    const call = (made: Form): Form => all(any(set, all('call', s1)), made, s, lineEnd);
    // `last` has a value only for the first call of a block.
    rules.define('first', call(rule('tool-b')));
    rules.define('calls', some(call(rule('tool-n'))));
  }
  rules.define('each', 'for', s1, 'each', s1, name, any(s1, all(s, ',', s, name, s1)), 'in');
  rules.define(
    'event',
    ...[
      'on',
      s1,
      'event',
      wordAfter,
      maybe('named', s, string),
      maybe('as', s1, name, s1),
      'do',
      s,
      lineEnd,
      rule('block-p'),
      'endon',
      s,
    ],
  );
  for (const each of scopes) inScope(rules, lexis, each, together);
}

function inScope(rules: RuleBook, { line: { any: s, some: s1 }, lineEnd }: Lexis, here: Scope, together: boolean): void {
  const define = (kind: string, ...parts: readonly Part[]): Form => rules.define(`${kind}-${here.name}`, ...parts);
  const head = all(rule('w-l'), lineEnd);
  const [branch, loop] = [rule(`block-${here.branches}`), rule(`block-${here.loops}`)];
  const values = any(s, all(rule('w-l'), many(',', s, rule('x-l'))));
  const returning = {
    values: all('return', values),
    bare: all('return', s),
    token: all(rule('token'), lineEnd, 'return', s),
  };
  const statement = define(
    'stmt',
    any(
      rule('simple'),
      all('if', head, branch, maybe('else', s, lineEnd, branch), 'endif', s),
      all('while', head, loop, 'endwhile', s),
      all(
        rule('each'),
        together ? any(all(head, loop), all(rule('w-k'), 'together', s, lineEnd, rule('calls'))) : all(head, loop),
        ...['endfor', s],
      ),
      ...(here.returns === 'none' ? [] : [returning[here.returns]]),
      ...(here.loop ? [all(any('break', 'continue'), s)] : []),
      ...(here.events ? [rule('event')] : []),
    ),
    lineEnd,
  );
  const handler = define('on', 'on', s1, 'error', s1, 'do', s, lineEnd, rule(`block-${here.handlers}`), 'endon', s, lineEnd);
  define('block', any(all(some(statement), maybe(handler, many(statement))), all(handler, many(statement))));
}

export function commandHead(rules: RuleBook, lexis: Lexis): Form {
  const described = metadata(rules, 'meta', []);
  const own = rules.define(
    'own',
    lexis.line.any,
    maybe(lexis.comment),
    '\n',
    lexis.line.any,
    many(described, lexis.line.any),
    lexis.brackets.any,
  );
  return all('command', own);
}

/** Defines `root` as a file: command blocks, or definitions, or nothing. */
export function file(rules: RuleBook, lexis: Lexis): void {
  const {
    line: { any: s, some: s1 },
    brackets: { any: b, some: b1 },
    name,
  } = lexis;
  const command = rules.define('command', commandHead(rules, lexis), rule('block-ct'), 'endcommand', s);
  const clause = (kind: string, gap: Form, gaps: Form): Form =>
    rules.define(`clause-${kind}`, any('needs', 'optional', 'returns'), gaps, name, many(gap, ',', gap, name));
  const [inner, outer] = [clause('b', b, b1), clause('l', s, s1)];
  const signature = any(all(s, '(', b, maybe(inner, many(b1, inner), b), ')', s), all(s1, many(outer, s1)));
  const procedure = rules.define('func', 'func', s1, name, signature, 'means', rule('own'), rule('block-p'), 'endfunc', s);
  const next = all(maybe(lexis.comment), '\n', b);
  const definition = any(procedure, rule('event'));
  const blocks = any(all(command, many(next, command)), all(definition, many(next, definition)));
  rules.define('root', header(rules, lexis), maybe(blocks), b, maybe(lexis.comment));
}

/** The header before the first block. After a blank line with a `\`, no header line selects the meaning of `[[`. */
function header(rules: RuleBook, { doubleBrackets, brackets: { any: b }, comment }: Lexis): Form {
  const described = metadata(rules, 'header', ['strings']);
  const other = any(described, otherStringsHeader(rules));
  if (!doubleBrackets) return all(b, many(other, b));
  const gap = rules.define('gap', many(any(chars(' \t\n'), all(comment, '\n'))));
  return all(some(gap, many(other, gap), stringsHeader(rules)), b, many(described, b));
}
