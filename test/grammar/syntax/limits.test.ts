import { describe, expect, it } from 'vitest';
import { parse } from '../../../grammar/index.ts';
import { ProgramParser } from '../../../grammar/syntax/program.ts';
import { cpuMs } from '../../cost.ts';
import { SLOW } from '../../groups.ts';
import { command, file, problems } from '../help.ts';

const emit = (text: string): string => command(`emit ${text}`);
const tooDeep = expect.stringContaining('deeper than 200');

describe('P33: nesting, one counter (ruling 15)', () => {
  // The command block counts one, so 199 more levels reach the limit of 200.
  const levels: readonly (readonly [what: string, build: (n: number) => string])[] = [
    ['parentheses', (n) => emit(`${'('.repeat(n)}1${')'.repeat(n)}`)],
    ['lists', (n) => emit(`${'['.repeat(n)}1${']'.repeat(n)}`)],
    ['maps', (n) => emit(`${'{1: '.repeat(n)}1${'}'.repeat(n)}`)],
    ['indexes', (n) => emit(`${'a['.repeat(n)}1${']'.repeat(n)}`)],
    ['argument lists', (n) => emit(`${'f(1 + '.repeat(n)}1${')'.repeat(n)}`)],
    ['tool calls', (n) => emit(`${'tool.a.b(1, '.repeat(n)}1${')'.repeat(n)}`)],
    ['eval', (n) => emit(`${'eval('.repeat(n)}1${')'.repeat(n)}`)],
    ['placeholders', (n) => emit(`${'{{ '.repeat(n)}x${'} }'.repeat(n)}`)],
    ['not', (n) => emit(`${'not '.repeat(n)}1`)],
    ['minus', (n) => emit(`${'- '.repeat(n)}1`)],
    ['~', (n) => emit(`${'~'.repeat(n)}1`)],
    ['mixed prefix operators', (n) => emit(`${'typeof - no some ~'.repeat(Math.floor(n / 5))}${'- '.repeat(n % 5)}1`)],
    ['right sides of **', (n) => emit(`${'1 ** '.repeat(n)}1`)],
    ['if', (n) => command('if x\n'.repeat(n), 'emit 1', 'endif\n'.repeat(n))],
    ['while', (n) => command('while x\n'.repeat(n), 'emit 1', 'endwhile\n'.repeat(n))],
    ['for', (n) => command('for each x in y\n'.repeat(n), 'emit 1', 'endfor\n'.repeat(n))],
    ['on error', (n) => command('on error do\n'.repeat(n), 'emit 1', 'endon\n'.repeat(n))],
    [
      'a mixture',
      (n) =>
        command(
          'if x\n'.repeat(100),
          `emit ${'(-'.repeat(Math.floor((n - 100) / 2))}${'('.repeat((n - 100) % 2)}1${')'.repeat(Math.floor((n - 99) / 2))}`,
          'endif\n'.repeat(100),
        ),
    ],
  ];

  it.each(levels)('P33: 200 levels of %s parse, 201 are a syntax error', (_what, build) => {
    expect(problems(build(199))).toEqual([]);
    expect(problems(build(200))).toMatchObject([{ message: tooDeep }]);
  });

  it('P33: the position of the error is the first token that is too deep', () => {
    expect(problems(emit('('.repeat(5000)))).toMatchObject([{ at: '2:205', message: tooDeep }]);
    expect(problems('if x\n'.repeat(5000))).toMatchObject([{ at: '201:1', message: tooDeep }]);
  });

  it('ruling 15: a left-associative chain does not nest', () => {
    for (const chain of ['1 + ', 'a and ', 'a.b == ', 'not a or ', '-1 * ', '2 ** 2 - ', 'f(1) < ']) {
      expect(problems(emit(`${chain.repeat(2000)}1`)), chain).toEqual([]);
    }
    expect(problems(emit(`x${'.a[0]'.repeat(2000)}`))).toEqual([]);
    expect(problems(emit(`[${'-1, '.repeat(2000)}]`))).toEqual([]);
  });

  it('P33: a sum of 10,000 terms is one flat node', () => {
    const [statement] = file(emit(Array.from({ length: 10_000 }, (_, i) => i).join(' + '))).commands[0]?.body.stmts ?? [];
    expect(statement?.k === 'emit' && statement.value.k === 'binary' && statement.value.rest.length).toBe(9_999);
  });

  it('ruling 15: levels that have ended do not count, in templates either', () => {
    expect(problems(command(...Array.from({ length: 300 }, () => 'emit -(1)\nif x\nemit {{x}}\nendif')))).toEqual([]);
    expect(problems(emit(`\`\`\`${'{{ -(1) }}'.repeat(300)}\`\`\``))).toEqual([]);
    expect(problems(Array.from({ length: 300 }, (_, i) => `func f${i}() means\nemit 1\nendfunc`).join('\n'))).toEqual([]);
  });

  it('P33: parse returns at any stack depth, also where 200 levels do not fit', () => {
    const deep = emit(`${'f(1 + '.repeat(199)}1${')'.repeat(199)}`);
    const outcomes: string[] = [];
    const attempt = (): void => {
      try {
        const result = parse(deep, { name: 'x' });
        outcomes.push(result.ok ? 'parsed' : result.errors[0].message);
      } catch (error) {
        outcomes.push(String(error));
      }
    };
    const descend = (frames: number, act: () => void): number => {
      if (frames > 0) return descend(frames - 1, act) + 1;
      act();
      return 0;
    };
    let most = 500;
    for (let deeper = true; deeper; ) {
      try {
        descend(most, () => undefined);
        most = Math.floor(most * 1.1);
      } catch {
        deeper = false;
      }
    }
    for (const share of [0, 0.3, 0.5, 0.6, 0.7, 0.75]) {
      try {
        descend(Math.floor(most * share), attempt);
      } catch {
        // The descent itself ran out of stack, so parse was not called.
      }
    }
    expect(outcomes[0]).toBe('parsed');
    expect(
      new Set(outcomes.slice(1)).difference(
        new Set(['parsed', 'the source nests too deeply for the remaining stack of the caller']),
      ),
    ).toEqual(new Set());
    expect(problems(deep)).toEqual([]);
  });
});

describe('P33: time', SLOW, () => {
  const took = (source: string, rounds = 1, enough = 0): number => cpuMs(() => parse(source, { name: 'x' }), rounds, enough);
  const unit =
    "func f# (needs a, b optional c) means\n  set x = a + 12 * (b - 2) / len(\"abc\")\n  if x > 10 and not b == nil\n    set m['k'] = [x, 'y', {'z': 1.5}]\n    call tool.str.Format('a {0}', x)\n  else\n    emit \"value: \" + x + \" of \" + m.k.z\n  endif\n  # a comment\nendfunc\n";
  const script = (count: number): string => Array.from({ length: count }, (_, i) => unit.replace('#', String(i))).join('');

  it('P33: a script of 5,000 lines parses at 2 MB/s or more once warm', () => {
    const source = script(500);
    expect(problems(source)).toEqual([]);
    // V8 goes on compiling the parser through some twenty rounds.
    expect(source.length / took(source, 24, source.length / 2000) / 1000).toBeGreaterThan(2);
  });

  it.each<[string, string]>([
    ['(', '('],
    ['[', '['],
    ['not', 'not '],
    ['-', '- '],
    ['if', 'if 1\n'],
  ])('P33: 100 000 levels of %s are a syntax error in under 100 ms', (what, level) => {
    const source = what === 'if' ? `command\n${level.repeat(100_000)}` : `command\nemit ${level.repeat(100_000)}1\nendcommand\n`;
    expect(problems(source)).toMatchObject([{ message: expect.stringContaining('deeper than 200') }]);
    expect(took(source, 5, 100)).toBeLessThan(100);
  });

  it('P33: time grows with size, not with its square', () => {
    took(script(100), 8);
    const small = took(script(200), 8);
    // Eight times the text: in quadratic time it would take 64 times as long.
    expect(took(script(1600), 8, 32 * small) / small).toBeLessThan(32);
  });

  const floods = [
    ...[
      '(',
      ')',
      '[',
      ']',
      '{',
      '}',
      '{{',
      '}}',
      'f(',
      'a[',
      '.a',
      'not ',
      '- ',
      '-',
      '~',
      '2**',
      '1+',
      '1,',
      'x==',
      '=',
      '@',
      ':',
      '.',
    ],
    ...[
      "'",
      '"',
      "'''",
      '"""',
      '`',
      '```',
      '```{{',
      '```{{a}}```+',
      '```{{"```',
      "{{'",
      "'\\",
      '"\\u12"',
      '"\\ud83d"',
      '“a',
      '[[',
      ']]',
    ],
    ...[
      'if x\n',
      'while x\n',
      'func f() means\n',
      'command\n',
      'on error do\n',
      "on event 'x' do\n",
      'endif\n',
      'endfunc\n',
      'else\n',
    ],
    ...[
      'else if x\n',
      'elif x\n',
      'emit\n',
      'emit 1\n',
      'emit 1 endif ',
      'let x = 1\n',
      'x = 1\n',
      'f()\n',
      'set x = [\n',
      'break\n',
    ],
    ...[
      '!',
      '! ',
      ';',
      '; ',
      '&&',
      '||',
      '\\',
      '\\\n',
      '$',
      '?',
      'é',
      'é ',
      '😀',
      '\u00a0',
      '\n',
      ' ',
      '\t',
      '#\n',
      '//\n',
      '\r',
    ],
    ...[
      ':: a\n',
      ':: a: b \\\n',
      '::',
      ':: \\',
      'null ',
      'True\n',
      'abc',
      '1',
      '1e',
      '1.',
      '0x',
      '1_',
      'a b\n',
      'a{\n',
      'if x {\n',
      '}\n',
    ],
  ];

  it.each(floods.map((text) => [JSON.stringify(text), text]))('P33: a megabyte of %s is parsed quickly', (_name, text) => {
    const mega = text.repeat(Math.floor(999_000 / text.length));
    expect(took(`command\nset x = ${mega}\nendcommand\n`)).toBeLessThan(3000);
    // A quarter of what 200,000 characters would be: in quadratic time, a sixteenth of their 1,500 ms.
    const part = text.repeat(Math.floor(50_000 / text.length));
    for (const source of [part, `command\nemit \`\`\`{{ ${part}`]) expect(took(source, 3, 94)).toBeLessThan(94);
  });

  it.each([
    ['parts with escaped quotes', `{{\\'}}`],
    ['parts with a comment', '{{#}}'],
    ['parts with an open quote', `{{ '\n}}`],
    ['symbols', '{{@nl}}'],
    ['empty parts', '{{}}'],
    ['texts', '{{ "}}" }}'],
  ])('P33: a template of many %s takes linear time', (_what, part) => {
    expect(took(emit(`\`\`\`${part.repeat(Math.floor(900_000 / part.length))}\`\`\``))).toBeLessThan(3000);
  });

  it('P33: a sum of many templates takes linear time', () => {
    expect(took(emit(`${'```a``` + '.repeat(90_000)}1`))).toBeLessThan(3000);
  });
});

describe('the grammar', () => {
  it('passes all of Chevrotain’s checks: no ambiguity, no left recursion, no duplicate production', () => {
    expect(() => new ProgramParser(null, false)).not.toThrow();
  });
});
