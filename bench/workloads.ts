/** One program in the languages of all engines, and the result that every engine must give. */
export interface Workload {
  readonly name: string;
  readonly about: string;
  readonly neuroscript: { readonly library?: string; readonly commands: string };
  /** An expression whose value is the result; it runs in a fresh global scope. */
  readonly javascript: string;
  /** Statements; the last one is an expression whose value is the result. */
  readonly python: string;
  readonly result: number;
}

const lines = (...text: readonly string[]): string => `${text.join('\n')}\n`;

/** The smallest program: its time is the cost of a turn. */
export const TURN: Workload = {
  name: 'turn',
  about: 'emit 1 in a fresh sandbox',
  neuroscript: { commands: lines('command', '  emit 1', 'endcommand') },
  javascript: '1',
  python: '1',
  result: 1,
};

/** The cost of a loop. */
export const LOOP: Workload = {
  name: 'loop',
  about: '1 000 000 passes with two additions',
  neuroscript: {
    commands: lines(
      'command',
      '  set i = 0',
      '  set sum = 0',
      '  while i < 1000000',
      '    set sum = sum + i',
      '    set i = i + 1',
      '  endwhile',
      '  emit sum',
      'endcommand',
    ),
  },
  javascript: '(() => { let i = 0, sum = 0; while (i < 1000000) { sum = sum + i; i = i + 1; } return sum; })()',
  python: lines('i = 0', 'sum = 0', 'while i < 1000000:', '    sum = sum + i', '    i = i + 1', 'sum'),
  // Gauss: n (n - 1) / 2
  result: (1_000_000 * 999_999) / 2,
};

/** The cost of procedure calls. */
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
    commands: lines('command', '  emit fib(25)', 'endcommand'),
  },
  javascript: '(() => { const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2)); return fib(25); })()',
  python: lines('def fib(n):', '    if n < 2:', '        return n', '    return fib(n - 1) + fib(n - 2)', 'fib(25)'),
  result: 75_025,
};

const APPEND: Workload = {
  name: 'append',
  about: '10 000 appends to a list',
  neuroscript: {
    commands: lines(
      'command',
      '  set items = []',
      '  while len(items) < 10000',
      '    set items[len(items)] = len(items)',
      '  endwhile',
      '  emit len(items) + items[9999]',
      'endcommand',
    ),
  },
  javascript:
    '(() => { const items = []; while (items.length < 10000) items.push(items.length); return items.length + items[9999]; })()',
  python: lines('items = []', 'while len(items) < 10000:', '    items.append(len(items))', 'len(items) + items[9999]'),
  result: 19_999,
};

const TEXT: Workload = {
  name: 'text',
  about: 'a text grown by 20 000 pieces',
  neuroscript: {
    commands: lines(
      'command',
      '  set text = ""',
      '  set i = 0',
      '  while i < 20000',
      '    set text = text + "piece "',
      '    set i = i + 1',
      '  endwhile',
      '  emit len(text)',
      'endcommand',
    ),
  },
  javascript: '(() => { let text = ""; for (let i = 0; i < 20000; i++) text = text + "piece "; return text.length; })()',
  python: lines('text = ""', 'i = 0', 'while i < 20000:', '    text = text + "piece "', '    i = i + 1', 'len(text)'),
  result: 120_000,
};

/** The programs of `bench interp`. */
export const WORKLOADS: readonly Workload[] = [LOOP, CALLS, APPEND, TEXT];
