/** Makes programs: all statements, handlers in every nesting, events, copies and aliases, errors in every position. */
import { Edges, TWINS, WIDE } from './edges.ts';
import { Expressions, GLOBALS, NAMES } from './expressions.ts';
import { Random } from './random.ts';
import { rareProgram } from './rare.ts';

/** What a tool answers: a value, or an error. */
export type Answer = { readonly value: Payload } | { readonly code: number; readonly message: string };

/** A program with all that it needs to run. */
export interface Program {
  readonly source: string;
  /** The answers to the calls of tools, in the order in which they begin; after the last one, the first one again. */
  readonly answers: readonly Answer[];
  readonly constants: Readonly<Record<string, Payload>>;
  /** `main`, or null for command blocks. */
  readonly call: string | null;
  readonly globals: typeof GLOBALS;
  readonly stdin: readonly string[] | null;
  readonly events: readonly Delivery[];
}

/** An event that is sent after the program. */
export interface Delivery {
  readonly name: string;
  readonly source: string;
  readonly payload: Payload;
  readonly id: string;
  readonly ts: number;
}

type Payload = null | boolean | number | string | readonly Payload[] | { readonly [key: string]: Payload };

const PROCEDURES = [
  ['f0', 0, 0, ''],
  ['f1', 1, 1, 'needs a'],
  ['f2', 1, 2, 'needs a optional b'],
  ['f3', 0, 2, 'optional g, l returns c'],
] as const;

const PAYLOADS: readonly Payload[] = [null, 5, 'text', [1, [2]], { k: 1, j: { k: 'v' } }, { 2: 'b', 1: 'a' }];

/** The tools of programs with tools. Those of the group `set` may set variables of their caller; nobody provides `none`. */
export const TOOLS = ['tool.a.Get', 'tool.a.Put', 'tool.b.Send', 'tool.set.Any', 'tool.none.At'] as const;

const ANSWERS: readonly Answer[] = [
  ...[null, true, 0, -1.5, 12, '', 'text', '7', 'é😀', 'x'.repeat(70)].map((value) => ({ value })),
  ...[[], [1, [2, 'b']], {}, { k: 1, j: [{ k: 'v' }] }, { 2: 'b', 1: 'a' }, { $$k: 1, $$: [] }].map((value) => ({ value })),
  ...[{ $num: 'NaN' }, { $num: '-0' }, { $num: '-Infinity' }, { $bytes: 'AAEC' }, { $bytes: '' }].map((value) => ({ value })),
  ...[{ $time: '2024-02-29T23:59:59.5+01:00' }, { $fuzzy: 0.5 }, { $fuzzy: 1 }, { $handle: 'file' }].map((value) => ({ value })),
  ...[{ $error: { code: 9, message: 'no such key' } }, { $error: {} }, { $error: { message: '' } }].map((value) => ({ value })),
  ...[3, 4, 7, 9, 20, 21, 1000, 1003, 99_909].map((code) => ({ code, message: `error ${code}` })),
];

/** Constants of the host. `s` and `l` are names of variables too, which hide them. */
const CONSTANTS = { con: 3.5, colours: { k: ['red', 'green'], j: { k: 1 } }, l: [[1, 2], 3], s: 'constant' };

/** What a program may have. Without options, the program of a seed stays the same for ever. */
export interface Options {
  /** It calls tools. */
  readonly tools?: boolean;
  /** It asks agents too; when absent, every program with tools does. */
  readonly asks?: boolean;
  /** It has a few statements, so that many can be tried. */
  readonly small?: boolean;
  /** It may have constants, handlers of events within procedures, and lines that come to an end. */
  readonly rich?: boolean;
  /** Half of its statements are for what random ones seldom reach. */
  readonly edges?: boolean;
  /** It compares long texts and leaves arguments out, and does nothing else. */
  readonly rare?: boolean;
}

/** The program of a seed. */
export function program(seed: number, options: Options = {}): Program {
  const random = new Random(seed);
  const { tools = false, small = false, rich = false, edges = false, rare = false } = options;
  const writer = new Writer(random, options);
  const commands = !rare && random.once(small ? 2 : 3);
  const source = rare ? rareProgram(random, tools ? TOOLS : []) : commands ? writer.commands() : writer.library();
  const line = (): string => random.pick(['line', 'two words', '', '12']);
  const few = rich && !random.once(8);
  return {
    source,
    call: commands ? null : 'main',
    globals: GLOBALS,
    stdin: random.once(2) ? (few ? random.several(0, 3, line) : random.several(200, 200, line)) : null,
    events: commands ? [] : random.several(0, rich && random.once(8) ? 9 : 3, () => delivery(random)),
    answers: tools && rich ? random.several(1, 5, () => random.pick(ANSWERS)) : [],
    constants: edges ? TWINS : rich && random.once(4) ? CONSTANTS : {},
  };
}

function delivery(random: Random): Delivery {
  return { name: random.pick(['x', 'y', 'x1']), source: 'src', payload: random.pick(PAYLOADS), id: 'event', ts: 5 };
}

/** What a statement may contain at its place. */
interface Place {
  readonly depth: number;
  readonly loops: number;
  readonly inHandler: boolean;
  readonly inCommand: boolean;
}

class Writer {
  readonly #random: Random;
  readonly #expressions: Expressions;
  readonly #tools: boolean;
  readonly #asks: boolean;
  readonly #rich: boolean;
  readonly #edges: Edges | undefined;
  /** A program of a few statements. */
  readonly #tiny: boolean;
  /** Most programs with tools are small, so that many can be tried. */
  readonly #small: boolean;

  constructor(random: Random, { tools = false, asks = tools, small = false, rich = false, edges = false }: Options) {
    this.#random = random;
    this.#tools = tools;
    this.#asks = asks;
    this.#rich = rich;
    this.#tiny = small;
    this.#small = small || (tools && !random.once(8));
    const procedures = edges ? [PROCEDURES[1], WIDE] : small ? PROCEDURES.slice(1, 3) : PROCEDURES;
    this.#expressions = new Expressions(
      random,
      procedures.map(([name, needs, most]) => [name, needs, most] as const),
      tools ? TOOLS : [],
    );
    this.#edges = edges ? new Edges(random, this.#expressions) : undefined;
  }

  commands(): string {
    const place = { depth: this.#tiny ? 1 : this.#small ? 2 : 3, loops: 0, inHandler: false, inCommand: true };
    return this.#random.several(1, this.#tiny ? 1 : 3, () => `command\n${this.#body(place)}endcommand\n`).join('');
  }

  library(): string {
    if (this.#tiny) return this.#tinyLibrary();
    const top = { depth: this.#small ? 1 : 2, loops: 0, inHandler: false, inCommand: false };
    const procedures = PROCEDURES.map(([name, , , signature]) => `func ${name}(${signature}) means\n${this.#body(top)}endfunc\n`);
    const events = this.#random.several(0, 2, () => this.#event());
    return `${procedures.join('')}func main() means\n${this.#body({ ...top, depth: top.depth + 1 })}endfunc\n${events.join('')}`;
  }

  /** A procedure that `main` may call, and sometimes a handler. */
  #tinyLibrary(): string {
    const random = this.#random;
    const top = { depth: 1, loops: 0, inHandler: false, inCommand: false };
    const [name, , , signature] = random.once(2) ? PROCEDURES[1] : this.#edges === undefined ? PROCEDURES[2] : WIDE;
    const helper = random.once(2) ? `func ${name}(${signature}) means\n${this.#block({ ...top, depth: 0 })}endfunc\n` : '';
    return `${helper}func main() means\n${this.#body(top)}endfunc\n${random.once(3) ? this.#event() : ''}`;
  }

  #event(): string {
    const calling = this.#tools ? ["tool.a.Get('x')", "f1('x')"] : [];
    const name = this.#random.pick(["'x'", "'x'", "'y'", "'x' + 1", 'nobody', ...calling]);
    const named = this.#random.pick(['', '', " named 'n'", " named 'o'"]);
    const as = this.#random.pick(['', ' as e', ' as g', ' as a']);
    return `on event ${name}${named}${as} do\n${this.#body({ depth: this.#tiny ? 0 : 2, loops: 0, inHandler: false, inCommand: false })}endon\n`;
  }

  /** The block of a procedure, command or event. Most have variables with values and go on after errors. */
  #body(place: Place): string {
    const random = this.#random;
    const values = random
      .several(0, this.#small ? 2 : 5, () => `set ${random.pick(NAMES)} = ${this.#expressions.leaf()}\n`)
      .join('');
    if (random.once(3)) return values + this.#block(place);
    const handled = random.pick([
      '',
      'emit system_error.code\n',
      'emit [system_error.code, system_error.line, system_error.column]\n',
    ]);
    return `${values}${this.#lines(place).join('')}on error do\n${handled}clear_error\nendon\n`;
  }

  #lines(place: Place): string[] {
    return this.#random.several(1, this.#small ? 3 : 5, () => this.#statement(place));
  }

  #block(place: Place): string {
    const lines = this.#lines(place);
    if (this.#random.once(place.depth > 0 ? 3 : 8)) lines.splice(this.#random.int(lines.length + 1), 0, this.#onError(place));
    return lines.join('');
  }

  #onError(place: Place): string {
    const body = this.#block({ ...place, depth: place.depth - 1, inHandler: true });
    const cleared = this.#random.once(2) ? '' : 'clear_error\n';
    return `on error do\n${this.#random.once(2) ? cleared + body : body + cleared}endon\n`;
  }

  #statement(place: Place): string {
    const random = this.#random;
    const any = (depth: number): string => this.#expressions.any(this.#tiny ? Math.min(2, depth) : depth);
    const inner = { ...place, depth: place.depth - 1 };
    if (this.#edges !== undefined && random.once(2)) return this.#edges.statements();
    if (this.#tools && random.once(4)) return this.#calling(place);
    if (this.#rich && !place.inCommand && random.once(60)) return this.#event();
    switch (random.int(place.depth > 0 ? 26 : 19)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return `set ${this.#target()} = ${any(3)}\n`;
      case 4:
        return `set ${random.pick(NAMES)} = ${random.pick(NAMES)}\n`;
      case 5:
        return `set ${this.#target()}, ${this.#target()} = ${random.pick(['[1, 2]', 'l', '[b, a]', '[[1], {}]', any(2)])}\n`;
      case 6:
      case 7:
      case 8:
        return `emit ${any(3)}\n`;
      case 9:
        return `set ${random.pick(NAMES)}${random.pick(['[0]', '.k', '[1].k', '[len(l)]', '.k[1]', '[0][0]'])} = ${any(2)}\n`;
      case 10:
        return `call ${this.#expressions.call(2, true)}\n`;
      case 11:
        return `must ${any(2)}\n`;
      case 12:
        return random.once(3) ? `fail${random.pick(['', ` ${any(1)}`])}\n` : `whisper ${any(1)}, ${any(2)}\n`;
      case 13:
        return place.loops > 0
          ? random.pick(['break\n', 'continue\n'])
          : random.pick(["clear event 'x'\n", "clear event named 'n'\n", `clear event ${any(1)}\n`]);
      case 14:
        return random.once(place.inHandler ? 1 : 8) ? 'clear_error\n' : `emit ${any(2)}\n`;
      case 15:
        return this.#return(place);
      case 16:
        return random.once(3) ? `promptuser ${any(1)} into ${this.#target()}\n` : `emit [${NAMES.join(', ')}]\n`;
      case 17:
        return `set ${random.pick(['g', 'self', 'h', 'l', 'l'])} = ${any(1)}\n`;
      case 18:
        return `set s = s + ${any(1)}\n`;
      case 19:
      case 20:
      case 21:
        return `if ${any(2)}\n${this.#block(inner)}${random.once(2) ? `else\n${this.#block(inner)}` : ''}endif\n`;
      case 22:
        return this.#while(inner);
      default: {
        const [key, value] = [random.pick(NAMES), random.pick([...NAMES, 'g'])];
        const names = random.once(3) && key !== value ? `${key}, ${value}` : value;
        return `for each ${names} in ${any(2)}\n${this.#block({ ...inner, loops: inner.loops + 1 })}endfor\n`;
      }
    }
  }

  /** A statement around calls of tools. */
  #calling(place: Place): string {
    const random = this.#random;
    const tool = (): string => this.#expressions.tool(2);
    const step = (): string => (random.once(2) ? `call ${tool()}\n` : `set ${this.#target()} = ${tool()}\n`);
    if (random.once(2)) return this.#traced(place);
    switch (random.int(8)) {
      case 0:
        return `together\n${random.several(1, 3, () => this.#branch()).join('')}endtogether\n`;
      case 1: {
        const body = random.several(1, 2, () => this.#branch()).join('');
        return `for each ${random.pick(['a', 'b', 'c', 'n'])} in ${this.#expressions.any(1)} together\n${body}endfor\n`;
      }
      case 2:
        if (!this.#asks) return this.#traced(place);
        return `ask ${this.#expressions.leaf()}, ${this.#expressions.any(1)}${random.pick(['', " with {'k': a}"])} into ${this.#target()}\n`;
      case 3:
        return `must ${tool()}\n`;
      default:
        return step();
    }
  }

  /** A value that is made in a few steps, and the call that gets it. */
  #traced({ depth }: Place): string {
    const random = this.#random;
    const leaf = (): string => this.#expressions.leaf();
    const tool = random.pick(TOOLS);
    const [a, b] = [random.pick(NAMES), random.pick(NAMES)];
    const choice = `if ${leaf()}\nset ${a} = ${leaf()}\nelse\nset ${a} = ${leaf()}\nendif\n`;
    switch (random.int(depth > 0 ? 9 : 6)) {
      case 0:
        return `set n = len(${leaf()}) ${random.pick(['-', '+', '*'])} len(${leaf()})\ncall ${tool}(n)\n`;
      case 1:
        return `set l = [${leaf()}, ${leaf()}]\nset l[${random.pick(['0', '1', '2', 'len(l)'])}] = ${leaf()}\ncall ${tool}(l, l[1])\n`;
      case 2:
        return `set m = {'k': ${leaf()}}\nset m${random.pick(['.k', '.j', '[b]'])} = ${leaf()}\ncall ${tool}(m, m.k)\n`;
      case 3:
        return `set ${a} = ${leaf()}\nset ${b} = ${leaf()} ${random.pick(['and', 'or'])} ${random.pick(TOOLS)}()\ncall ${tool}(${a})\n`;
      case 4:
        return `set ${a} = ${leaf()} + ${leaf()}\ncall ${tool}(${a}, \`\`\`x{{ ${b} }}y\`\`\`)\n`;
      case 5:
        return `set ${a}, ${b} = [${leaf()}, ${leaf()}]\ncall ${tool}(${a}, ${b})\n`;
      case 6:
        return `${choice}if ${random.pick(['', 'not '])}${a}\ncall ${tool}(${a})\nendif\n`;
      case 7:
        return `for each a, c in ${random.pick(["'abcdefghijklmnopqrstuvwxyz0123'", 'l', 'm', '[1, 2]', "{'k': 1, 'j': 2}"])}\ncall ${tool}(a, c)\nendfor\n`;
      default:
        return `${choice}set n = len(${a}) - len(b)\nwhile n < 3\nset n = n + 1\nset ${b} = ${leaf()}\ncall ${tool}(n, ${b}, ${a})\nendwhile\n`;
    }
  }

  /** A call that runs together with others. Its arguments may not read what the block sets. */
  #branch(): string {
    const random = this.#random;
    const args = random.several(0, 2, () => random.pick(['a', 'b', 'c', '1', "'k'", '[a, b]', 'g', 'f1(c)', 'tool.set.Any(a)']));
    const call = `${random.pick(TOOLS)}(${args.join(', ')})`;
    const target = `${random.pick(['l', 'm', 's', 't'])}${random.pick(['', '', '[0]', '.k', '[a]', '[tool.set.Any(b)]'])}`;
    return random.once(2) ? `call ${call}\n` : `set ${target} = ${call}\n`;
  }

  #return(place: Place): string {
    if (place.inCommand) return 'return\n';
    if (this.#random.once(4)) return `return ${this.#expressions.any(1)}, ${this.#expressions.any(2)}\n`;
    return this.#random.once(6) ? 'return\n' : `return ${this.#expressions.any(2)}\n`;
  }

  /** Most loops count, so that they end. */
  #while(place: Place): string {
    const body = this.#block({ ...place, loops: place.loops + 1 });
    if (this.#random.once(5)) return `while ${this.#expressions.any(2)}\n${body}endwhile\n`;
    return `set n = 0\nwhile n < ${this.#random.int(4)}\nset n = n + 1\n${body}endwhile\n`;
  }

  #target(): string {
    const name = this.#random.once(20) ? this.#random.pick(['g', 'self', 'z']) : this.#random.pick(NAMES);
    return this.#random.once(2) ? name : name + this.#expressions.targetSteps();
  }
}
