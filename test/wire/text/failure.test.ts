import { describe, expect, it } from 'vitest';
import { excerpt, paletteFor, renderDiagnostic, renderError } from '../../../src/report/index.ts';
import type { ErrorInfo } from '../../../src/wire/errors.ts';
import { columns } from '../../../src/wire/text/printable.ts';

const plain = paletteFor({}, {});
const base: ErrorInfo = {
  kind: 'runtime',
  code: 'NS14',
  nsCode: 14,
  name: 'DivisionByZero',
  message: 'division by zero',
  source: 'a.ns',
  line: 2,
  column: 10,
  stack: [],
};
const sources = new Map([['a.ns', 'command\n  emit 1 / 0\nendcommand\n']]);

describe('errors on a terminal', () => {
  it('shows place, message, code, the source line with a caret, hint and stack', () => {
    const error = { ...base, hint: 'test the divisor', stack: [{ name: 'inner', source: 'a.ns', line: 7, column: 1 }] };
    expect(renderError(error, sources, plain)).toEqual([
      'a.ns:2:10: division by zero (NS14)',
      '      emit 1 / 0',
      '             ^',
      '  hint: test the divisor',
      '  in inner (a.ns:7:1)',
    ]);
  });

  it('names the command when the failure has no place', () => {
    expect(renderError({ ...base, source: null, line: null, column: null }, sources, plain)).toEqual([
      'neuroscript: division by zero (NS14)',
    ]);
  });

  it('says which flag set the limit that was reached', () => {
    const error: ErrorInfo = {
      ...base,
      kind: 'quota',
      code: 'ERR_QUOTA',
      message: 'too much',
      limit: 'cpuMs',
      allowed: 100,
      used: 100.7,
    };
    expect(renderError(error, new Map(), plain)).toContain('  limit: --cpu 100ms (CPU time of the program), 101 ms needed');
  });

  it('escapes control characters in message, hint, file and names', () => {
    const evil = '\u001b]0;x\u0007';
    const error = { ...base, message: evil, hint: evil, source: evil, stack: [{ name: evil, source: evil, line: 1, column: 1 }] };
    expect(renderError(error, new Map([[evil, `\n${evil}`]]), plain).join('\n')).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });

  it('shows both ends of a deep stack', () => {
    const stack = Array.from({ length: 500 }, (_, index) => ({ name: `p${index}`, source: 'a.ns', line: 1, column: 1 }));
    const lines = renderError({ ...base, stack }, new Map(), plain);
    expect(lines).toHaveLength(12);
    expect(lines.join('\n')).toMatch(/p4 .*\n {2}… 490 more …\n.*p495/);
  });

  it('underlines the whole span of a syntax error', () => {
    const found = { file: 'a.ns', line: 2, column: 3, endLine: 2, endColumn: 7, s: 10, e: 14, message: 'no' };
    expect(renderDiagnostic(found, 'NS15', sources, plain).slice(1)).toEqual(['      emit 1 / 0', '      ^^^^']);
  });
});

describe('the caret', () => {
  it('counts code points, and two columns for wide ones', () => {
    expect(excerpt("emit '😀界' + x", 1, 13, 13, plain)).toEqual(["    emit '😀界' + x", '                  ^']);
  });

  it('does not count a byte-order mark', () => {
    expect(excerpt('\ufeffemit x', 1, 6, 6, plain)).toEqual(['    emit x', '         ^']);
  });

  it('stands right after tabs, carriage returns and dropped control characters', () => {
    expect(excerpt('\ufeffa\r\n\t\u0007emit x', 2, 2, 2, plain)).toEqual(['      emit x', '      ^']);
  });

  it('may stand behind the last character', () => {
    expect(excerpt('emit', 1, 5, 5, plain)).toEqual(['    emit', '        ^']);
  });

  it('shows the part of a long line that holds the position', () => {
    const [text = '', caret = ''] = excerpt(`${'a'.repeat(5000)}X${'b'.repeat(5000)}`, 1, 5001, 5001, plain);
    expect(text.length).toBeLessThan(120);
    expect(text[caret.indexOf('^')]).toBe('X');
  });

  it('issue 49: stands in an excerpt that fits the terminal, below the character, whatever the width of those before it', () => {
    for (const width of [40, 60, 80, 120])
      for (const char of ['a', '界', '\t', 'é'])
        for (const before of [0, 5, 30, 500]) {
          const [text = '', caret = ''] = excerpt(`${char.repeat(before)}X${char.repeat(500)}`, 1, before + 1, before + 1, {
            ...plain,
            columns: width,
          });
          expect(columns(text)).toBeLessThanOrEqual(width);
          expect(columns(text.slice(0, text.indexOf('X')))).toBe(caret.indexOf('^'));
        }
  });

  it('is left out when there is no such line', () => expect(excerpt('one', 9, 1, 1, plain)).toEqual([]));
});
