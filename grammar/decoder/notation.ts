/**
 * Writes a grammar in the common subset of GBNF (llama.cpp) and the EBNF of XGrammar. llama.cpp accepts no other escapes, and no
 * underscore in names.
 */
import type { Form, Ranges, Rules } from './form.ts';

/** The grammar as text, one rule on each line. Lines that begin with `#` are notes. */
export function written(rules: Rules, notes: readonly string[]): string {
  const lines = [...rules].map(([name, form]) => `${name} ::= ${alternatives(form)}`);
  return `${[...notes.map((note) => `# ${note}`), ...lines].join('\n')}\n`;
}

function alternatives(form: Form): string {
  return form.k === 'any' ? form.of.map(sequence).join(' | ') : sequence(form);
}

function sequence(form: Form): string {
  if (form.k !== 'all') return item(form);
  return form.of.length === 0 ? '""' : form.of.map(item).join(' ');
}

function item(form: Form): string {
  switch (form.k) {
    case 'text':
      return `"${form.text.replace(MARKED, inText)}"`;
    case 'chars':
      return classOf(form.ranges);
    case 'rule':
      return form.name;
    case 'times':
      return `${form.of.k === 'times' ? `(${item(form.of)})` : item(form.of)}${mark(form.least, form.most)}`;
    case 'all':
      return form.of.length === 0 ? '""' : `(${sequence(form)})`;
    case 'any':
      return `(${alternatives(form)})`;
  }
}

function mark(least: number, most: number | null): string {
  if (most === null) return least === 0 ? '*' : '+';
  return least === 0 && most === 1 ? '?' : `{${least},${most}}`;
}

/**
 * Writes a class with characters beyond ASCII as the complement of its missing ASCII characters, because XGrammar 0.1.27 reads U+2061 in
 * a class as `a`. So the class also admits the few invisible characters that the language refuses.
 */
function classOf(ranges: Ranges): string {
  if (!ranges.some(([, last]) => last > ASCII)) return `[${rangesOf(ranges)}]`;
  return `[^${rangesOf(refusedAscii(ranges))}]`;
}

const ASCII = 0x7f;

/** The ASCII ranges that these ranges lack. */
function refusedAscii(ranges: Ranges): Ranges {
  const taken = ranges.filter(([first]) => first <= ASCII);
  const starts = [0, ...taken.map(([, last]) => last + 1)];
  const ends = [...taken.map(([first]) => first - 1), ASCII];
  return starts.flatMap((first, index): Ranges => {
    const last = ends[index] ?? ASCII;
    return first <= last ? [[first, last]] : [];
  });
}

/** XGrammar reads any number of digits after `\u`, so such characters come last. */
function rangesOf(ranges: Ranges): string {
  const texts = ranges.map(([first, last]) => {
    return first === last ? inClass(first) : `${inClass(first)}-${inClass(last)}`;
  });
  const plain = texts.filter((text) => !text.includes('\\u'));
  return [...plain, ...texts.filter((text) => text.includes('\\u'))].join('');
}

function inClass(point: number): string {
  const char = String.fromCodePoint(point);
  const named = NAMED.get(char) ?? (char === ']' || char === '-' ? `\\${char}` : char);
  const isPlain = point >= 0x20 && point < ASCII && char !== '[' && char !== '^';
  return isPlain || named !== char ? named : `\\u${point.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** The characters that have an escape in a text. */
const MARKED = /[\n\t\\"]/g;

function inText(char: string): string {
  return NAMED.get(char) ?? (char === '"' ? '\\"' : char);
}

const NAMED: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\t', '\\t'],
  ['\\', '\\\\'],
]);
