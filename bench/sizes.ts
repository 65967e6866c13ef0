import { floorLoop } from './floor.ts';
import { command, lines } from './workloads.ts';

/** NeuroScript programs of any size, for work that must grow no faster than its size. */
export interface Sized {
  readonly name: string;
  readonly about: string;
  /** The whole source for a size. */
  source(size: number): string;
  /** The same work as a script for a raw isolate, see `floor.ts`; its value is the size of what grew. */
  floor(size: number): string;
  /** The most CPU time that ten thousand may take, as a multiple of that of the smallest interpreter. */
  readonly most: number;
  result(size: number): number;
}

const repeated = (size: number, start: string, step: string, result: string): string =>
  command(start, 'set i = 0', `while i < ${size}`, `  ${step}`, '  set i = i + 1', 'endwhile', `emit ${result}`);

/** Containers and texts that grow by one piece a pass. */
export const GROWING: readonly Sized[] = [
  {
    name: 'appends',
    about: '`set l[i] = i`',
    most: 2,
    source: (size) => repeated(size, 'set l = []', 'set l[i] = i', 'len(l) + l[i - 1]'),
    floor: (size) => floorLoop(size, "set('l', () => [])", "setItem(get('l'), get('i'), get('i'))", "sizeOf(get('l'))"),
    result: (size) => 2 * size - 1,
  },
  {
    name: 'map sets',
    about: '`set m["k" + i] = i`',
    most: 2.6,
    source: (size) => repeated(size, 'set m = {}', 'set m["k" + i] = i', 'len(m) + m["k" + (i - 1)]'),
    floor: (size) =>
      floorLoop(size, "set('m', () => new Map())", "setEntry(get('m'), add(num('k'), get('i')), get('i'))", "sizeOf(get('m'))"),
    result: (size) => 2 * size - 1,
  },
  {
    name: 'text parts',
    about: '`set t = t + "piece "`',
    most: 3,
    source: (size) => repeated(size, 'set t = ""', 'set t = t + "piece "', 'len(t)'),
    floor: (size) => floorLoop(size, "set('t', num(''))", "set('t', add(get('t'), num('piece ')))", "sizeOf(get('t'))"),
    result: (size) => 6 * size,
  },
];

const PROCEDURE = [
  'func NAME(needs items, limit optional tag returns total) means',
  '  # adds up what is in the list',
  '  set total = 0',
  '  set seen = {}',
  '  for each item in items',
  '    if item.price > limit and not is_nil(item.name)',
  '      set total = total + item.price * (1 + 0.2)',
  '      set seen[item.name] = item',
  '    else',
  '      emit "skipped " + item.name + ": " + item.price',
  '    endif',
  '  endfor',
  '  on error do',
  '    emit ```failed: {{system_error.message}} after {{total}}```',
  '    clear_error',
  '  endon',
  '  while len(seen) > 10',
  '    set seen = {}',
  '  endwhile',
  '  call tool.store.Put("/totals/" + tag, {"total": total, "items": [1, 2, 3]}, 0)',
  '  must total >= 0',
  '  return total, seen',
  'endfunc',
  '',
];

/** A library of about this number of lines of ordinary code. */
export function library(size: number): string {
  const count = Math.ceil(size / PROCEDURE.length);
  return Array.from({ length: count }, (_, index) => `${PROCEDURE.join('\n').replace('NAME', `f${index}`)}\n`).join('');
}

const FUNCTION = [
  'const NAME = (function (items, limit, tag) {',
  '  // adds up what is in the list',
  '  let total = 0;',
  '  let seen = {};',
  '  for (const item of items) {',
  '    if (item.price > limit && item.name !== null) {',
  '      total = total + item.price * (1 + 0.2);',
  '      seen[item.name] = item;',
  '    } else {',
  "      emit('skipped ' + item.name + ': ' + item.price);",
  '    }',
  '  }',
  '  try {',
  "    store('/totals/' + tag, { total, items: [1, 2, 3] }, 0);",
  '  } catch (error) {',
  "    emit('failed: ' + error.message + ' after ' + total);",
  '  }',
  '  while (Object.keys(seen).length > 10) {',
  '    seen = {};',
  '  }',
  '  if (total < 0) throw new RangeError(tag);',
  '  return [total, seen];',
  '});',
];

/** A script of about this number of lines of ordinary JavaScript. V8 compiles each function at once, because it stands in brackets. */
export function rawLibrary(size: number): string {
  const count = Math.ceil(size / FUNCTION.length);
  return `${Array.from({ length: count }, (_, index) => FUNCTION.join('\n').replace('NAME', `f${index}`)).join('\n')}\n1`;
}

const NESTS = 400;
/** A small number: with many, the garbage of their trees would dominate. */
const SUMS = 5;

/** Many expressions in nested brackets, in a procedure that is never called. */
export function nested(depth: number): string {
  const expression = `  set x = ${'('.repeat(depth)}1${')'.repeat(depth)}`;
  return lines('func f() means', ...Array.from({ length: NESTS }, () => expression), 'endfunc');
}

/** Some long sums, in a procedure that is never called. */
export function sums(terms: number): string {
  const expression = `  set x = 1${' + 1'.repeat(terms - 1)}`;
  return lines('func f() means', ...Array.from({ length: SUMS }, () => expression), 'endfunc');
}
