import { describe, expect, it } from 'vitest';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { called } from './call.ts';

// What a search costs is a published price: steps of threads through the pattern. The figures are those of a search that takes these steps
// one by one, as the interpreter did before it had an automaton.

/** A text of two letters without a pattern in it. */
function noise(length: number): string {
  let state = 12_345;
  let text = '';
  for (let at = 0; at < length; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    text += (state >>> 16) & 1 ? 'a' : 'b';
  }
  return text;
}

const HAN = Array.from({ length: 4000 }, (_, index) => String.fromCodePoint(0x4e00 + ((index * 7919) % 6000))).join('');
const LINES = 'lorem user42@example.com ipsum, id=17\n'.repeat(60);

describe('the fuel of patterns', () => {
  it.each<[what: string, tool: string, args: readonly TaggedJson[], fuel: number, matches: number]>([
    ['a plain search', 'FindAll', ['[a-z0-9]+@[a-z]+\\.com', LINES], 3314, 60],
    ['lazy and greedy', 'FindAll', ['[a-z]+?\\d*', LINES], 21372, 1560],
    ['a prefix', 'FindAll', ['id=\\d', LINES], 1337, 60],
    ['a prefix, and an end that fails', 'FindAll', ['l(?:^a|o\\B)', LINES], 1351, 60],
    ['places', 'FindAll', ['(?m:^lorem|\\d$)|\\b[a-z]{5}\\b', LINES], 5540, 180],
    [
      'threads that end before the character that begins a match',
      'FindAll',
      ['(?:[[:alpha:]])?(?:\\B)+b|aab^', 'bAb aab bac béa AA bb1aabbb1 '.repeat(40)],
      4476,
      200,
    ],
    ['groups', 'Groups', ['(\\w+)@((\\w)+)', LINES], 7130, 60],
    ['groups, each with a step of its own', 'Groups', [`${'(l?)'.repeat(5)}o`, LINES], 20874, 120],
    ['so many groups that threads search', 'Groups', [`${'(l?)'.repeat(40)}o`, LINES.slice(0, 200)], 32908, 11],
    ['characters beyond ASCII', 'FindAll', ['\\p{Han}{3}', HAN], 20943, 1333],
    ['more states than an automaton keeps', 'FindAll', ['a[ab]{14}a', noise(3000)], 7582, 155],
    ['more states, in groups', 'Groups', ['(a)[ab]{12}(b)', noise(3000)], 14179, 176],
    ['many states that are met again', 'FindAll', ['a[ab]{9}a', noise(300).repeat(40)], 27906, 879],
  ])('%s', (_what, tool, args, fuel, matches) => {
    const { error, values, fuel: used } = called(`tool.regex.${tool}`, args);
    expect(error).toBeNull();
    const [list] = values;
    expect([Array.isArray(list) ? list.length : list, used]).toEqual([matches, fuel]);
  });

  it.each([
    [1000, 1000, 1126],
    [4000, 4000, 4103],
    [9000, 9000, 9121],
    [14_000, 14000, 14268],
  ])('ends at the step that %i fuel do not pay for', (fuel, spent, asked) => {
    const { error, fuel: used } = called('tool.regex.FindAll', ['a[ab]{14}a', noise(6000)], { fuel });
    expect([error?.code, used, error?.used]).toEqual(['ERR_QUOTA', spent, asked]);
  });

  it.each([
    ['id=\\d+', 20, 7000, 7036],
    ['id=\\d+', 20, 8888, 8889],
    ['[a-z]+\\d', 6, 1500, 1711],
    ['[a-z]+\\d', 6, 4097, 4139],
    ['[a-z]+\\d', 6, 8888, 8961],
  ])('matches of %s that are read together end at that step, too', (pattern, times, fuel, asked) => {
    const { error, fuel: used } = called('tool.regex.FindAll', [pattern, LINES.repeat(times)], { fuel });
    expect([error?.code, used, error?.used]).toEqual(['ERR_QUOTA', fuel, asked]);
  });

  it.each([
    [150_000, 150_046],
    [177_777, 177_794],
    [200_000, 200_372],
  ])('and at the match that %i bytes do not hold', (memoryBytes, asked) => {
    const { error } = called('tool.regex.FindAll', ['id=\\d+', LINES.repeat(20)], { memoryBytes });
    expect([error?.limit, error?.used]).toEqual(['memoryBytes', asked]);
  });
});
