import { describe, expect, it } from 'vitest';
import { type Habit, habitsOf, KNOWN } from '../../conformance/habits/corpus.ts';
import { parse } from '../../grammar/index.ts';
import { oneBlock } from '../../grammar/repair/oneblock.ts';
import { CORPUS } from '../lsp/corpus.ts';
import { doneBy } from './harness.ts';

const PROCEDURES = `func add(needs a, b) means
  return a + b
endfunc
func size(needs n optional word) means
  if n > 9
    return "big"
  else
    set word = "small"
    emit word
  endif
endfunc
`;

/** Thirty procedures, each of which calls the next one twice. */
const DOUBLING = Array.from({ length: 30 }, (_, index) => {
  const body = index === 29 ? '  emit 1\n' : `  call f${index + 1}()\n`.repeat(2);
  return `func f${index}() means\n${body}endfunc\n`;
}).join('');

describe('a program written as one command block', () => {
  it.each<[string, string, readonly string[]]>([
    ['calls in arguments, the inner ones first', `${PROCEDURES}command\n  emit add(1, add(2, 3)) + add(1, 1)\nendcommand`, ['8']],
    [
      'variables of its own',
      `command\n  set a = 7\n  set b = add(a, 1)\n  emit a\n  emit b\nendcommand\n${PROCEDURES}`,
      ['7', '8'],
    ],
    [
      'a return in each branch, and none',
      `${PROCEDURES}command\n  emit size(10)\n  emit typeof size(1)\nendcommand`,
      ['big', 'small', 'nil'],
    ],
    [
      'calls in conditions and loops',
      `${PROCEDURES}func main() means\n  for each n in [1, 2]\n    if add(n, 1) > 2\n      call size(n)\n    endif\n  endfor\nendfunc`,
      ['small'],
    ],
    [
      'templates of several lines',
      'func hi(needs n) means\n  return ```hi\n  {{n}}```\nendfunc\ncommand\n  emit hi(1)\nendcommand',
      ['hi\n  1'],
    ],
    ['several blocks', 'command\n  emit 1\nendcommand\ncommand\n  emit 2\nendcommand', ['1', '2']],
  ])('does the same: %s', (_, text, emits) => {
    const written = oneBlock(text) ?? '';
    const parsed = parse(written);
    expect(parsed.ok && [parsed.file.kind, parsed.file.commands.length]).toEqual(['commands', 1]);
    expect(doneBy(written)).toEqual(emits);
  });

  it.each<[string, string]>([
    ['a procedure that calls itself', 'func f(needs n) means\n  return f(n)\nendfunc\ncommand\n  emit f(1)\nendcommand'],
    [
      'a return before the end',
      'func f() means\n  if true\n    return 1\n  endif\n  emit 2\nendfunc\ncommand\n  call f()\nendcommand',
    ],
    [
      'a handler in a procedure',
      'func f() means\n  on error do\n    clear_error\n  endon\n  fail\nendfunc\ncommand\n  call f()\nendcommand',
    ],
    ['a call that is made again and again', `${PROCEDURES}command\n  while add(1, 1) > 2\n  endwhile\nendcommand`],
    ['a call that may not be made', `${PROCEDURES}command\n  emit false and add(1, 1) > 1\nendcommand`],
    ['a wrong number of arguments', `${PROCEDURES}command\n  emit add(1)\nendcommand`],
    ['a name that would be taken', `${PROCEDURES}command\n  set add_a = 1\n  emit add(1, 2) + add_a\nendcommand`],
    [
      'a call whose error the caller clears',
      `${PROCEDURES}command\n  on error do\n    clear_error\n  endon\n  call add(1, "x" - 1)\nendcommand`,
    ],
    ['an event handler', `on event "e" do\n  emit 1\nendon\ncommand\n  emit 1\nendcommand`],
    ['no block and no `main`', PROCEDURES],
    ['procedures that call the next one twice, which would take a billion lines', `${DOUBLING}command\n  call f0()\nendcommand`],
  ])('is not attempted for %s', (_, text) => {
    expect(oneBlock(text)).toBeNull();
  });

  it('does the same as each program with procedures of the corpus', () => {
    const isPlain = ({ right }: Habit): boolean => right.includes('func main') && !right.includes('clear_error');
    const programs = KNOWN.flatMap((file) => habitsOf(file)).filter(isPlain);
    const written = programs.map(({ name, right, output }) => ({ name, output, text: oneBlock(right) }));
    expect(written.filter(({ text }) => text === null).map(({ name }) => name)).toEqual([]);
    expect(
      written.filter(({ text, output }) => doneBy(text ?? '').join('\n') !== output.join('\n')).map(({ name }) => name),
    ).toEqual([]);
    expect(written.length).toBeGreaterThan(30);
  });

  it('parses for every program of the suite that can be written so', () => {
    const written = CORPUS.flatMap((text) => oneBlock(text) ?? []);
    expect(written.filter((text) => !parse(text).ok)).toEqual([]);
    expect(written.length).toBeGreaterThan(100);
  });
});
