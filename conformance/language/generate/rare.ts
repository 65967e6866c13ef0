/** Makes programs for two things that no other program shows: what comparing long texts costs, and what an argument is that is left out. */
import type { Random } from './random.ts';

/** Lengths around those at which comparing costs one fuel more. */
const LENGTHS = [20, 33, 63, 64, 65, 127, 128, 129, 191, 192, 193, 255, 256, 257, 640, 1023, 1024, 1025, 2048, 5000];
const UNITS = ['a', 'b', 'é', '😀', 'Ａ', '1', '-', 'inf'];
const ORDERS = ['<', '>', '<=', '>='];

/** Names of optional parameters. The host has a global or a constant of the name of most, which an absent argument hides. */
const OPTIONAL = ['g', 'h', 'fz', 'ti2', 'er2', 'tx', 'm'];

/** The source of a program with a procedure `main`. The constants of the host are `TWINS`. */
export function rareProgram(random: Random, tools: readonly string[]): string {
  const needed = ['a', 'b', 'c', 'd'].slice(0, random.int(5));
  const first = random.int(OPTIONAL.length);
  const optional = OPTIONAL.slice(first, first + 1 + random.int(3));
  const parameters = `${needed.length === 0 ? '' : `needs ${needed.join(', ')} `}optional ${optional.join(', ')}`;
  const uses = random.several(1, 3, () => use(random, optional, tools)).join('');
  const calls = random.several(1, 3, () => {
    const given = needed.length + random.int(optional.length + 1);
    const args = Array.from({ length: given }, () => random.pick(['1', "'x'", 'nil', 's', 't', '[g]', 'ti2', 's < t']));
    return `${random.pick(['emit ', 'set l = ', 'call '])}f(${args.join(', ')})\n`;
  });
  const statements = [...calls, ...random.several(1, 3, () => compared(random))].sort(() => random.int(3) - 1);
  const handler = 'on error do\nemit [system_error.code, system_error.line]\nclear_error\nendon\n';
  return (
    `func f(${parameters} returns r) means\n${uses}set r = ${random.pick(optional)}\nreturn r\nendfunc\n` +
    `func main() means\n${random.once(3) ? '' : handler}set s = ${text(random)}\nset t = ${text(random)}\n${statements.join('')}endfunc\n`
  );
}

/** A long text that is not joined: a number, a word, or neither, written out or repeated. */
function text(random: Random): string {
  const [unit, length] = [random.pick(UNITS), random.pick(LENGTHS)];
  const times = Math.ceil(length / unit.length);
  if (length > 200 || random.once(2)) return `'${unit}' * ${times}`;
  return `'${unit.repeat(times)}${random.pick(['', 'x', 'é', '1'])}'`;
}

function compared(random: Random): string {
  const order = (): string => `${random.pick(['s', 't', text(random)])} ${random.pick(ORDERS)} ${random.pick(['s', 't', 't'])}`;
  return random.pick([
    `emit [${random.several(1, 4, order).join(', ')}]\n`,
    `if ${order()}\nemit ${order()}\nelse\nemit 0\nendif\n`,
    `set n = 0\nwhile n < 3 and ${order()}\nset n = n + 1\nendwhile\nemit n\n`,
    `must ${order()}\nemit '${random.pick(['', 'x'])}'\n`,
  ]);
}

/** A statement that shows whether an optional argument is there. */
function use(random: Random, optional: readonly string[], tools: readonly string[]): string {
  const name = random.pick(optional);
  const forms = [
    `emit [${optional.join(', ')}]\n`,
    `emit typeof ${name}\n`,
    `emit '{{${name}}}' + eval('{{${name}}}')\n`,
    `if ${random.pick(['no', 'some'])} ${name}\nset ${name} = ${random.pick(['1', '[2]'])}\nendif\nemit ${name}\n`,
    `set ${name}${random.pick(['.k', '[0]'])} = 1\nemit ${name}\n`,
    `for each e in ${name}\nemit e\nendfor\n`,
  ];
  return random.pick(tools.length === 0 ? forms : [...forms, `call ${random.pick(tools)}(${optional.join(', ')})\n`]);
}
