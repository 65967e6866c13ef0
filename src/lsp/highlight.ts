import { SemanticTokensBuilder } from 'vscode-languageserver';
import type { Lexeme } from '../../grammar/index.ts';
import type { SourceDocument } from './document.ts';
import type { NameUse } from './names.ts';
import type { Piece } from './piece.ts';

/** The types and modifiers of semantic tokens; a token names them by their index. */
export const LEGEND = {
  tokenTypes: [
    'keyword',
    'variable',
    'parameter',
    'function',
    'method',
    'property',
    'string',
    'number',
    'operator',
    'comment',
    'macro',
  ],
  tokenModifiers: ['declaration', 'defaultLibrary'],
};

const [DECLARATION, DEFAULT_LIBRARY] = [1, 2];

/** The semantic tokens of a document, as the protocol encodes them. */
export function semanticTokens(document: SourceDocument): { readonly data: number[] } {
  const builder = new SemanticTokensBuilder();
  for (const placed of document.pieces)
    for (const { s, e, type, defines, builtin } of coloursOf(placed.piece)) {
      const { start, end } = document.rangeOf(placed, { s, e });
      const modifiers = (defines ? DECLARATION : 0) + (builtin ? DEFAULT_LIBRARY : 0);
      // A token stands in one line; a text over several lines is several tokens.
      for (let line = start.line; line <= end.line; line++) {
        const from = line === start.line ? start.character : 0;
        const to = line === end.line ? end.character : document.line(line).length;
        if (to > from) builder.push(line, from, to - from, LEGEND.tokenTypes.indexOf(type), modifiers);
      }
    }
  return { data: builder.build().data };
}

/** A range of a piece and the colour of what stands there. */
interface Colour {
  readonly s: number;
  readonly e: number;
  readonly type: string;
  /** Whether the place defines a procedure or sets a variable. */
  readonly defines: boolean;
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
