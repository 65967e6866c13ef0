import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/wire/errors.ts';
import { checker, checkFlag, checkText, listOf, oneOf, required, wholeNumber } from '../../src/wire/options.ts';

interface Options {
  readonly name: string;
  readonly parts?: readonly { readonly text: string }[];
  readonly strict?: boolean;
  readonly mode?: 'fast' | 'safe';
  readonly count?: number;
}

const check = checker<Options>({
  name: required(checkText),
  parts: listOf(checker<{ readonly text: string }>({ text: required(checkText) })),
  strict: checkFlag,
  mode: oneOf('fast', 'safe'),
  count: wholeNumber(1, 9),
});

describe('the check of an options object', () => {
  it('accepts what its type describes; an undefined option counts as absent', () => {
    check('the options', { name: 'a', parts: [{ text: 'b' }], strict: false, mode: 'safe', count: 9 });
    check('the options', { name: 'a', strict: undefined });
  });

  it.each<[unknown, string]>([
    [null, 'the options must be an object, got null'],
    [[], 'the options must be an object, got a list'],
    [{ nam: 'a' }, "unknown key 'nam' in the options; known are name, parts, strict, mode, count"],
    [{}, 'the options: name must be a text, got undefined'],
    [{ name: 'a', strict: 1 }, 'the options: strict must be true or false, got number'],
    [{ name: 'a', parts: [{ text: 'b' }, { text: 5 }] }, 'the options: parts[1].text must be a text, got number'],
    [{ name: 'a', parts: [{ txt: 5 }] }, "unknown key 'txt' in the options: parts[0]; known are text"],
    [{ name: 'a', mode: 'slow' }, "the options: mode must be fast or safe, got 'slow'"],
    [{ name: 'a', count: 10 }, 'the options: count must be a whole number from 1 to 9, got 10'],
    [{ name: 'a', count: 1.5 }, 'the options: count must be a whole number from 1 to 9, got 1.5'],
  ])('refuses %j and names the value', (options, message) => {
    expect(() => check('the options', options)).toThrow(new ConfigError(message));
  });
});
