/**
 * The places of expressions. A grammar cannot look ahead, so its rules depend on the place: whether a blank is needed between two words,
 * whether lines may end, and whether a closing bracket may follow another. A place is one combination of these.
 */
import type { Form } from './form.ts';
import type { Gaps, Lexis } from './lexis.ts';

/** The letter of a place, which ends the names of its rules. */
type Letter = 'l' | 'k' | 'b' | 'n' | 't' | 'o' | 'u' | 'v' | 's';

/** The properties that all places between the same brackets share. */
export interface Brackets {
  /** The letter of the place inside. */
  readonly letter: Letter;
  readonly gaps: Gaps;
  readonly name: Form;
  readonly string: Form;
  /** Whether `last` is allowed. The arguments of calls that run together cannot read it. */
  readonly last: boolean;
  /** Whether templates and placeholders are allowed. A placeholder cannot contain any. */
  readonly templates: boolean;
  /** The place of an expression that a `}` may follow. */
  readonly beforeBrace: Letter;
  /** The place of an expression that a `]` may follow. */
  readonly beforeBracket: Letter;
}

export interface ExpressionPlace {
  readonly letter: Letter;
  readonly gaps: Gaps;
  readonly inside: Brackets;
  /**
   * `word`: a keyword follows; `brace`: a `}` may follow, and `}}` would end a placeholder; `bracket`: a `]` may follow, and `]]` would end
   * a text.
   */
  readonly before: 'mark' | 'word' | 'brace' | 'bracket';
}

/** The brackets of statements and of their placeholders, and those of calls that run together. */
export function bracketsOf(lexis: Lexis): readonly Brackets[] {
  const outer = { templates: true, string: lexis.string, gaps: lexis.brackets } as const;
  const inner = { templates: false, string: lexis.innerString, gaps: lexis.placeholder } as const;
  const free = { last: true, name: lexis.name } as const;
  const b: Brackets = { letter: 'b', ...outer, ...free, beforeBrace: 'b', beforeBracket: 'b' };
  const t: Brackets = { letter: 't', ...inner, ...free, beforeBrace: 'u', beforeBracket: 't' };
  if (lexis.doubleBrackets) return [b, { ...t, beforeBracket: 's' }];
  const together = { last: false, name: lexis.nameButLast } as const;
  const n: Brackets = { letter: 'n', ...outer, ...together, beforeBrace: 'n', beforeBracket: 'n' };
  const o: Brackets = { letter: 'o', ...inner, ...together, beforeBrace: 'v', beforeBracket: 'o' };
  return [b, n, t, o];
}

/** The places in a line outside of brackets, and those in brackets. */
export function placesOf({ line }: Lexis, brackets: readonly Brackets[]): readonly ExpressionPlace[] {
  return brackets.flatMap((inside): readonly ExpressionPlace[] => {
    const { letter, gaps, beforeBrace, beforeBracket } = inside;
    return [
      ...(letter === 'b' ? (['l', 'k'] as const) : []).map(
        (each): ExpressionPlace => ({ letter: each, gaps: line, inside, before: each === 'k' ? 'word' : 'mark' }),
      ),
      { letter, gaps, inside, before: 'mark' },
      ...(beforeBrace === letter ? [] : [{ letter: beforeBrace, gaps, inside, before: 'brace' } as const]),
      ...(beforeBracket === letter ? [] : [{ letter: beforeBracket, gaps, inside, before: 'bracket' } as const]),
    ];
  });
}
