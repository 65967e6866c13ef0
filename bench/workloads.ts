/** One program in the languages of all engines, and the result that every engine must give. */
export interface Workload {
  readonly name: string;
  readonly about: string;
  readonly neuroscript: { readonly library?: string; readonly commands: string };
  /** The body of a function that returns the result. */
  readonly javascript: string;
  /** Statements; the last one is an expression whose value is the result. */
  readonly python: string;
  readonly result: number;
}

export const lines = (...text: readonly string[]): string => `${text.join('\n')}\n`;

export const command = (...text: readonly string[]): string =>
  `command\n${text.map((line) => `  ${line}\n`).join('')}endcommand\n`;

/** The JavaScript of a workload as an expression, which runs in a fresh global scope. */
export function script({ javascript }: Pick<Workload, 'javascript'>): string {
  return `(() => {${javascript}\n})()`;
}

/** The smallest program: its time is the cost of a turn. */
export const TURN: Workload = {
  name: 'turn',
  about: 'emit 1 in a fresh sandbox',
  neuroscript: { commands: command('emit 1') },
  javascript: 'return 1',
  python: '1',
  result: 1,
};

/** The cost of a loop. */
export const LOOP: Workload = {
  name: 'loop',
  about: '1 000 000 passes with two additions',
  neuroscript: {
    commands: command(
      'set i = 0',
      'set sum = 0',
      'while i < 1000000',
      '  set sum = sum + i',
      '  set i = i + 1',
      'endwhile',
      'emit sum',
    ),
  },
  javascript: 'let i = 0, sum = 0; while (i < 1000000) { sum = sum + i; i = i + 1; } return sum',
  python: lines('i = 0', 'sum = 0', 'while i < 1000000:', '    sum = sum + i', '    i = i + 1', 'sum'),
  // Gauss: n (n - 1) / 2
  result: (1_000_000 * 999_999) / 2,
};

export const CALLS: Workload = {
  name: 'fib(25)',
  about: '242 785 calls',
  neuroscript: {
    library: lines(
      'func fib(needs n returns value) means',
      '  if n < 2',
      '    return n',
      '  endif',
      '  return fib(n - 1) + fib(n - 2)',
      'endfunc',
    ),
    commands: command('emit fib(25)'),
  },
  javascript: 'const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2)); return fib(25)',
  python: lines('def fib(n):', '    if n < 2:', '        return n', '    return fib(n - 1) + fib(n - 2)', 'fib(25)'),
  result: 75_025,
};

export function append(n: number): Workload {
  return {
    name: 'append',
    about: `${String(n).replace(/000$/, ' 000')} appends to a list`,
    neuroscript: {
      commands: command('set l = []', `while len(l) < ${n}`, '  set l[len(l)] = len(l)', 'endwhile', `emit len(l) + l[${n - 1}]`),
    },
    javascript: `const l = []; while (l.length < ${n}) l.push(l.length); return l.length + l[${n - 1}]`,
    python: lines('l = []', `while len(l) < ${n}:`, '    l.append(len(l))', `len(l) + l[${n - 1}]`),
    result: 2 * n - 1,
  };
}

export const TEXT: Workload = {
  name: 'text',
  about: 'a text grown by 20 000 pieces',
  neuroscript: {
    commands: command(
      'set t = ""',
      'set i = 0',
      'while i < 20000',
      '  set t = t + "piece "',
      '  set i = i + 1',
      'endwhile',
      'emit len(t)',
    ),
  },
  javascript: 'let t = ""; for (let i = 0; i < 20000; i++) t = t + "piece "; return t.length',
  python: lines('t = ""', 'i = 0', 'while i < 20000:', '    t = t + "piece "', '    i = i + 1', 'len(t)'),
  result: 120_000,
};

/** The programs of `bench interp`. */
export const WORKLOADS: readonly Workload[] = [LOOP, CALLS, append(10_000), TEXT];
