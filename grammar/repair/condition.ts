/** Translates conditions of other languages: those of heads, and the tests of the shell. */
import { translate } from './expression.ts';
import type { Word } from './lexer.ts';
import type { Scope } from './scope.ts';
import { wraps } from './split.ts';
import { plain } from './values.ts';

/** A condition, without the brackets of a test or of a head. Throws `Unclear`. */
export function condition(source: string, words: readonly Word[], scope: Scope): string {
  const { dollars, shell, condition: outer } = scope;
  scope.dollars = true;
  scope.condition = true;
  try {
    return tests(source, words, scope) ?? whole(source, words, scope);
  } finally {
    [scope.dollars, scope.shell, scope.condition] = [dollars, shell, outer];
  }
}

/** `[ $a -eq 1 ] && [ $b -eq 2 ]`; null for anything else. */
function tests(source: string, words: readonly Word[], scope: Scope): string | null {
  const joints = words.flatMap(({ text }, index) =>
    (text === '&&' || text === '||') && words[index - 1]?.text === ']' && words[index + 1]?.text === '[' ? [index] : [],
  );
  if (joints.length === 0 || words[0]?.text !== '[') return null;
  return [-1, ...joints]
    .map((joint, index) => {
      const lead = joint < 0 ? '' : words[joint]?.text === '&&' ? ' and ' : ' or ';
      return `${lead}${whole(source, words.slice(joint + 1, joints[index]), scope)}`;
    })
    .join('');
}

function whole(source: string, words: readonly Word[], scope: Scope): string {
  let inner = words;
  while (inner[0]?.text === '[' && inner.length > 2 && wraps(inner)) {
    inner = inner.slice(1, -1);
    scope.shell = true;
  }
  if (inner.length === 1 && inner[0]?.text === ':') return 'true';
  return plain(translate(source, inner, scope));
}
