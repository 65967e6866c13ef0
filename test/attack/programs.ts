import type { LimitOptions, RunOptions } from '../../src/entries/index.ts';
import { type Ending, quota } from './kit.ts';

/** A hostile program and how it must end; null: it must succeed, having been harmless after all. */
export interface Attack {
  readonly name: string;
  readonly source: string;
  readonly ending: Ending | null;
  readonly options?: RunOptions;
  /** The host itself gives what is too large, and the process reads it before the program starts. */
  readonly given?: true;
}

const commands = (...lines: string[]): string => `command\n${lines.join('\n')}\nendcommand\n`;
const forever = (...lines: string[]): string[] => ['while true', ...lines, 'endwhile'];
const times = (count: number, ...lines: string[]): string[] => [
  'set i = 0',
  `while i < ${count}`,
  ...lines,
  'set i = i + 1',
  'endwhile',
];
const limits = (given: LimitOptions): RunOptions => ({ limits: given });
const code = (number: number): Ending => ({ code: `NS${number}` });

/** Programs that compute without end. */
export const ENDLESS: readonly Attack[] = [
  { name: 'a loop', source: commands(...forever('set n = 1')), ending: quota('fuel') },
  { name: 'a loop that nothing is in', source: commands('set n = 1', 'while n', 'set n = n', 'endwhile'), ending: quota('fuel') },
  {
    name: 'a loop that fuel does not end',
    source: commands(...forever('set n = 1')),
    ending: quota('cpuMs'),
    options: limits({ cpuMs: 20, fuel: 1_000_000_000 }),
  },
  {
    name: 'a handler that clears every error of a loop',
    source: commands('on error do', 'clear_error', 'endon', ...forever('set n = 1 / 0')),
    ending: quota('fuel', 'cpuMs'),
  },
  {
    name: 'a handler that raises what it handles',
    source: commands('on error do', "fail 'again'", 'endon', "fail 'first'"),
    ending: code(1),
  },
  {
    name: 'handlers within each other over many calls',
    source:
      "func f(needs n) means\non error do\nfail 'again'\nendon\ncall f(n + 1)\nendfunc\nfunc g() means\non error do\nclear_error\nendon\nwhile true\ncall f(0)\nendwhile\nendfunc\n",
    ending: quota('fuel', 'cpuMs'),
    options: { call: { name: 'g' } },
  },
  {
    name: 'recursion',
    source: 'func f(needs n) means\nreturn f(n + 1)\nendfunc\n',
    ending: code(37),
    options: { call: { name: 'f', args: [0] } },
  },
  {
    name: 'recursion of two, doubled',
    source:
      'func f(needs n) means\nreturn g(n + 1) + g(n + 1)\nendfunc\nfunc g(needs n) means\nif n > 60\nreturn 1\nendif\nreturn f(n)\nendfunc\n',
    ending: quota('fuel', 'cpuMs'),
    options: { call: { name: 'f', args: [0] } },
  },
  {
    name: 'recursion that is caught and tried again',
    source:
      'func f(needs n) means\nreturn f(n + 1)\nendfunc\nfunc g() means\non error do\nclear_error\nendon\nwhile true\ncall f(0)\nendwhile\nendfunc\n',
    ending: quota('fuel', 'cpuMs'),
    options: { call: { name: 'g' } },
  },
  {
    name: 'a list that grows while it is walked',
    source: commands('set l = [1]', 'for each x in l', 'set l[len(l)] = x', 'endfor', ...forever('set l = l')),
    ending: quota('fuel'),
  },
  {
    name: 'comparisons of two deep values',
    source: commands('set a = [1]', 'set b = [1]', ...times(300, 'set a = [a]', 'set b = [b]'), ...forever('set c = a == b')),
    ending: quota('fuel', 'cpuMs'),
  },
  {
    name: 'comparisons of one shared value that unfolds to 2²³',
    source: commands('set a = [1]', 'set b = [1]', ...times(23, 'set a = [a, a]', 'set b = [b, b]'), 'set c = a == b'),
    ending: quota('fuel', 'cpuMs'),
  },
  {
    name: 'a shared value that would unfold to 2⁶⁰',
    source: commands('set a = [1]', ...times(60, 'set a = [a, a]')),
    ending: quota('valueBytes'),
  },
  {
    name: 'a long text read as a number, again and again',
    source: commands("set s = '1' * 1000000", ...forever('set n = s + 0', "set n = s == '2'", 'set n = len(s)')),
    ending: quota('fuel', 'cpuMs', 'memoryBytes'),
  },
  {
    name: 'an index into a text of two units a character',
    source: commands('set s = char(128512) * 500000', ...forever('set c = s[499999]', 'set c = s[250000]')),
    ending: quota('fuel', 'cpuMs'),
  },
  {
    name: 'eval of braces that lead nowhere',
    source: commands("set s = '{{ a' * 200000", ...forever('set t = eval(s)')),
    ending: quota('fuel', 'cpuMs', 'memoryBytes'),
  },
  {
    name: 'eval of names with many blanks',
    source: commands("set s = '{{a' + ' ' * 100000", 'set s = s * 10', ...forever('set t = eval(s)')),
    ending: quota('fuel', 'cpuMs', 'memoryBytes'),
  },
  {
    name: 'eval of dots and blanks that end without a brace',
    source: commands("set s = '{{a' + ' . a' * 50000", ...forever('set t = eval(s)')),
    ending: quota('fuel', 'cpuMs', 'memoryBytes'),
  },
  {
    name: 'powers',
    source: commands(...forever('set n = 7.1 ** 300.5', 'set n = 2 ** (2 ** (2 ** 9))')),
    ending: quota('fuel', 'cpuMs'),
  },
];

/** Programs that hold as much as they can. Each must be refused by the interpreter's own account. */
export const HOARDS: readonly Attack[] = [
  { name: 'a text doubled', source: commands("set s = 'x'", ...forever('set s = s + s')), ending: quota('memoryBytes') },
  {
    name: 'a text of two units a character, doubled',
    source: commands('set s = char(128512)', ...forever('set s = s + s')),
    ending: quota('memoryBytes'),
  },
  { name: 'a text repeated', source: commands("set s = 'ab' * 1e12"), ending: quota('memoryBytes') },
  {
    name: 'a text grown by one',
    source: commands("set s = 'x' * 1000000", 'set l = []', ...forever("set l[len(l)] = s + 'y'")),
    ending: quota('memoryBytes'),
  },
  {
    name: 'many short texts',
    source: commands('set l = []', ...forever("set l[len(l)] = 'k' + len(l)")),
    ending: quota('memoryBytes'),
  },
  {
    name: 'many texts of a character',
    source: commands('set l = []', ...forever('set l[len(l)] = char(len(l) % 60000)')),
    ending: quota('memoryBytes'),
  },
  {
    name: 'many numbers',
    source: commands('set l = []', ...forever('set l[len(l)] = len(l) + 0.5')),
    ending: quota('memoryBytes', 'fuel'),
  },
  {
    name: 'many small numbers',
    source: commands('set l = []', ...forever('set l[len(l)] = 1')),
    ending: quota('memoryBytes', 'fuel'),
  },
  { name: 'many empty lists', source: commands('set l = []', ...forever('set l[len(l)] = []')), ending: quota('memoryBytes') },
  { name: 'many lists of one', source: commands('set l = []', ...forever('set l[len(l)] = [1]')), ending: quota('memoryBytes') },
  { name: 'many empty maps', source: commands('set l = []', ...forever('set l[len(l)] = {}')), ending: quota('memoryBytes') },
  {
    name: 'many maps of one',
    source: commands('set l = []', ...forever("set l[len(l)] = {'a': 1}")),
    ending: quota('memoryBytes'),
  },
  {
    name: 'many maps of five',
    source: commands('set l = []', ...forever("set l[len(l)] = {'a': 1, 'b': 2, 'c': 3, 'd': 4, 'e': 5}")),
    ending: quota('memoryBytes'),
  },
  {
    name: 'one map of many',
    source: commands('set m = {}', ...forever("set m['k' + len(m)] = 1")),
    ending: quota('memoryBytes'),
  },
  {
    name: 'one map of many numbers as keys',
    source: commands('set m = {}', ...forever("set m['' + len(m)] = 1")),
    ending: quota('memoryBytes'),
  },
  {
    name: 'one map with long keys',
    source: commands("set p = 'p' * 100", 'set m = {}', ...forever('set m[p + len(m)] = 1')),
    ending: quota('memoryBytes'),
  },
  { name: 'a map of maps', source: commands('set m = {}', ...forever("set m['k' + len(m)] = {}")), ending: quota('memoryBytes') },
  { name: 'lists within each other', source: commands('set l = []', ...forever('set l = [l]')), ending: quota('memoryBytes') },
  {
    name: 'maps within each other',
    source: commands('set m = {}', ...forever("set m = {'m': m}")),
    ending: quota('memoryBytes'),
  },
  { name: 'a list joined to itself', source: commands('set l = [1]', ...forever('set l = l + l')), ending: quota('memoryBytes') },
  { name: 'a list padded', source: commands('set l[1000000] = 1'), ending: quota('memoryBytes') },
  {
    name: 'many padded lists',
    source: commands('set l = []', ...forever('set p = nil', 'set p[10000] = 1', 'set l[len(l)] = p')),
    ending: quota('memoryBytes'),
  },
  {
    name: 'copies made by writing to what two names share',
    source: commands('set l[5000] = 1', 'set all = []', ...forever('set all[len(all)] = l', 'set l[0] = len(all)')),
    ending: quota('memoryBytes', 'fuel'),
  },
  {
    name: 'aliases that shall hide what they share',
    source: commands(
      'set all = []',
      ...forever('set a = []', 'set a[1000] = 1', 'set b = a', 'set b[0] = 2', 'set all[len(all)] = [a, b]'),
    ),
    ending: quota('memoryBytes', 'fuel'),
  },
  {
    name: 'a template that holds itself',
    source: commands("set s = 'x'", ...forever('set s = ```{{s}}{{s}}```')),
    ending: quota('memoryBytes'),
  },
  {
    name: 'eval that holds itself',
    source: commands("set s = 'x'", ...forever('set s = eval("{{s}}{{s}}")')),
    ending: quota('memoryBytes'),
  },
  {
    name: 'a value that unfolds in its text',
    source: commands("set l = ['xxxxxxxxxx']", ...times(20, 'set l = [l, l]'), "set t = '' + l"),
    ending: quota('memoryBytes', 'fuel'),
  },
  {
    name: 'a map that unfolds in its text',
    source: commands("set m = {'k': 'xxxxxxxxxx'}", ...times(20, "set m = {'a': m, 'b': m}"), "set t = '' + m"),
    ending: quota('memoryBytes', 'fuel'),
  },
  {
    name: 'quotes within quotes within quotes',
    source: commands("set s = '\"'", ...forever("set s = '' + [s]")),
    ending: quota('memoryBytes'),
  },
  {
    name: 'arguments that only frames hold',
    source: "func f(needs s, n) means\nreturn f(s + n, n + 1)\nendfunc\nfunc g() means\nreturn f('x' * 40000, 0)\nendfunc\n",
    ending: quota('memoryBytes'),
    options: { call: { name: 'g' } },
  },
  {
    name: 'lists that only an unfinished literal holds',
    source: 'func big() means\nset l[20000] = 1\nreturn l\nendfunc\nfunc f(needs n) means\nreturn [big(), f(n + 1)]\nendfunc\n',
    ending: quota('memoryBytes'),
    options: { call: { name: 'f', args: [0] } },
  },
  {
    name: 'errors that quote each other',
    source: commands(
      'set all = []',
      'on error do',
      'set all[len(all)] = system_error',
      'clear_error',
      'endon',
      ...forever("fail 'x' * 5000"),
    ),
    ending: quota('memoryBytes', 'fuel'),
  },
  {
    name: 'the stack of an error, kept at every level',
    source:
      "func f(needs n) means\non error do\nset kept = system_error_message + n\nset more = [kept, system_error]\nfail more\nendon\nif n > 100\nfail 'deep'\nendif\ncall f(n + 1)\nendfunc\n",
    ending: { code: 'NS1' },
    options: { call: { name: 'f', args: [0] } },
  },
  {
    name: 'a global',
    source: commands('emit 1'),
    ending: quota('memoryBytes'),
    options: { globals: { g: 'x'.repeat(9_000_000) } },
    given: true,
  },
  {
    name: 'a payload of an event',
    source: 'on event "e" as e do\nset x = e\nendon\n',
    ending: quota('memoryBytes'),
    options: { events: [{ name: 'e', payload: Array.from({ length: 60_000 }, () => ({})) }] },
    given: true,
  },
];

/** Programs that try to drown the host. */
export const FLOODS: readonly Attack[] = [
  { name: 'emits', source: commands(...forever("emit 'x'")), ending: quota('outputBytes') },
  { name: 'empty emits', source: commands(...forever("emit ''")), ending: quota('emits') },
  { name: 'a line', source: commands("emit 'x' * 65537"), ending: quota('lineBytes') },
  { name: 'a line of three bytes a unit', source: commands('emit char(8364) * 30000'), ending: quota('lineBytes') },
  {
    name: 'a line of control characters, six bytes each as JSON',
    source: commands(...forever('emit char(1) * 60000')),
    ending: quota('outputBytes'),
  },
  {
    name: 'lists emitted',
    source: commands("set l = ['x' * 1000]", ...times(20, 'set l = [l, l]'), 'emit l'),
    ending: quota('lineBytes', 'memoryBytes', 'fuel'),
  },
  { name: 'whispers', source: commands(...forever("whisper 'a', 'b'")), ending: quota('scratchBytes') },
  {
    name: 'empty whispers',
    source: commands(...forever("whisper '', ''")),
    ending: quota('emits', 'scratchBytes', 'fuel', 'memoryBytes'),
  },
  {
    name: 'whispers to a long name',
    source: commands("set n = 'n' * 1000000", ...forever("whisper n, 'b'")),
    ending: quota('scratchBytes', 'memoryBytes', 'fuel'),
  },
  { name: 'tool calls', source: commands(...forever('call tool.t.Echo(1)')), ending: quota('toolCalls') },
  {
    name: 'tool calls that fail, in a handler',
    source: commands('on error do', 'clear_error', 'endon', ...forever('call tool.t.None()')),
    ending: quota('toolCalls', 'fuel'),
  },
  { name: 'an argument', source: commands("call tool.t.Echo('x' * 300000)"), ending: quota('toolBytes') },
  {
    name: 'an argument that unfolds',
    source: commands("set l = ['x']", ...times(23, 'set l = [l, l]'), 'call tool.t.Echo(l)'),
    ending: quota('toolBytes', 'memoryBytes', 'fuel'),
  },
  {
    name: 'an argument too deep',
    source: commands('set l = []', ...times(600, 'set l = [l]'), 'call tool.t.Echo(l)'),
    ending: code(37),
  },
  { name: 'a result', source: commands('set x = tool.t.Big(300000)'), ending: quota('toolBytes') },
  { name: 'a result of a gigabyte', source: commands('set x = tool.t.Big(400000000)'), ending: quota('toolBytes') },
  { name: 'a result of many small values', source: commands('set x = tool.t.Many(300000)'), ending: quota('toolBytes') },
  {
    name: 'many results',
    source: commands('set l = []', ...times(50, 'set l[len(l)] = tool.t.Many(80000)')),
    ending: quota('memoryBytes'),
  },
  { name: 'a failure with a long message', source: commands('call tool.t.Throw(10000000)'), ending: code(21) },
  { name: 'a message of a huge value', source: commands("fail 'x' * 1000000"), ending: code(1) },
  {
    name: 'a message that names a huge key',
    source: commands('set m = {}', "set k = 'k' * 1000000", 'must m[k] > 1'),
    ending: { code: 'NS7' },
  },
  {
    name: 'a procedure of no such long name, called a million times',
    source: commands('on error do', 'clear_error', 'endon', ...forever(`call ${'n'.repeat(10_000)}()`)),
    ending: quota('fuel', 'cpuMs', 'memoryBytes'),
  },
  {
    name: 'a storm of handlers',
    source: Array.from(
      { length: 200 },
      (_, i) => `on event "e" named "h${i}" do\nset n = 0\nwhile n < 1000000\nset n = n + 1\nendwhile\nendon\n`,
    ).join(''),
    ending: quota('fuel', 'cpuMs'),
    options: { events: [{ name: 'e' }] },
  },
  {
    name: 'too many events',
    source: 'on event "e" do\nset n = 1\nendon\n',
    ending: quota('eventCount'),
    options: { events: Array.from({ length: 21 }, () => ({ name: 'e' })) },
  },
  {
    name: 'failing handlers of many events',
    source: `on event "e" do\nfail 'x' * 100000\nendon\n`,
    ending: null,
    options: { events: Array.from({ length: 20 }, () => ({ name: 'e' })) },
  },
];

/** Text as an attack: on the parser, on positions, on numbers and on the reader's terminal. */
export const TEXTS: readonly Attack[] = [
  {
    name: 'numbers of 308 digits',
    source: commands(...times(1000, 'set s = 1.7976931348623157e308 + len(s) + 5e-324', "set t = '' + s")),
    ending: null,
  },
  {
    name: 'numbers printed for ever',
    source: commands('set l = [1e308, 5e-324, 0.1]', ...forever("set t = '' + l")),
    ending: quota('fuel', 'cpuMs'),
  },
  { name: 'brackets too deep', source: commands(`set x = ${'('.repeat(20_000)}1${')'.repeat(20_000)}`), ending: code(15) },
  { name: 'lists too deep', source: commands(`set x = ${'[ '.repeat(20_000)}${'] '.repeat(20_000)}`), ending: code(15) },
  {
    name: 'blocks too deep',
    source: commands(`${'if true\n'.repeat(20_000)}emit 1\n${'endif\n'.repeat(20_000)}`),
    ending: code(15),
  },
  { name: 'a minus too often', source: commands(`set x = ${'- '.repeat(100_000)}1`), ending: code(15) },
  { name: 'not too often', source: commands(`set x = ${'not '.repeat(100_000)}1`), ending: code(15) },
  { name: 'a power too often', source: commands(`set x = 1${' ** 1'.repeat(100_000)}`), ending: code(15) },
  { name: 'half a megabyte of nothing', source: `${'\n'.repeat(500_000)}command\nemit 1\nendcommand\n`, ending: null },
  { name: 'a megabyte of errors', source: '@ '.repeat(500_000), ending: code(15) },
  { name: 'a megabyte of open quotes', source: commands(`set s = ${'"a" '.repeat(200_000)}`), ending: code(15) },
  { name: 'a megabyte of open braces', source: `${'{{'.repeat(500_000)}`, ending: code(15) },
  { name: 'backticks that never close', source: `${'```'.repeat(99_999)}`, ending: code(15) },
  { name: 'a megabyte of names', source: commands(`set ${'a'.repeat(1_000_000)} = 1`, 'emit 1'), ending: null },
  { name: 'a hundred thousand statements', source: commands('set a = 1\n'.repeat(100_000)), ending: null },
  { name: 'a sum of a hundred thousand', source: commands(`set a = 1${' + 1'.repeat(100_000)}`), ending: null },
  {
    name: 'ten thousand procedures',
    source: Array.from({ length: 20_000 }, (_, i) => `func f${i}() means\nset a = 1\nendfunc\n`).join(''),
    ending: null,
  },
  { name: 'more than a source may have', source: `# ${'x'.repeat(1_048_600)}\n`, ending: quota('sourceBytes') },
  { name: 'a byte that is no text', source: 'command\nemit "\ud800"\nendcommand\n', ending: code(15) },
  { name: 'writing against the reading direction', source: 'command\nemit "\u202e"\nendcommand\n', ending: code(15) },
  {
    name: 'marks without end on one character',
    source: commands(`set s = "a${'\u0301'.repeat(100_000)}"`, 'emit len(s)'),
    ending: null,
  },
  {
    name: 'names of the host language',
    source: commands(
      "set m = {'__proto__': {'polluted': 1}, 'constructor': 2, 'toString': 3, 'hasOwnProperty': 4}",
      'set __proto__ = 5',
      'set constructor = 6',
      "set n = m['__proto__']['polluted']",
      'call tool.t.Echo(m)',
      "emit m['valueOf'] == nil and n == 1 and __proto__ == 5",
    ),
    ending: null,
  },
];
