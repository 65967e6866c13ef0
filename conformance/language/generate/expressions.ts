/** Makes expressions: every form, on values of every type, with numbers and texts at the edges. */
import type { Random } from './random.ts';

/** The variables of generated programs. `g`, `h` and the names of {@link GLOBALS} are globals. */
export const NAMES = ['a', 'b', 'c', 'l', 'm', 's', 't', 'n'] as const;

/** The globals of every generated program: a value of each kind that the language cannot write. */
export const GLOBALS = {
  g: [1, { k: [2, 'two'] }, 'three'],
  h: 'text of a global',
  fz: { $fuzzy: 0.25 },
  by: { $bytes: 'AAEC' },
  ti: { $time: '2025-10-15T08:00:00.25Z' },
  er: { $error: { code: 5, message: 'boom' } },
  ha: { $handle: 'file' },
} as const;

const NUMBERS = [
  ...['0', '1', '2', '3', '5', '7', '10', '0.5', '2.50', '1e3', '007', '1e21', '1e-7', '1e300', '1e308', '5e-324'],
  ...[
    '9007199254740991',
    '9007199254740992',
    '9007199254740993',
    '9223372036854775807',
    '9223372036854774784',
    '18446744073709551616',
  ],
  ...[
    '1.7976931348623157e308',
    '4294967296',
    '2147483648',
    '1000000',
    '1000001',
    '(1e308 * 10)',
    '(-1e308 * 10)',
    '(1e308 * 10 - 1e308 * 10)',
    '(-0)',
  ],
];

const TEXTS = [
  ...[
    "''",
    '""',
    "'a'",
    "'b'",
    "'abc'",
    "'1'",
    "'2'",
    "'10'",
    "'9'",
    "'007'",
    "' 5 '",
    "'-3'",
    "'1.5'",
    "'1e3'",
    "'1_0'",
    "'_1'",
    "'1__0'",
  ],
  ...[
    "'inf'",
    "'-Infinity'",
    "'NaN'",
    "'+nan'",
    "'0x1p4'",
    "'0x1'",
    "'0x_8p-1'",
    "'1e400'",
    "'.5'",
    "'5.'",
    "'.'",
    "'+'",
    "'1e'",
    "'true'",
    "'nil'",
  ],
  ...[
    '"h\\u00e9\\n"',
    '"\\ud83d\\ude00x"',
    '"tab\\there"',
    '"q\\"q"',
    '"\\x7f\\x01"',
    '"\\u00a0"',
    '"\\u2028"',
    '"back\\\\slash"',
    "'é'",
    "'😀'",
    "'日本'",
  ],
  ...[
    "'{{a}}'",
    "'{{l[0]}} {{ m.k }}'",
    "'{{m.k.j[1]}}{{nobody}}'",
    "'{{1 + 1}}{{len}}{{'",
    "'k'",
    "'j'",
    "'a,b'",
    "'x' * 63",
    "'x' * 64",
    "'x' * 65",
  ],
  ...["'1' * 63", "'1' * 64", "'ab' * 20", "'😀' * 20"],
];

const ATOMS = ['nil', 'true', 'false', '[]', '{}', 'last', 'self', 'g', 'h', 'fz', 'by', 'ti', 'er', 'ha', 'nobody'];

const CONTAINERS = [
  ...[
    '[1, 2]',
    '[1, [2, 3]]',
    "['a', nil, true]",
    '[[1], [2], []]',
    "{'k': 1}",
    "{'k': {'j': [1, 2]}}",
    "{'b': 1, 'a': 2}",
    "{2: 'x', 1: 'y'}",
  ],
  ...[
    "{'k': 1, 'k': 2}",
    '{a: 1}',
    "{'code': 1, 'message': 'm'}",
    '[1, 2, 3, 4, 5, 6, 7, 8]',
    "{'$num': 1}",
    '[0.1, 1e21, -0]',
    '[er, ti, by]',
    '[fz, ha]',
  ],
];

const BINARY = ['+', '+', '+', '-', '*', '*', '/', '%', '**', '&', '|', '^', '==', '==', '!=', '<', '>', '<=', '>=', 'and', 'or'];
const UNARY = ['- ', 'not ', 'no ', 'some ', '~', 'typeof '];

/** The built-in functions, some in another letter case. */
const FUNCTIONS = [
  ...[
    'len',
    'len',
    'len',
    'Len',
    'char',
    'ord',
    'typeof',
    'TypeOf',
    'is_string',
    'is_number',
    'is_bool',
    'is_list',
    'is_map',
    'is_nil',
    'IS_NIL',
  ],
  ...[
    'is_timedate',
    'is_fuzzy',
    'is_error',
    'is_int',
    'is_float',
    'is_event',
    'is_function',
    'is_tool',
    'ln',
    'log',
    'sin',
    'cos',
    'tan',
    'asin',
  ],
  ...['acos', 'atan', 'eval', 'eval', 'eval'],
];

/** Functions that are words of expressions: `call` cannot name them. */
const RESERVED: readonly string[] = ['eval', 'typeof'];

const ERROR_FIELDS = ['system_error.code', 'system_error.name', 'system_error.line', 'system_error.column', 'system_error.stack'];

/** Writes expressions. */
export class Expressions {
  readonly #random: Random;
  /** The procedures that a call may name, with the number of their arguments. */
  readonly #procedures: readonly (readonly [name: string, needs: number, most: number])[];
  /** The tools that a call may name; without them programs are those of the same seed without tools. */
  readonly #tools: readonly string[];

  constructor(random: Random, procedures: readonly (readonly [string, number, number])[], tools: readonly string[] = []) {
    this.#random = random;
    this.#procedures = procedures;
    this.#tools = tools;
  }

  /** An expression of at most this depth. */
  any(depth: number): string {
    const random = this.#random;
    if (depth <= 0 || random.once(4)) return this.leaf();
    const inner = (): string => this.#operand(depth - 1);
    switch (random.int(14)) {
      case 0:
      case 1:
      case 2:
        return `${inner()} ${random.pick(BINARY)} ${inner()}`;
      case 3:
        return `${inner()} ${random.pick(BINARY)} ${inner()} ${random.pick(BINARY)} ${inner()}`;
      case 4:
        return `${random.pick(UNARY)}${inner()}`;
      case 5:
      case 6:
        return `${this.#base(depth - 1)}${this.#steps(depth - 1)}`;
      case 7:
        return `[${random.several(0, 3, () => this.any(depth - 1)).join(', ')}]`;
      case 8:
        return `{ ${random.several(0, 3, () => `${inner()}: ${this.any(depth - 1)}`).join(', ')} }`;
      case 9:
        return this.#template(depth - 1);
      case 10:
        return `{{${random.pick([...NAMES, 'last', '@nl', 'g'])}}}`;
      case 11:
        return `(${this.any(depth - 1)})`;
      default:
        return this.call(depth - 1);
    }
  }

  /** A name, a literal or a small container. */
  leaf(): string {
    const random = this.#random;
    switch (random.int(10)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return random.pick(NAMES);
      case 4:
      case 5:
        return random.pick(NUMBERS);
      case 6:
      case 7:
        return random.pick(TEXTS);
      case 8:
        return random.once(12) ? random.pick(ERROR_FIELDS) : random.pick(ATOMS);
      default:
        return random.pick(CONTAINERS);
    }
  }

  /** A call of a procedure or of a built-in function, sometimes with a wrong number of arguments. */
  call(depth: number, statement = false): string {
    const random = this.#random;
    const args = (count: number): string => Array.from({ length: count }, () => this.any(depth)).join(', ');
    if (this.#tools.length > 0 && random.once(2)) return this.tool(depth);
    if (random.once(2))
      return `${random.pick(statement ? FUNCTIONS.filter((name) => !RESERVED.includes(name)) : FUNCTIONS)}(${this.any(depth)})`;
    if (random.once(20)) return `${random.pick(['len', 'ord', 'missing'])}(${args(random.int(3))})`;
    const [name, needs, most] = random.pick(this.#procedures);
    return `${name}(${args(random.once(15) ? random.int(4) : needs + random.int(most - needs + 1))})`;
  }

  /** A call of a tool. Half of its arguments are plain, so that something is known of them. */
  tool(depth: number): string {
    const random = this.#random;
    const arg = (): string => (random.once(2) ? this.leaf() : this.any(depth));
    return `${random.pick(this.#tools)}(${random.several(0, 2, arg).join(', ')})`;
  }

  /** The steps of a target. */
  targetSteps(): string {
    return this.#random.several(0, 3, () => this.#step(1)).join('');
  }

  #operand(depth: number): string {
    return this.#random.once(3) ? this.leaf() : `(${this.any(depth)})`;
  }

  #base(depth: number): string {
    return this.#random.once(2) ? this.#random.pick(NAMES) : `(${this.any(depth)})`;
  }

  #steps(depth: number): string {
    return this.#random.several(1, 3, () => this.#step(depth)).join('');
  }

  #step(depth: number): string {
    const random = this.#random;
    return random.pick([
      '.k',
      '.j',
      '.error',
      '[0]',
      '[0]',
      '[1]',
      '[2]',
      "['k']",
      "['1']",
      '[-1]',
      '[1.5]',
      '[nil]',
      '[len(l)]',
      `[${this.any(depth)}]`,
    ]);
  }

  #template(depth: number): string {
    const part = (): string => {
      const expression = this.any(depth);
      // A template in a template would end the outer one.
      const placeholder = /```|\{\{|\}\}/.test(expression) ? '{{}}' : `{{ ${expression} }}`;
      return this.#random.pick([
        'x',
        ' y ',
        '{{@nl}}',
        '{{@what}}',
        '{{}}',
        placeholder,
        placeholder,
        `{{${this.#random.pick(NAMES)}}}`,
      ]);
    };
    return `\`\`\`${this.#random.several(0, 4, part).join('')}${this.#random.once(8) ? '{{' : ''}\`\`\``;
  }
}
