import { describe, expect, it } from 'vitest';
import { parse } from '../../grammar/parse.ts';

const read = (text: string) => parse(text, { name: 'typed', interactive: true });

/** Whether more text could mend it; null for a source without errors. */
function open(text: string): boolean | null {
  const result = read(text);
  return result.ok ? null : result.open;
}

function typed(text: string): unknown {
  const result = read(text);
  return result.ok ? [result.file.kind, result.file.typed ?? null] : result.errors.map(({ message }) => message);
}

function problem(text: string): string {
  const result = read(text);
  const [first] = result.ok ? [] : result.errors;
  return first === undefined ? 'none' : `${first.line}:${first.column} ${first.message}`;
}

describe('what is typed at a prompt', () => {
  it.each([
    ['statements are one command block', 'set x = 1', ['commands', 'statements']],
    ['several lines of them too', 'if true\n  emit 1\nendif\nemit 2', ['commands', 'statements']],
    ['an expression alone is emitted', '1 + 2', ['commands', 'expression']],
    ['a name', 'x', ['commands', 'expression']],
    ['a call', 'f(1)', ['commands', 'expression']],
    ['a call of a tool', 'tool.str.upper("a")', ['commands', 'expression']],
    ['a list over several lines', '[1,\n2]', ['commands', 'expression']],
    ['a sign', '-5', ['commands', 'expression']],
    ['a template', '```{{x}}```', ['commands', 'expression']],
    ['a handler of errors', 'on error do\n  clear_error\nendon', ['commands', 'statements']],
    ['a procedure is a library, as in a file', 'func f() means\nreturn 1\nendfunc', ['library', null]],
    ['so is an event handler', 'on event "x" do\nemit 1\nendon', ['library', null]],
    ['a command block is one', 'command\nemit 1\nendcommand', ['commands', null]],
    ['a comment is nothing', '# note', ['empty', null]],
    ['metadata are the head of a file', ':: key: value', ['empty', null]],
  ])('%s', (_, text, expected) => {
    expect(typed(text)).toEqual(expected);
  });

  it('what is emitted is the expression, at its place', () => {
    const result = read('\n  1 + 2');
    expect(result.ok && result.file.commands[0]?.body.stmts).toMatchObject([{ k: 'emit', s: 3, value: { k: 'binary' } }]);
  });

  it.each([
    'if true',
    'if true\nemit 1\nelse',
    'while x\nfor each a in b\nendfor',
    'for each a in b',
    'func f(needs a) means',
    'func broken',
    'on event "x" as e do',
    'on error do',
    'command',
    'emit ```text',
    "emit '''text",
    'f(',
    '[1,',
    'set m = {"a": [1, {',
    'emit 1 + \\',
    'if true\nset = 3',
    'if x {',
  ])('goes on after %j', (text) => {
    expect(open(text)).toBe(true);
  });

  it.each(['1 +', 'x = 5', 'endif', '"abc', 'set x = [1,\nset y = 2', 'set = 3', 'f(1) g', 'emit )', 'return 5', 'break'])(
    'does not after %j: more text could not mend it',
    (text) => {
      expect(open(text)).toBe(false);
    },
  );

  it.each([
    ['1:1 an assignment needs `set`', 'x = 5'],
    ['1:4 expected a value, found the end of the line', '1 +'],
    ['1:1 `endif` ends no open block', 'endif'],
    ['1:1 `break` stands in no loop', 'break'],
    ['2:7 expected a value, found the end of the line', 'emit 1\nemit -'],
    ['1:1 a command block returns no value', 'return 5'],
  ])('says %j', (expected, text) => {
    expect(problem(text).slice(0, expected.length)).toBe(expected);
  });

  it('a file is not read so: there statements need their block', () => {
    expect(parse('set x = 1', { name: 'file' }).ok).toBe(false);
  });
});
