/** The cases of a `switch`, `case`, `match` or `when` of common languages. */
import type { Block } from './blocks.ts';
import type { Word } from './lexer.ts';
import { separateAtCommas } from './split.ts';

/** The head of a case. */
export interface Case {
  /** The values, any of which the subject may have; empty for a default. */
  readonly values: readonly (readonly Word[])[];
  /** Whether its values are patterns of the shell, where a name is text. */
  readonly shell: boolean;
  /** Whether it begins with a word, as in C. */
  readonly named: boolean;
  /** The statement behind it on its line. */
  readonly rest: readonly Word[];
}

/** The case that a statement begins; null for any other statement. */
export function caseIn(words: readonly Word[]): Case | null {
  const first = words[0]?.text ?? '';
  const arrow = words.findIndex(({ text }) => text === '=>' || text === '->');
  const named = /^(?:case|default|when)$/.test(first) || (first === 'else' && arrow < 0);
  const close = words.findIndex(({ text }) => text === ')' || text === '(');
  const shell = !named && arrow < 0 && words[close]?.text === ')' ? close : -1;
  if (!named && shell < 1 && arrow < 1) return null;
  const colon = words.findIndex(({ text, kind }) => text === ':' || (text === 'then' && kind === 'name'));
  const none = first === 'else' ? 1 : words.length;
  const end = named ? (colon < 0 ? none : colon) : arrow > 0 ? arrow : shell;
  const pattern = words.slice(first === 'case' || first === 'when' ? 1 : 0, end);
  const isDefault = first === 'default' || (pattern.length === 1 && /^(?:[_*]|else)$/.test(pattern[0]?.text ?? ''));
  const after = words.slice(named && colon < 0 ? end : end + 1);
  const rest = arrow > 0 && after.at(-1)?.text === ',' ? after.slice(0, -1) : after;
  return { values: isDefault ? [] : alternatives(pattern), shell: shell > 0, named, rest };
}

export interface Around {
  /** The first word of the statement before it; null at the beginning of the `switch`. */
  readonly last: string | null;
  /** The first word of the statement after it. */
  readonly next: string;
  /** Translates a value. */
  readonly test: (words: readonly Word[]) => string;
}

/** The lines of NeuroScript that a case begins with, and its statement on the same line. Notes in the block what the case changes. */
export function linesOfCase(
  block: Block,
  { values, shell, named, rest }: Case,
  { last, next, test }: Around,
): { readonly lines: readonly string[]; readonly rest: readonly Word[] } {
  const tested = (words: readonly Word[]): string => {
    const text = shell && words[0]?.kind === 'name' ? `"${words[0].text}"` : test(words);
    return block.subject === '' ? text : `${block.subject} == ${text}`;
  };
  // In C and JavaScript, a case without `break` falls through to the next one; one without statements shares those of the next.
  const ends = last === null || /^(?:break|return|throw|continue|fail|exit)$/.test(last) || block.shared.length > 0;
  if (named && block.head.words[1]?.text === '(' && !ends) block.doubtful = true;
  if (rest.length === 0 && named && /^(?:case|default)$/.test(next)) {
    block.shared.push(...values.map(tested));
    return { lines: [], rest };
  }
  const lines = block.cases > 0 ? ['else'] : [];
  const tests = [...block.shared.splice(0), ...values.map(tested)];
  if (values.length > 0) {
    lines.push(`if ${tests.join(' or ')}`);
    if (block.cases > 0) block.extra++;
    block.cases++;
  }
  return { lines, rest };
}

/** `1, 2`, `1 | 2`: values with commas or bars between them. */
function alternatives(words: readonly Word[]): readonly (readonly Word[])[] {
  return separateAtCommas(words, [',', '|']).filter((part) => part.length > 0);
}
