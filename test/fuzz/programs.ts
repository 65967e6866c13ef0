import { BUILTINS } from '../../grammar/vocabulary/builtins.ts';
import type { Random } from './random.ts';

const NAMES = ['a', 'b', 'c', 'l', 'm', 't', 'g'] as const;
const VALUES = [
  ...[
    'nil',
    'true',
    'false',
    '0',
    '1',
    '2',
    '3',
    '0.5',
    '1e3',
    '1e308',
    '9007199254740993',
    '(-1)',
    '[]',
    '{}',
    "''",
    "'a'",
    "'1'",
  ],
  ...[
    "' 5 '",
    "'inf'",
    '"h\\u00e9\\n"',
    "'😀x'",
    "'ab' * 3",
    '[1, [2, 3]]',
    "{'k': 1, 'j': [1]}",
    '```v {{a}} {{l}}```',
    '{{a}}',
    'last',
  ],
  ...['tool.t.fuzzy(0.5)', 'tool.t.give([1, nil])', 'tool.t.retnil()', 'system_error', 'self', 'self.x'],
];
const BINARY = ['+', '-', '*', '/', '%', '**', '&', '|', '^', '==', '!=', '<', '>', '<=', '>=', 'and', 'or'];
const UNARY = ['- ', 'not ', 'no ', 'some ', '~', 'typeof '];
const CALLABLE = [...Object.keys(BUILTINS), 'TypeOf', 'eval'];

/** Makes a program that parses. It may contain every statement, operator and built-in function, on values of every type. */
export function program(random: Random): string {
  const writer = new Writer(random);
  const procedures = Array.from({ length: 1 + random.int(3) }, (_, index) => writer.procedure(`f${index}`));
  return `${procedures.join('')}${random.once(3) ? writer.handler() : ''}`;
}

class Writer {
  readonly #random: Random;
  #loops = 0;
  #inHandler = false;

  constructor(random: Random) {
    this.#random = random;
  }

  procedure(name: string): string {
    const parameters = this.#random.pick(['', 'needs a', 'needs a, b', 'needs a optional b', 'optional a, b returns c']);
    return `func ${name}(${parameters}) means\n${this.#block(3)}endfunc\n`;
  }

  handler(): string {
    return `on event 'x' ${this.#random.pick(['', "named 'n' "])}as e do\n${this.#block(2)}endon\n`;
  }

  #block(depth: number): string {
    const count = 1 + this.#random.int(4);
    const lines = Array.from({ length: count }, () => this.#statement(depth));
    if (depth > 0 && this.#random.once(4)) lines.splice(this.#random.int(count + 1), 0, this.#onError(depth));
    return lines.join('');
  }

  #onError(depth: number): string {
    const [inHandler, loops] = [this.#inHandler, this.#loops];
    this.#inHandler = true;
    const body = this.#block(depth - 1);
    this.#inHandler = inHandler;
    this.#loops = loops;
    return `on error do\n${body}${this.#random.once(2) ? 'clear_error\n' : ''}endon\n`;
  }

  #statement(depth: number): string {
    const kind = this.#random.int(depth > 0 ? 17 : 11);
    switch (kind) {
      case 0:
      case 1:
      case 2:
        return `set ${this.#target()} = ${this.#expression(3)}\n`;
      case 3:
        return `set ${this.#target()}, ${this.#target()} = ${this.#random.pick(['[1, 2]', 'l', '[b, a]'])}\n`;
      case 4:
      case 5:
        return `emit ${this.#expression(3)}\n`;
      case 6:
        return `call ${this.#call(2)}\n`;
      case 7:
        return `must ${this.#expression(2)}\n`;
      case 8:
        return this.#random.once(2)
          ? `fail ${this.#expression(1)}\n`
          : `whisper ${this.#expression(1)}, ${this.#expression(2)}\n`;
      case 9:
        return this.#loops > 0 ? this.#random.pick(['break\n', 'continue\n']) : 'clear event "x"\n';
      case 10:
        return this.#inHandler ? 'clear_error\n' : `return ${this.#expression(2)}\n`;
      case 11:
      case 12:
        return `if ${this.#expression(2)}\n${this.#block(depth - 1)}${this.#random.once(2) ? `else\n${this.#block(depth - 1)}` : ''}endif\n`;
      case 13:
        return this.#loop(`while ${this.#expression(2)}\n`, depth, 'endwhile\n');
      case 14:
        return this.#together();
      default: {
        const [key, value] = [this.#random.pick(NAMES), this.#random.pick(NAMES)];
        const names = this.#random.once(3) ? `${key}, ${value}` : value;
        return this.#loop(`for each ${names} in ${this.#expression(2)}\n`, depth, 'endfor\n');
      }
    }
  }

  /** No call may read a result of its block, so the results have names of their own; a statement after the block reads them. */
  #together(): string {
    const call = () => `tool.t.${this.#random.pick(['give', 'echo', 'setvar', 'rtfail', 'none'])}(${this.#expression(1)})`;
    const lines = [call(), ...this.#random.several(2, call)].map((made, index) =>
      this.#random.once(3) ? `call ${made}\n` : `set ${this.#random.pick(['q0', `q${index}`, 'q0[0]'])} = ${made}\n`,
    );
    const read = `set ${this.#target()} = [q0, q1, q2]\n`;
    return this.#random.once(2)
      ? `together\n${lines.join('')}endtogether\n${read}`
      : `for each ${this.#random.pick(NAMES)} in ${this.#random.pick(['l', "'ab'", '[1, 2]'])} together\n${lines.join('')}endfor\n${read}`;
  }

  #loop(head: string, depth: number, end: string): string {
    this.#loops++;
    const body = this.#block(depth - 1);
    this.#loops--;
    return head + body + end;
  }

  #target(): string {
    const name = this.#random.pick(NAMES);
    const steps = this.#random.several(2, () =>
      this.#random.pick(['.k', '.error', '[0]', '[len(l)]', `[${this.#expression(1)}]`]),
    );
    return this.#random.once(2) ? name : name + steps.join('');
  }

  #call(depth: number): string {
    const args = (most: number): string => this.#random.several(most, () => this.#expression(depth - 1)).join(', ');
    if (this.#random.once(3)) return `f${this.#random.int(3)}(${args(3)})`;
    if (this.#random.once(4))
      return `tool.t.${this.#random.pick(['give', 'echo', 'setvar', 'rtfail', 'panic', 'none'])}(${args(2)})`;
    return `${this.#random.pick(CALLABLE)}(${this.#expression(depth - 1)})`;
  }

  #expression(depth: number): string {
    const random = this.#random;
    if (depth <= 0 || random.once(3)) return random.once(2) ? random.pick(NAMES) : random.pick(VALUES);
    const inner = (): string => this.#expression(depth - 1);
    switch (random.int(8)) {
      case 0:
      case 1:
      case 2:
        return `(${inner()}) ${random.pick(BINARY)} (${inner()})`;
      case 3:
        return `${random.pick(UNARY)}(${inner()})`;
      case 4:
        return `(${inner()})${random.pick(['[0]', '[1]', '.k', "['k']", '[-1]', `[${inner()}]`])}`;
      case 5:
        return `[${random.several(3, inner).join(', ')}]`;
      case 6:
        return `{${random.several(2, () => `(${inner()}): (${inner()})`).join(', ')}}`;
      default:
        return this.#call(depth);
    }
  }
}
