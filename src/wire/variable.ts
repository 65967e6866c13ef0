import { RESERVED } from '../../grammar/vocabulary/keywords.ts';

/** The words of the language: none of them is a name. */
export const LANGUAGE_WORDS: ReadonlySet<string> = RESERVED;

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Why no program could ever read a variable or constant of this name (language.md 1.5–1.6); null for a name that it can write. */
export function variableProblem(name: string): string | null {
  const shown = name.slice(0, 100);
  if (!IDENTIFIER.test(name)) return `'${shown}' is no variable name; use letters, digits and _`;
  return RESERVED.has(name) ? `'${shown}' is a word of the language and no variable name` : null;
}
