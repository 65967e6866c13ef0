/** Makes statements for what random expressions seldom reach: counting loops, long texts, deep values, equal values, far jumps. */
import type { Expressions } from './expressions.ts';
import type { Random } from './random.ts';

/** Constants of programs with such statements: twins of globals, and values a little different. */
export const TWINS = {
  ti2: { $time: '2025-10-15T10:00:00.25+02:00' },
  ti3: { $time: '2025-10-15T08:00:00.250000001Z' },
  ti4: { $time: '2025-10-15T08:00:01Z' },
  by2: { $bytes: 'AAEC' },
  by3: { $bytes: 'AAED' },
  by4: { $bytes: 'AAECAw==' },
  er2: { $error: { code: 5, message: 'boom' } },
  er3: { $error: { code: 5 } },
  fz2: { $fuzzy: 0.75 },
  fz3: { $fuzzy: 1 },
  ha2: { $handle: 'file' },
  tx: { $$k: 1, k: ['é'] },
} as const;

/** A procedure with several arguments of both kinds. */
export const WIDE = ['f4', 2, 4, 'needs a, b optional c, m'] as const;

const SPECIAL = [
  ...['ti', 'ti2', 'ti3', 'ti4', 'by', 'by2', 'by3', 'by4', 'er', 'er2', 'er3', 'fz', 'fz2', 'fz3', 'ha', 'ha2', 'tx'],
  ...['[ti, [by]]', '[ti2, [by2]]', "{'k': ti}", "{'k': ti2}", "{'j': 1, 'k': er}", "{'k': er2, 'j': 1}", '[1, fz]', '[1, fz2]'],
  ...["'x' * 70", "'x' * 69 + 'y'", "['x' * 70]", "['x' * 69 + 'y']", '(1e308 * 10 - 1e308 * 10)', 'nil', "''", '0', '1', 'true'],
  ...["{'code': 1, 'message': 'm'}", "{'code': '1', 'message': 2}", "{'code': 1}", "{'message': 'm'}"],
  ...["{'payload': [{'Kind': 'x', 'Payload': 1}]}", "{'payload': [{'Kind': 'x'}]}", "{'payload': []}", "{'payload': [1]}"],
];

const NUMBERS = [
  ...['0', '1', '(-1)', '2', '(-2)', '3', '(-7)', '0.5', '(-0.5)', '1.5', '2147483647', '2147483648', '4294967295', '1.5e22'],
  ...[
    '123456789e15',
    '1e21',
    '123456789012345680000',
    '0.000001',
    '1.5e-7',
    '(1e308 * 10)',
    '(-1e308 * 10)',
    '(-0)',
    "'3'",
    "'x'",
  ],
];

const ARITHMETIC = ['+', '-', '*', '/', '%', '**', '&', '|', '^', '<', '>', '<=', '>=', '==', '!='];

const FIELDS = [
  ...['{{m.k.j}}', 'x {{m.k.j[1]}}', '{{m.k.j[1].k}}{{a}}', '{{l[0]}}-{{l[1]}}', '{{s}}{{t}}', '{{ m . k . j [ 0 ] }}'],
  ...[
    '{{m.nobody.k}}',
    '{{l[9]}}',
    '{{m[0]}}',
    '{{l.k}}',
    '{{s[0]}}',
    '{{len}} {{a}}',
    '{{ {{a}}',
    '{{a}} {{b',
    '{{a.k[0]}} {{ti}}',
    '{{1}}{{a}}',
  ],
];

/** Writes statements. */
export class Edges {
  readonly #random: Random;
  readonly #expressions: Expressions;

  constructor(random: Random, expressions: Expressions) {
    this.#random = random;
    this.#expressions = expressions;
  }

  statements(): string {
    const random = this.#random;
    const special = (): string => random.pick(SPECIAL);
    const number = (): string => random.pick(NUMBERS);
    switch (random.int(15)) {
      case 0:
        return this.#counting();
      case 1:
        return this.#growing();
      case 2:
        return `set a = ${special()}\nset b = ${special()}\nemit [a == b, a != b, ${special()} == ${special()}, ${random.pick(['a', special()])} ${random.pick(['<', '>', '<=', '>='])} b]\n`;
      case 3:
        return `emit [${random.pick(['no', 'some', 'not', '-', '~', 'typeof'])} ${special()}, ${special()} ${random.pick(['and', 'or'])} ${special()}]\nif ${random.pick(['no', 'some', 'not', ''])} ${special()}\nemit 1\nendif\n`;
      case 4:
        return `set m = {'k': {'j': [1, {'k': 'v'}]}}\nset l = [${this.#leaf()}, ${this.#leaf()}]\nemit eval('${random.pick(FIELDS)}')\n`;
      case 5:
        return this.#jumping();
      case 6:
        return this.#deep();
      case 7:
        return `set a, b = [${number()}, ${number()}]\nemit [a ${random.pick(ARITHMETIC)} b, ${number()} ${random.pick(ARITHMETIC)} ${number()} ${random.pick(ARITHMETIC)} a]\n`;
      case 8:
        return `emit [is_${random.pick(['error', 'event', 'timedate', 'fuzzy', 'map', 'list', 'int', 'float'])}(${special()}), typeof ${special()}, '' + ${special()}]\n`;
      case 9:
        return `emit [char(${random.pick(['55295', '55296', '57343', '57344', '65535', '65536', '1114111', '1114112', '-1', '0.5'])}), ord('${random.pick(['😀', 'é', 'ab', ''])}')]\n`;
      case 10:
        return this.#walking();
      case 11:
        return this.#filling();
      case 12: {
        const key = 'k'.repeat(random.pick([1, 50, 100, 200, 256, 257]));
        return `set m = {'${key}': ${this.#leaf()}}\nset a = m['${key}']\nset m.${key} = 'x'\nemit a\n`;
      }
      case 13:
        return `set ${random.pick(['a', 'l'])} = f4(${random.several(1, 5, () => this.#leaf()).join(', ')})\nemit a\n`;
      default:
        return `set n = ${random.pick(['a', 'n', '1'])} ${random.pick(['+', '-', '*'])} ${random.pick(['b', '2'])} ${random.pick(['+', '-', '*', '<', 'and'])} ${this.#leaf()} ${random.pick(['+', '==', 'or'])} ${this.#leaf()}\nemit [n, last]\n`;
    }
  }

  #leaf(): string {
    return this.#expressions.leaf();
  }

  /** A loop that counts, mostly to an end. */
  #counting(): string {
    const random = this.#random;
    const [first, test, step] = random.pick([
      ['0', 'n < 4', 'n + 1'],
      ['0', 'n < a', 'n + b'],
      ['4', 'n > 0', 'n - 1'],
      ['4', 'n > c', 'n - b'],
      ['1', 'n <= 20', 'n * 2'],
      ['1', 'n <= a', 'n * a'],
      ['5', 'n >= b', 'n - 1'],
      ['0', 'n != 3', 'n + 1'],
      ['2', 'n == 2', 'n + 1'],
      ['9', 'n != c', 'n - 3'],
      ['3', 'n == a', 'n - c'],
    ]);
    const bound = random.pick(['3', '3', '4', '2.5', "'3'", 'nil']);
    const part = random.pick(['n % 2 == 0', 'n % 2 == 1', 'n % a == b', 'n == a', 'n >= a', 'n != b', 'n * n > 5', 's == t']);
    return (
      `set a = ${bound}\nset b = ${random.pick(['1', '1', '2', "'1'"])}\nset c = 0\nset n = ${first}\n` +
      `while ${test}\nset n = ${step}\nif ${part}\nset c = c ${random.pick(['+', '-', '*'])} n\n${random.pick(['', 'emit n % a\n', 'continue\n'])}endif\nendwhile\nemit [n, c]\n`
    );
  }

  /** A text around the lengths at which joining has a price. */
  #growing(): string {
    const random = this.#random;
    const times = (): string =>
      random.pick(['31', '32', '33', '63', '64', '65', '127', '500', '511', '512', '520', '1023', '1100']);
    const text = (): string => random.pick(["'a'", "'ab'", "'é'", "'😀'", "'1'", 's', 't']);
    const join = (): string =>
      random.pick(['s = s + t', 't = t + s', "s = s + 'x'", "s = 'x' + s", 's = s + s', 't = s + 1', 's = s + nil']);
    const joins = random.several(1, 4, () => `set ${join()}\n`).join('');
    return `set s = ${text()} * ${times()}\nset t = ${text()} * ${times()}\n${joins}emit [len(s), len(t), s == t, s < t, s[${random.int(70)}], t[${times()}]]\n`;
  }

  /** A handler that leaves or goes on with a loop, for an error in a block within. */
  #jumping(): string {
    const random = this.#random;
    const bad = (): string =>
      random.pick(['must false\n', 'fail\n', "set b = nil - 'x'\n", 'emit [1][a]\n', `must ${this.#leaf()}\n`]);
    const jump = random.pick([
      'break\n',
      'continue\n',
      'clear_error\nbreak\n',
      'clear_error\ncontinue\n',
      'clear_error\n',
      'emit 0\n',
    ]);
    const inner = random.pick([
      `if ${random.pick(['true', 'a == 2', 'not a'])}\n${bad()}endif\n`,
      `for each b in [1, 2]\n${bad()}emit b\nendfor\n`,
      `for each b in [1, 2]\nif b == 1\n${bad()}endif\nemit b\nendfor\n`,
      `if true\non error do\n${random.pick(['emit 1\n', 'emit system_error.code\n', bad()])}${random.pick(['', 'clear_error\n', 'break\n'])}endon\nif true\n${bad()}endif\nendif\n`,
    ]);
    return `for each a in [1, 2, 3]\non error do\n${random.pick(['', 'emit a\n'])}${jump}endon\n${inner}emit 'a' + a\nendfor\n`;
  }

  /** A value that nests around the most levels that may be printed, compared or sent. */
  #deep(): string {
    const random = this.#random;
    const levels = random.once(3) ? random.pick(['498', '499', '500', '501']) : String(2 + random.int(6));
    const [start, wrap] = random.pick([
      ['[]', '[l]'],
      ['nil', "{'k': l}"],
      ["'x'", '[l, 1]'],
    ]);
    const use = random.pick([
      'emit l == m',
      "set s = '' + l",
      'emit [len(l), typeof l]',
      'emit l',
      'set l[0] = 1',
      "set t = 'k{{l}}'",
    ]);
    return `set l = ${start}\nset n = 0\nwhile n < ${levels}\nset l = ${wrap}\nset n = n + 1\nendwhile\nset m = ${random.pick(['l', '[l]', 'l[0]', '[]'])}\n${use}\n`;
  }

  /** Places of a text, forwards and backwards, where characters have one unit or two. */
  #walking(): string {
    const random = this.#random;
    const text = random.pick(["'é😀x' * 40", "'x' * 100", "'😀' * 50", "'日本' * 60 + '😀'", "'ab' * 30"]);
    const place = (): string => String(random.int(random.pick([10, 70, 130])));
    return `set s = ${text}\nemit [${random.several(2, 5, () => `s[${place()}]`).join(', ')}, len(s), ord(s[${place()}])]\n`;
  }

  /** A list or map that grows, with or without a second place that holds it. */
  #filling(): string {
    const random = this.#random;
    const [empty, write] = random.pick([
      ['[]', 'l[n]'],
      ['{}', 'l[n]'],
      ["{'k': []}", 'l.k[n]'],
      ['[[1], {}]', 'l[1][n]'],
    ]);
    const held = random.pick(['', 'set m = l\n', 'set m = [l]\n', 'if n == 2\nset m = l\nendif\n']);
    return `set l = ${empty}\nset n = 0\nwhile n < ${2 + random.int(8)}\n${held}set ${write} = ${random.pick(['n', 'm', "'x'", '[n]'])}\nset n = n + 1\nendwhile\nemit [l, len(l), m]\n`;
  }
}
