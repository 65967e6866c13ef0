import type { Lexeme } from '../../grammar/index.ts';
import type { NameUse } from './names.ts';
import type { Piece } from './piece.ts';

/** A range of a piece and the colour of what stands there. */
export interface Colour {
  readonly s: number;
  readonly e: number;
  /** A type of semantic token. */
  readonly type: string;
  /** Whether the place defines a procedure or sets a variable. */
  readonly defines: boolean;
  /** Whether it is a built-in function. */
  readonly builtin: boolean;
}

const TYPES: Readonly<Partial<Record<Lexeme['kind'], string>>> = {
  keyword: 'keyword',
  number: 'number',
  string: 'string',
  text: 'string',
  operator: 'operator',
  comment: 'comment',
  metadata: 'macro',
};

const NAMES: Readonly<Record<NameUse['kind'], string>> = {
  procedure: 'function',
  builtin: 'function',
  tool: 'method',
  field: 'property',
  variable: 'variable',
};

/** The lexemes of a piece with the colours of names in place of those of the words that they consist of. */
export function coloursOf({ names, lexemes }: Pick<Piece, 'names' | 'lexemes'>): readonly Colour[] {
  const named = names.uses.map(({ kind, defines, parameter, s, e }): Colour => {
    return { s, e, type: parameter ? 'parameter' : NAMES[kind], defines, builtin: kind === 'builtin' };
  });
  const found: Colour[] = [];
  let next = 0;
  for (const { kind, s, e } of lexemes) {
    while ((named[next]?.e ?? Number.POSITIVE_INFINITY) <= s) next += 1;
    const name = named[next];
    if (name !== undefined && name.s <= s && e <= name.e) {
      if (name.s === s) found.push(name);
      continue;
    }
    const type = TYPES[kind];
    if (type !== undefined) found.push({ s, e, type, defines: false, builtin: false });
  }
  return found;
}
