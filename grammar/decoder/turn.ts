/**
 * A whole reply: an envelope with one command block. Only the line that emits the token makes it, and that line is the last one on every
 * path through the block: the last statement, or one before a `return`.
 */
import { all, any, chars, type Form, many, maybe, type RuleBook, rule } from './form.ts';
import type { Lexis } from './lexis.ts';
import { commandHead, procedureScopes, type Scope } from './statements.ts';
import { quoted } from './toolcalls.ts';

/** The decisions that a program can ask for. */
export const ACTIONS: readonly string[] = ['continue', 'done', 'abort'];

export const MARKER = (name: string): string => `<<<NSENV:V3:${name}>>>\n`;

/** The scopes of a turn. `h` is a handler, where `return` fails. Every `return` of a command block needs a token before it. */
export const TURN_SCOPES: readonly Scope[] = [
  { name: 'ct', loop: false, returns: 'token', events: false, loops: 'cl', branches: 'c', handlers: 'h' },
  { name: 'c', loop: false, returns: 'token', events: true, loops: 'cl', branches: 'c', handlers: 'h' },
  { name: 'cl', loop: true, returns: 'token', events: true, loops: 'cl', branches: 'cl', handlers: 'hl' },
  { name: 'h', loop: false, returns: 'none', events: true, loops: 'hl', branches: 'h', handlers: 'h' },
  { name: 'hl', loop: true, returns: 'none', events: true, loops: 'hl', branches: 'hl', handlers: 'hl' },
  ...procedureScopes(),
];

/** Defines `root` as a reply. */
export function turn(rules: RuleBook, lexis: Lexis): void {
  const {
    line: { any: s },
    brackets: { any: b },
    lineEnd,
  } = lexis;
  token(rules, lexis);
  for (const name of ['ct', 'c']) {
    const branch = rule('last-c');
    const last = any(
      all(rule('token'), lineEnd),
      all('if', rule('w-l'), lineEnd, branch, 'else', s, lineEnd, branch, 'endif', s, lineEnd),
    );
    const before = many(rule(`stmt-${name}`));
    rules.define(`last-${name}`, before, maybe(rule(`on-${name}`), before), last);
  }
  const command = all(
    b,
    commandHead(rules, lexis),
    rule('last-ct'),
    'endcommand',
    many(chars(' \t')),
    maybe(lexis.comment),
    '\n',
  );
  const end = MARKER('END').trimEnd();
  rules.define('root', MARKER('START'), MARKER('USERDATA'), '{}\n', MARKER('ACTIONS'), command, end, maybe('\n'));
}

/** `emit tool.aeiou.magic("LOOP", {"action": "done"})`, the only call of this tool. */
function token(rules: RuleBook, { line: { any: s, some: s1 }, brackets: { any: b } }: Lexis): Form {
  const name = all('tool', s, '.', s, 'aeiou', s, '.', s, 'magic', s);
  const comma = all(',', b);
  const action = all(quoted('action'), b, ':', b, any(...ACTIONS.map((each) => quoted(each))), b);
  const payload = all('{', b, action, maybe(comma, maybe(rule('x-b'), rule('entries-b'))), '}', b);
  return rules.define(
    'token',
    'emit',
    s1,
    name,
    '(',
    b,
    quoted('LOOP'),
    b,
    comma,
    payload,
    maybe(comma, maybe(rule('x-b'), maybe(comma))),
    ')',
    s,
  );
}
