import { describe, expect, it } from 'vitest';
import { drive } from './driver.ts';

// A frame whose call has ended is used again for the next call of its procedure.

const LIBRARY = [
  'func seen(needs n optional other returns value) means',
  '  set before = [local, other, last, out]',
  '  set local = n',
  '  set other = n',
  '  set out = [n]',
  '  return before',
  'endfunc',
  'func maybe(needs n returns value) means',
  '  if n > 0',
  '    return [n]',
  '  endif',
  'endfunc',
  'func failing(needs n) means',
  '  set inner = n',
  '  fail "no"',
  'endfunc',
  'func deep(needs n returns value) means',
  '  if n == 0',
  '    return []',
  '  endif',
  '  set list = deep(n - 1)',
  '  set list[len(list)] = n',
  '  return list',
  'endfunc',
].join('\n');

const emitted = (...lines: readonly string[]): readonly string[] => {
  const { emits, error } = drive([LIBRARY, `command\n${lines.join('\n')}\nendcommand`], {});
  expect(error).toBeNull();
  return emits;
};

describe('the frame of a call', () => {
  it('has no variable of an earlier call', () => {
    expect(emitted('emit seen(1)', 'emit seen(2, 3)', 'emit seen(4)')).toEqual([
      '[nil, nil, nil, nil]',
      '[nil, 3, nil, nil]',
      '[nil, nil, nil, nil]',
    ]);
  });

  it('ends with a value of its own', () => {
    expect(emitted('set a = maybe(1)', 'set b = maybe(0)', 'set c = maybe(2)', 'set a[0] = 9', 'emit [a, b, c]')).toEqual([
      '[[9], nil, [2]]',
    ]);
  });

  it('is its own in a recursion that is as deep as another and deeper', () => {
    const lists = [3, 2, 300, 4].map((n) => `[${Array.from({ length: n }, (_, index) => index + 1).join(', ')}]`);
    expect(emitted(...[3, 2, 300, 4].map((n) => `emit deep(${n})`))).toEqual(lists);
  });

  it('is left by an error', () => {
    const lines = ['on error do', '  clear_error', 'endon', 'call failing(1)', 'call failing(2)', 'emit seen(1)'];
    expect(emitted(...lines)).toEqual(['[nil, nil, nil, nil]']);
  });
});
