import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AccessStep, type BinaryOp, type Expr, parse, type UnaryOp } from '../../../grammar/index.ts';
import { codePoint } from '../../codepoint.ts';
import { cpuMs } from '../../cost.ts';
import { bare, command, expectEqual, file, meaning } from '../help.ts';
import { print } from '../print.ts';
import { printExpression } from '../printexpression.ts';

const word = fc.stringMatching(/^[a-z_][A-Za-z0-9_]{0,5}$/).filter((text) => !reserved.has(text));
const reserved = new Set(
  'acos and as asin ask atan break call clear clear_error command continue cos do each else emit endcommand endfor endfunc endif endon endwhile error eval event fail false for func fuzzy if in into last len ln log means must mustbe named needs nil no not on optional or promptuser return returns set sin some tan timedate tool true typeof while whisper with null undefined'.split(
    ' ',
  ),
);
const text = fc
  .string({ unit: codePoint, maxLength: 8 })
  .filter((value) => !/[\0-\x08\x0B-\x1F\u200B-\u200D\u2060\u202A-\u202E\uFFFD]/.test(value));
const span = { s: 0, e: 0 };

const leaf: fc.Arbitrary<Expr> = fc.oneof(
  fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }).map((v): Expr => ({ k: 'num', v: Math.abs(v), ...span })),
  text.map((v): Expr => ({ k: 'str', v, ...span })),
  fc.boolean().map((v): Expr => ({ k: 'bool', v, ...span })),
  fc.constantFrom<Expr>({ k: 'nil', ...span }, { k: 'last', ...span }),
  word.map((name): Expr => ({ k: 'name', name, ...span })),
);

/** Expressions of at most `depth` levels. Operators of one precedence are joined directly; no template is in a template. */
function expressions(depth: number, inTemplate = false): fc.Arbitrary<Expr> {
  if (depth === 0) return leaf;
  const inner = expressions(depth - 1, inTemplate);
  const several = fc.array(inner, { maxLength: 2 });
  const plain = text.map((t) => t.replaceAll('{', '('));
  const atom: fc.Arbitrary<Expr> = fc.oneof(
    leaf,
    several.map((items): Expr => ({ k: 'list', items, ...span })),
    fc.array(fc.tuple(inner, inner), { maxLength: 2 }).map((entries): Expr => ({ k: 'map', entries, ...span })),
    inner.map((of): Expr => ({ k: 'group', of, ...span })),
    inner.map((of): Expr => ({ k: 'eval', of, ...span })),
    inner.map((of): Expr => ({ k: 'text', of, ...span })),
    fc.tuple(word, several).map(([name, args]): Expr => ({ k: 'call', name: { name, ...span }, args, ...span })),
    fc.tuple(word, word, several).map(([group, name, args]): Expr => {
      return { k: 'tool', name: `tool.${group}.${name}`.toLowerCase(), written: `tool.${group}.${name}`, args, ...span };
    }),
    fc.tuple(plain, inTemplate ? leaf : expressions(depth - 1, true), plain).map(([before, of, after]): Expr => {
      if (inTemplate) return of;
      return { k: 'template', parts: [before, of, after].filter((part) => part !== ''), ...span };
    }),
  );
  const step = fc.oneof(
    word.map((name): AccessStep => ({ k: 'field', name, ...span })),
    inner.map((index): AccessStep => ({ k: 'index', index, ...span })),
  );
  const access = fc.oneof(
    atom,
    fc
      .tuple(atom, fc.array(step, { minLength: 1, maxLength: 2 }))
      .map(([base, steps]): Expr => ({ k: 'access', base, steps, ...span })),
  );
  const power = fc.oneof(
    access,
    fc.tuple(access, access, access).map(([a, b, c]): Expr => {
      return { k: 'power', base: a, at: 0, exponent: { k: 'power', base: b, at: 0, exponent: c, ...span }, ...span };
    }),
  );
  const unary = fc
    .tuple(fc.array(fc.constantFrom<UnaryOp[]>('-', '~', 'not', 'no', 'some', 'typeof'), { maxLength: 2 }), power)
    .map(([ops, of]) => ops.reduceRight<Expr>((operand, op) => ({ k: 'unary', op, of: operand, ...span }), of));
  const rank = fc.constantFrom<BinaryOp[][]>(
    ['or'],
    ['and'],
    ['|'],
    ['^'],
    ['&'],
    ['==', '!='],
    ['<', '>', '<=', '>='],
    ['+', '-'],
    ['*', '/', '%'],
  );
  const chain = rank.chain((ops) =>
    fc
      .tuple(unary, fc.array(fc.tuple(fc.constantFrom(...ops), unary), { minLength: 1, maxLength: 2 }))
      .map(([first, rest]): Expr => {
        return { k: 'binary', first, rest: rest.map(([op, right]) => ({ op, at: 0, right })), ...span };
      }),
  );
  return fc.oneof(unary, chain);
}

const expr = expressions(2);

const lines = fc.array(
  fc.oneof(
    expr.map((value) => `emit ${printExpression(value)}`),
    fc.tuple(word, expr).map(([name, value]) => `set ${name}.x[0] = ${printExpression(value)}`),
    expr.map((value) => `if ${printExpression(value)}\nemit 1\nelse\nfail 2\nendif`),
    expr.map((value) => `for each k, v in ${printExpression(value)}\nbreak\nendfor`),
    expr.map((value) => `while ${printExpression(value)}\non error do\nclear_error\nendon\nendwhile`),
    expr.map((value) => `must ${printExpression(value)}`),
    expr.map((value) => `ask 'm', ${printExpression(value)} with {} into r`),
    expr.map((value) => `whisper self, ${printExpression(value)}`),
    fc.constantFrom('return', 'clear_error', 'call f()', 'clear event named "x"', "promptuser 'x' into y", '', '# comment'),
  ),
  { minLength: 1, maxLength: 6 },
);

describe('print and parse', () => {
  it('parse ∘ print is the identity on expressions, spans aside', () => {
    fc.assert(
      fc.property(expr, (value) => {
        const [statement] = file(command(`emit ${printExpression(value)}`)).commands[0]?.body.stmts ?? [];
        expectEqual(bare(statement), { k: 'emit', value: bare(value) });
      }),
      { numRuns: 600 },
    );
  });

  it('parse ∘ print ∘ parse is parse, and print is idempotent', () => {
    fc.assert(
      fc.property(lines, (body) => {
        const source = `:: a: b\n\n${command(...body, 'emit 1')}\n${command('# x', 'emit 2')}`;
        const first = file(source);
        const printed = print(first);
        expectEqual(meaning(file(printed)), meaning(first));
        expect(print(file(printed))).toBe(printed);
      }),
      { numRuns: 300 },
    );
  });

  it('prints procedures, events and metadata at their places', () => {
    const source =
      ":: lib: x\n\nfunc f(needs a, b optional c returns r) means\n  :: doc: y\n  on event 'inner' named 'n' as e do\n    return 1\n  endon\n  return a, b\nendfunc\n\non event 'x' do\n  emit 1\nendon\n\nfunc g() means\n  set a, m.b = f(1, 2)\n  on error do\n    fail\n  endon\nendfunc\n";
    expect(print(file(source))).toBe(source.replaceAll("'", '"'));
  });

  it.each(['a`b', '{', '{{', '}}', '{{@nl}}', '{{@bogus}}', '```', 'a{{ b', "'''", '\r\n', '😀 {', '\\n'])(
    'any text survives in a template: %j',
    (piece) => {
      const parts: Expr = { k: 'template', parts: [piece, { k: 'name', name: 'x', ...span }, piece], ...span };
      const [statement] = file(command(`emit ${printExpression(parts)}`)).commands[0]?.body.stmts ?? [];
      const value = statement?.k === 'emit' ? statement.value : undefined;
      const texts =
        value?.k === 'template'
          ? value.parts.map((part) => (typeof part === 'string' ? part : part.k === 'str' ? part.v : '·'))
          : [];
      expect(texts.join('')).toBe(`${piece}·${piece}`);
    },
  );
});

describe('parse never throws', () => {
  const within = (source: string | Uint8Array): void => {
    let result = parse('', { name: 'x' });
    const work = (): void => {
      result = parse(source, { name: 'x' });
    };
    expect(cpuMs(work, 1)).toBeLessThan(2000);
    if (result.ok) return;
    const { errors } = result;
    const odd = errors.find(({ s, e, line, column, message }, index) => {
      const isPlaced = s >= (errors[index - 1]?.s ?? 0) && e >= s && line >= 1 && column >= 1;
      return !isPlaced || /^$|could not be read|something/.test(message);
    });
    expect(odd).toBeUndefined();
    expect(errors.length).toBeLessThanOrEqual(100);
  };

  it('on any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => within(bytes)),
      { numRuns: 500 },
    );
  });

  it('on any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint, maxLength: 300 }), (source) => within(source)),
      { numRuns: 500 },
    );
  });

  const tokens = fc.constantFrom(
    ...reserved,
    ...[
      '(',
      ')',
      '[',
      ']',
      '{',
      '}',
      '{{',
      '}}',
      ',',
      ':',
      '.',
      '::',
      ':: a: b',
      '=',
      '==',
      '!=',
      '<',
      '>',
      '<=',
      '+',
      '-',
      '*',
      '**',
      '/',
      '%',
      '~',
      '&',
      '|',
      '^',
      '@',
    ],
    ...[
      'x',
      'f(',
      '1',
      '1.5',
      '"s"',
      "'s'",
      '```',
      '```{{',
      "'''",
      '"',
      "'",
      '`',
      '\\',
      '\\\n',
      '#',
      '//',
      '--',
      '!',
      ';',
      '$',
      '?',
      '😀',
      '\n',
      '\n',
      '\n',
      'else if',
      'on error do\n',
      'endif\n',
      'if x\n',
      'while x\n',
    ],
  );

  it('on random sequences of tokens', () => {
    fc.assert(
      fc.property(fc.array(tokens, { maxLength: 120 }), fc.boolean(), (soup, wrapped) => {
        within(wrapped ? command(soup.join(' ')) : soup.join(' '));
        within(`:: strings: double-bracket\n${soup.join('')}`);
      }),
      { numRuns: 1500 },
    );
  });

  it('on programs with pieces cut out, doubled or replaced', () => {
    const program = `:: a: b\n\nfunc f(needs a optional b returns c) means\n  :: doc: x\n  if a == [1, {'k': \`\`\`t {{ b + 1 }}\`\`\`}]\n    return f(a, -b ** 2)[0].k\n  else\n    while not a\n      set a, m.x = tool.t.Go('x')\n      break\n    endwhile\n  endif\n  on error do\n    clear_error\n  endon\n  for each k, v in m\n    emit "x" + {{k}}\n  endfor\nendfunc\n\non event 'e' named 'n' as ev do\n  whisper self, ev\nendon\n`;
    expect(file(program).procedures).toHaveLength(1);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(program.length), fc.nat(12), tokens), { minLength: 1, maxLength: 4 }), (edits) => {
        let source = program;
        for (const [at, length, token] of edits) source = source.slice(0, at) + token + source.slice(at + length);
        within(source);
      }),
      { numRuns: 1500 },
    );
  });

  it('one parse does not affect the next', () => {
    const good = command('emit 1', 'while x', 'break', 'endwhile');
    const before = parse(good, { name: 'x' });
    for (const bad of [
      'command\nwhile x\nif y\n',
      `${'('.repeat(300)}`,
      'func f() means\non error do\n',
      'let x = 1\n'.repeat(300),
      command('let x = 1\n'.repeat(300)),
    ]) {
      parse(bad, { name: 'x' });
      expect(parse(good, { name: 'x' })).toEqual(before);
    }
  });
});
