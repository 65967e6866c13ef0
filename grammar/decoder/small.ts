/**
 * A small grammar: one command block with one way to write each thing, a blank between words, no comments and no empty lines. Every
 * program of it is one of the language.
 */
import { RESERVED } from '../vocabulary/keywords.ts';
import { all, any, chars, type Form, many, maybe, type Part, type RuleBook, rule, some, times } from './form.ts';
import { ANY_WORD, BUILTIN_WORDS, defineWords, except, wordsExcept } from './lexis.ts';
import { type DecoderTool, type LiteralKind, type LiteralType, quoted } from './toolcalls.ts';
import { ACTIONS, MARKER } from './turn.ts';

/** Defines `root` as a command block, or as a reply with one. */
export function small(rules: RuleBook, tools: readonly DecoderTool[] | null, envelope: boolean): void {
  const literals = words(rules);
  const calls = tools === null || tools.length > 0;
  if (calls) toolCalls(rules, tools, literals);
  expressions(rules, calls, literals);
  statements(rules, calls, envelope);
  if (!envelope) rules.define('root', 'command\n', rule('block-c'), 'endcommand', maybe('\n'));
  else {
    const head = [MARKER('START'), MARKER('USERDATA'), '{}\n', MARKER('ACTIONS')];
    rules.define('root', ...head, 'command\n', rule('last'), 'endcommand\n', MARKER('END').trimEnd(), maybe('\n'));
  }
}

/** The literals that are no list and no map. */
interface Literals {
  readonly string: Form;
  readonly number: Form;
}

function words(rules: RuleBook): Literals {
  defineWords(rules);
  rules.define('name', wordsExcept(RESERVED, 'A-Z_a-z'));
  rules.define('field', ANY_WORD);
  rules.define('in', many(' '));
  const path = all(rule('name'), many('.', rule('field')));
  const text = any(except('`{'), '\n', all('{{', path, '}}'));
  rules.define('template', '```', many(text), '```');
  return {
    string: rules.define('string', '"', many(any(except('"\\'), all('\\', chars('"\\nt')))), '"'),
    number: rules.define('number', maybe('-'), times(1, 15, chars('0-9')), maybe('.', some(chars('0-9')))),
  };
}

function listOf(item: Form): Form {
  return maybe(item, many(', ', item));
}

function expressions(rules: RuleBook, calls: boolean, { string, number }: Literals): void {
  const x = rule('x');
  const args = rules.define('args', '(', listOf(x), ')');
  const map = rules.define('map', '{', listOf(all(string, ': ', x)), '}');
  const list = rules.define('list', '[', listOf(x), ']');
  const called = [all(rule('name'), maybe(args)), all(any(...BUILTIN_WORDS), '(', x, ')'), ...(calls ? [rule('tool')] : [])];
  rules.define('value', any(...called, 'last', all('(', x, ')')), many(any(all('.', rule('field')), all('[', x, ']'))));
  rules.define('literal', any(string, rule('template'), number, 'true', 'false', 'nil', list, map));
  const prefix = any('not ', 'no ', 'some ', 'typeof ');
  const operand = all(maybe(prefix), any(rule('value'), rule('literal')));
  const operators = any('+', '-', '*', '/', '%', '==', '!=', '<', '>', '<=', '>=', 'and', 'or');
  const more = rules.define('more', ' ', operators, ' ', operand);
  rules.define('x', operand, many(more));
  rules.define(
    'd',
    any(
      all(rule('value'), many(more)),
      all(prefix, any(rule('value'), rule('literal')), many(more)),
      all(rule('literal'), some(more)),
    ),
  );
}

/** Calls in the declared spelling, without optional commas. */
function toolCalls(rules: RuleBook, tools: readonly DecoderTool[] | null, literals: Literals): void {
  if (tools === null) {
    rules.define('tool', 'tool', some('.', rule('field')), rule('args'));
    return;
  }
  const known = new Map<string, Form>();
  const argument = (type: LiteralType): Form => {
    if (type === 'any') return rule('x');
    const key = JSON.stringify(type);
    const name = `arg-${known.size}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    known.set(key, rule(name));
    return rules.define(
      name,
      any(
        rule('d'),
        ...type.filter((kind) => kind !== 'numeral' && kind !== 'truth').map((kind) => literalOf(kind, literals, argument)),
      ),
    );
  };
  const groups = [...Map.groupBy(tools, ({ args, least }) => JSON.stringify([args, least])).values()];
  const calls = groups.map((group) => {
    const [{ args, least } = { args: null, least: 0 }] = group;
    const names = any(...group.map(({ name }) => name.slice('tool.'.length)));
    return all(names, args === null ? rule('args') : all('(', given(args, least, argument), ')'));
  });
  rules.define('tool', 'tool.', any(...calls));
}

function given(args: readonly LiteralType[], least: number, argument: (type: LiteralType) => Form): Form {
  return args.reduceRight<Form>((rest, type, index) => {
    const here = all(...(index === 0 ? [] : [', ']), argument(type), rest);
    return index < least ? here : maybe(here);
  }, all());
}

function literalOf(
  kind: Exclude<LiteralKind, 'numeral' | 'truth'>,
  { string, number }: Literals,
  argument: (type: LiteralType) => Form,
): Part {
  if (typeof kind === 'object')
    return 'texts' in kind ? any(...kind.texts.map((text) => quoted(text))) : all('[', listOf(argument(kind.list)), ']');
  switch (kind) {
    case 'string':
      return any(string, rule('template'));
    case 'number':
      return number;
    case 'integer':
      return all(maybe('-'), chars('0-9'), many(chars('0-9')));
    case 'boolean':
      return any('true', 'false');
    case 'map':
      return rule('map');
    case 'nil':
      return 'nil';
  }
}

function statements(rules: RuleBook, calls: boolean, envelope: boolean): void {
  const [x, name, indent] = [rule('x'), rule('name'), rule('in')];
  const target = rules.define('target', name, many(any(all('.', rule('field')), all('[', x, ']'))));
  const set = all('set ', target, many(', ', target), ' = ');
  const callee = any(all(name, rule('args')), ...(calls ? [rule('tool')] : []));
  rules.define(
    'simple',
    any(all(set, x), all(any('emit ', 'must ', 'fail '), x), all('whisper ', x, ', ', x), all('call ', callee)),
  );
  const token = rules.define(
    'token',
    'emit tool.aeiou.magic("LOOP", {"action": ',
    any(...ACTIONS.map((action) => `"${action}"`)),
    '})\n',
  );
  for (const [scope, loop] of [
    ['c', false],
    ['cl', true],
  ] as const) {
    const [here, inLoop] = [rule(`block-${scope}`), rule('block-cl')];
    rules.define(
      `stmt-${scope}`,
      indent,
      any(
        rule('simple'),
        all('if ', x, '\n', here, indent, maybe('else\n', here, indent), 'endif'),
        all('while ', x, '\n', inLoop, indent, 'endwhile'),
        all('for each ', name, maybe(', ', name), ' in ', x, '\n', inLoop, indent, 'endfor'),
        envelope ? all(token, indent, 'return') : 'return',
        ...(loop ? ['break', 'continue'] : []),
      ),
      '\n',
    );
    const handled = any(all(indent, rule('simple'), '\n'), all(indent, 'clear_error\n'));
    const handler = rules.define('on', indent, 'on error do\n', some(handled), indent, 'endon\n');
    rules.define(`block-${scope}`, maybe(handler), some(rule(`stmt-${scope}`)));
  }
  const branch = all(rule('last'), indent);
  const last = any(token, all('if ', x, '\n', branch, 'else\n', branch, 'endif\n'));
  rules.define('last', maybe(rule('on')), many(rule('stmt-c')), indent, last);
}
