import { describe, expect, it } from 'vitest';
import { type Expr, parse, positionAt, type SourceFile } from '../../../grammar/index.ts';
import { command, file, problems } from '../help.ts';

/** Everything in a tree that has a span. */
function spans(node: unknown, into: { s: number; e: number }[] = []): { s: number; e: number }[] {
  if (typeof node !== 'object' || node === null) return into;
  if ('s' in node && 'e' in node && typeof node.s === 'number' && typeof node.e === 'number') into.push({ s: node.s, e: node.e });
  for (const child of Object.values(node)) spans(child, into);
  return into;
}

function emitted(source: string): { text: string; value: Expr; file: SourceFile } {
  const result = parse(source, { name: 'x' });
  if (!result.ok) throw new Error(result.errors[0].message);
  const [statement] = result.file.commands[0]?.body.stmts ?? [];
  if (statement?.k !== 'emit') throw new Error('no emit');
  return { text: result.text, value: statement.value, file: result.file };
}

describe('P31: positions', () => {
  it('P31: lines and columns are 1-based; columns count code points', () => {
    expect(problems(command("emit '😀é' !x"))).toMatchObject([{ at: '2:11' }]);
    expect(problems('# 😀😀\ncommand\nemit "😀" + 😀\nendcommand')).toMatchObject([{ at: '3:12' }]);
    expect(problems('command\n\temit !x\nendcommand')).toMatchObject([{ at: '2:7' }]);
  });

  it('P31: an error has an end', () => {
    const result = parse(command('emit null'), { name: 'x' });
    expect(result.ok ? [] : result.errors).toMatchObject([{ line: 2, column: 6, endLine: 2, endColumn: 10, s: 13, e: 17 }]);
    const open = parse(command("emit 'abc"), { name: 'x' });
    expect(open.ok ? [] : open.errors).toMatchObject([{ line: 2, column: 6, endLine: 2, endColumn: 10 }]);
  });

  it('P31: an error at the end of the file is positioned after the last character', () => {
    expect(problems('command\nemit 1 +')).toContainEqual(expect.objectContaining({ at: '2:9' }));
  });

  it('P31: positions refer to the cleaned text', () => {
    expect(problems('\uFEFFcommand\r\nemit \u0007!x\r\nendcommand')).toMatchObject([{ at: '2:6' }]);
  });

  it('positionAt finds lines and columns between, before and behind astral characters', () => {
    const { lines } = file('#a😀b\n#😀😀c\n');
    const at = (offset: number): string => {
      const { line, column } = positionAt(lines, offset);
      return `${line}:${column}`;
    };
    expect([0, 1, 2, 4, 5].map(at)).toEqual(['1:1', '1:2', '1:3', '1:4', '1:5']);
    expect([6, 7, 9, 11, 12].map(at)).toEqual(['2:1', '2:2', '2:3', '2:4', '2:5']);
  });

  it('the span of every expression is its text', () => {
    const { text, value } = emitted(command('emit a.b[1 + 2].c * -f(x, "y") ** 2 + ```t{{ z }}```'));
    expect(text.slice(value.s, value.e)).toBe('a.b[1 + 2].c * -f(x, "y") ** 2 + ```t{{ z }}```');
    if (value.k !== 'binary' || value.first.k !== 'binary') throw new Error('shape');
    const [plus] = value.rest;
    const [times] = value.first.rest;
    expect(text.charAt(plus?.at ?? 0)).toBe('+');
    expect(text.charAt(times?.at ?? 0)).toBe('*');
    expect(text.slice(times?.right.s, times?.right.e)).toBe('-f(x, "y") ** 2');
    if (times?.right.k !== 'unary' || times.right.of.k !== 'power') throw new Error('shape');
    expect(text.slice(times.right.of.at, times.right.of.at + 2)).toBe('**');
    if (value.first.first.k !== 'access') throw new Error('shape');
    expect(value.first.first.steps.map((step) => text.slice(step.s, step.e))).toEqual(['.b', '[1 + 2]', '.c']);
    const template = plus?.right;
    if (template?.k !== 'template') throw new Error('shape');
    const part = template.parts[1];
    expect(typeof part === 'object' && text.slice(part.s, part.e)).toBe('z');
  });

  it('statements and blocks span from their first keyword to their last', () => {
    const source = "func f(needs a) means\n  if a # c\n    return 1\n  endif\nendfunc\n\non event 'e' do\n  emit 1\nendon # c\n";
    const { procedures, events } = file(source);
    const [procedure] = procedures;
    const [first] = procedure?.body.stmts ?? [];
    expect(source.slice(procedure?.s, procedure?.e)).toMatch(/^func.*endfunc$/s);
    expect(source.slice(procedure?.name.s, procedure?.name.e)).toBe('f');
    expect(source.slice(first?.s, first?.e)).toBe('if a # c\n    return 1\n  endif');
    expect(source.slice(events[0]?.s, events[0]?.e)).toMatch(/^on event.*endon$/s);
  });

  it('every span is inside the text, is not empty, and has no blank at either end', () => {
    const source = `:: a: b\n\n${command("set a, m.b['c'] = [1, {2: 3,},] # x", 'whisper self , ( a )', 'on error do', 'fail', 'endon', "ask 'm', 'p' with {} into r . x")}`;
    const all = spans(file(source));
    expect(all.length).toBeGreaterThan(25);
    for (const { s, e } of all) {
      expect(e).toBeGreaterThan(s);
      expect(source.slice(s, e).trim()).toBe(source.slice(s, e));
    }
  });
});
