import { describe, expect, it } from 'vitest';
import { parse } from '../../../grammar/index.ts';
import { command, expression, file, places, problems } from '../help.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('source cleaning (language.md 1.1)', () => {
  it('1.1-1: drops a byte-order mark at the very start', () => {
    expect(file(`\uFEFF${command('emit 1')}`).commands).toHaveLength(1);
    expect(file(utf8(`\uFEFF${command('emit 1')}`)).commands).toHaveLength(1);
  });

  it('1.1-1: a byte-order mark elsewhere is a foreign character', () => {
    expect(places(command('emit \uFEFF1'))).toEqual(['2:6']);
  });

  it('1.1-2: CR LF and a lone CR end a line', () => {
    const source = 'command\r\nemit 1\remit 2\r\nendcommand\r';
    const result = parse(source, { name: 'x' });
    expect(result.ok && result.text).toBe('command\nemit 1\nemit 2\nendcommand\n');
  });

  it('1.1-3: removes control characters but TAB and LF, also from strings', () => {
    expect(expression('"a\u0007b\tc"')).toMatchObject({ k: 'str', v: 'ab\tc' });
    expect(expression("'\u0000\u000b\u001f'")).toMatchObject({ k: 'str', v: '' });
  });

  it('1.1-4: invalid UTF-8 is one error at the first bad byte', () => {
    const bytes = new Uint8Array([...utf8('command\nemit "é'), 0xff, 0xfe, ...utf8('"\nendcommand\n')]);
    const [first, ...rest] = problems(bytes);
    expect(first).toMatchObject({ at: '2:8', message: expect.stringContaining('UTF-8') });
    expect(rest).toEqual([]);
  });

  it('1.1-4: a literal U+FFFD and a lone surrogate in a text are the same error', () => {
    expect(problems('# \uFFFD')).toMatchObject([{ at: '1:3', message: expect.stringContaining('UTF-8') }]);
    expect(problems('# a\n# \ud800x')).toMatchObject([{ at: '2:3', message: expect.stringContaining('UTF-8') }]);
    expect(problems('# \ude00')).toMatchObject([{ at: '1:3' }]);
  });

  it.each(['\u200b', '\u2060', '\u202a', '\u202b', '\u202c', '\u202d', '\u202e'])(
    '1.1-5: U+%s is an error anywhere, with its code point',
    (character) => {
      const code = `U+${character.charCodeAt(0).toString(16).toUpperCase()}`;
      expect(problems(`# one\n"a${character}b${character}`)).toMatchObject([
        { at: '2:3', message: expect.stringContaining(code) },
      ]);
    },
  );

  describe.each(['\u200c', '\u200d'])('1.1-5 issue 44, finding 14: U+%s', (joiner) => {
    it('is part of the text in every kind of string', () => {
      expect(expression(`"a${joiner}b"`)).toMatchObject({ k: 'str', v: `a${joiner}b` });
      expect(expression(`'${joiner}'`)).toMatchObject({ k: 'str', v: joiner });
      expect(problems(command(`emit \`\`\`x${joiner}{{ "y${joiner}" }}${joiner}\`\`\``))).toEqual([]);
      expect(problems(`:: strings: double-bracket\n${command(`emit [[a${joiner}]]`)}`)).toEqual([]);
    });

    it('may stand in every kind of comment, which code cannot', () => {
      expect(
        problems(
          `# ${joiner}\n${command(`emit 1 -- ${joiner}\nemit 2 // a${joiner}b ${joiner}\nemit "#" # ${joiner}`)}# ${joiner}`,
        ),
      ).toEqual([]);
    });

    it.each([
      ['code after a comment', (at: string) => command(`emit "${joiner}" # ${joiner}\nemit 1 ${at}`)],
      ['a name', (at: string) => command(`set a${at}b = "${joiner}"`)],
      ['metadata', (at: string) => `:: author: ${at}\n`],
      ['code within a template', (at: string) => command(`emit \`\`\`${joiner}{{ 1 ${at}}}\`\`\``)],
      ['the end', (at: string) => `${command(`emit "${joiner}"`)}${at}`],
    ])('is the one error in %s', (_, source) => {
      expect(problems(source(joiner))).toMatchObject([{ message: expect.stringContaining('outside of a string or a comment') }]);
      expect(problems(source(joiner))).toHaveLength(1);
    });
  });

  it('1.1-6: 1 048 576 bytes are accepted, one more is an error where the limit is passed', () => {
    const comment = (bytes: number): string => `#${'x'.repeat(bytes - 1)}`;
    expect(problems(comment(1_048_576))).toEqual([]);
    expect(problems(comment(1_048_577))).toMatchObject([{ at: '1:1048577', message: expect.stringContaining('1048576') }]);
  });

  it('1.1-6: the limit counts bytes after cleaning, not characters before', () => {
    expect(problems('\r\n'.repeat(10), { maxBytes: 10 })).toEqual([]);
    expect(problems('#é\n#é\n', { maxBytes: 8 })).toEqual([]);
    expect(problems('#é\n#é\n', { maxBytes: 7 })).toMatchObject([{ at: '2:3' }]);
    expect(problems('#😀', { maxBytes: 5 })).toEqual([]);
    expect(problems('#😀', { maxBytes: 4 })).toMatchObject([{ at: '1:2' }]);
  });
});
