/** Words that are not some other words. A grammar cannot look ahead, so a name excludes the reserved words letter by letter. */
import { all, any, chars, type Form, many, maybe, type Ranges, type RuleBook, ranges, rule, without } from './form.ts';

/** The characters that continue a word. */
const WORD = ranges('0-9A-Z_a-z');
/** The rest of a word. It is a separate rule, because it occurs at every letter of every reserved word. */
const MORE = rule('w');

/** Defines the rest of a word. */
export function defineWords(rules: RuleBook): void {
  rules.define('w', many(chars('0-9A-Z_a-z')));
}

/** Any word. Its first character is no digit. */
export const ANY_WORD: Form = all(chars('A-Z_a-z'), MORE);

/** The words that begin with one of the characters `first` and are none of `reserved`. */
export function wordsExcept(reserved: Iterable<string>, first: string): Form {
  const allowed = ranges(first);
  const starts = Map.groupBy(
    [...reserved].filter((word) => within(allowed, word)),
    (word) => word.charAt(0),
  );
  const free = without(allowed, [...starts.keys()].join(''));
  return any(
    ...(free.ranges.length === 0 ? [] : [all(free, MORE)]),
    ...[...starts].map(([char, words]) => all(char, rest(words.map((word) => word.slice(1))))),
  );
}

/** The continuation of a common prefix of reserved words that makes none of them; `tails` are their remaining letters. */
function rest(tails: readonly string[]): Form {
  const next = Map.groupBy(
    tails.filter((tail) => tail !== ''),
    (tail) => tail.charAt(0),
  );
  const other = all(without(WORD, [...next.keys()].join('')), MORE);
  const longer = any(other, ...[...next].map(([char, each]) => all(char, rest(each.map((tail) => tail.slice(1))))));
  return tails.includes('') ? longer : maybe(longer);
}

function within(allowed: Ranges, word: string): boolean {
  const point = word.codePointAt(0) ?? 0;
  return allowed.some(([first, last]) => first <= point && point <= last);
}
