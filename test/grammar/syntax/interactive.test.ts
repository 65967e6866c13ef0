import { globSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { SourceFile } from '../../../grammar/syntax/ast.ts';
import { parse } from '../../../grammar/syntax/parse.ts';
import { readChunks } from '../../conformance/chunks.ts';

const read = (text: string) => parse(text, { name: 'typed', interactive: true });

/** Whether more text could complete the source; null for a source without errors. */
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

describe('an input at a prompt', () => {
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

  it('an expression alone is emitted and keeps its position', () => {
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
    'emit "one \\',
    "emit 'one \\",
    'if true\nset = 3',
    'if x {',
  ])('goes on after %j', (text) => {
    expect(open(text)).toBe(true);
  });

  it.each([
    '1 +',
    'x = 5',
    'endif',
    '"abc',
    '"abc \\\\',
    'set x = [1,\nset y = 2',
    'set = 3',
    'f(1) g',
    'emit )',
    'return 5',
    'break',
  ])('does not after %j: more text could not mend it', (text) => {
    expect(open(text)).toBe(false);
  });

  it.each([
    ['1:1 an assignment needs `set`', 'x = 5'],
    ['1:4 expected a value, found the end of the line', '1 +'],
    ['1:1 `endif` ends no open block', 'endif'],
    ['1:1 `break` is outside any loop', 'break'],
    ['2:7 expected a value, found the end of the line', 'emit 1\nemit -'],
    ['1:1 a command block returns no value', 'return 5'],
    ['2:1 `on event` cannot stand in a command block', 'emit 1\non event "x" do\n  emit 1\nendon'],
    ['none', 'if true\n  on event "x" do\n    emit 1\n  endon\nendif'],
    ['2:1 `on event` cannot stand in a command block', 'command\non event "x" do\n  emit 1\nendon\nendcommand'],
  ])('says %j', (expected, text) => {
    expect(problem(text).slice(0, expected.length)).toBe(expected);
  });

  it('statements of a file need a block', () => {
    expect(parse('set x = 1', { name: 'file' }).ok).toBe(false);
  });
});

/** The programs of the conformance files that parse, except those whose header changes how strings read: they cannot be typed in pieces. */
const programs = globSync('test/conformance/**/*.ns')
  .flatMap((path) => readChunks(path).map(({ title, source }) => ({ title: `${path}: ${title}`, source })))
  .flatMap(({ title, source }) => {
    const result = parse(source, { name: title });
    return result.ok && !source.includes('double-bracket') ? [{ title, text: result.text, file: result.file }] : [];
  });

/** The inputs that a prompt makes of the lines: each ends with the first line that completes it. */
function inputs(text: string): SourceFile[] {
  const files: SourceFile[] = [];
  let pending: string[] = [];
  for (const line of text.split('\n')) {
    pending.push(line);
    const result = read(pending.join('\n'));
    if (!result.ok && result.open) continue;
    if (!result.ok) throw new Error(`${JSON.stringify(pending)}: ${result.errors[0].message}`);
    files.push(result.file);
    pending = [];
  }
  if (pending.length > 0) throw new Error(`${JSON.stringify(pending)} never ends`);
  return files;
}

/** A tree without positions. */
const unplaced = (tree: unknown): unknown =>
  JSON.parse(
    JSON.stringify(tree, (key, value) => (['s', 'e', 'at', 'index'].includes(key) && typeof value === 'number' ? 0 : value)),
  );

describe('the programs of the conformance files', () => {
  it('are many', () => {
    expect(programs.length).toBeGreaterThan(300);
  });

  it('typed line by line give the same blocks, and no line counts as a mistake or as a separate input', () => {
    for (const { title, text, file } of programs) {
      const typed = inputs(text);
      expect(unplaced(typed.flatMap(({ procedures }) => procedures.map(({ body }) => body))), title).toEqual(
        unplaced(file.procedures.map(({ body }) => body)),
      );
      expect(unplaced(typed.flatMap(({ commands }) => commands.map(({ body }) => body))), title).toEqual(
        unplaced(file.commands.map(({ body }) => body)),
      );
      expect(typed.flatMap(({ events }) => events).length, title).toBe(file.events.length);
    }
  });

  it('the statements of a command block, typed without the block, give the same block', () => {
    let compared = 0;
    for (const { title, text, file } of programs) {
      for (const { s, e, body } of file.commands.filter((block) => block.metadata.length === 0)) {
        const lines = text.slice(s, e).split('\n');
        const result = read(lines.slice(1, -1).join('\n'));
        expect(result.ok && [result.file.typed, unplaced(result.file.commands[0]?.body)], title).toEqual([
          'statements',
          unplaced(body),
        ]);
        compared++;
      }
    }
    expect(compared).toBeGreaterThan(20);
  });
});
