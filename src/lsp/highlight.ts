import { SemanticTokensBuilder } from 'vscode-languageserver';
import type { Lexeme } from '../../grammar/index.ts';
import type { Placed, SourceDocument } from './document.ts';
import type { NameUse } from './names.ts';

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

/** The semantic tokens of a document, as the protocol encodes them. */
export function semanticTokens(document: SourceDocument): { readonly data: number[] } {
  const builder = new SemanticTokensBuilder();
  for (const placed of document.pieces)
    for (const { s, e, type, modifiers } of colours(placed)) {
      const { start, end } = document.rangeOf(placed, { s, e });
      // A token stands in one line; a text over several lines is several tokens.
      for (let line = start.line; line <= end.line; line++) {
        const from = line === start.line ? start.character : 0;
        const to = line === end.line ? end.character : document.line(line).length;
        if (to > from) builder.push(line, from, to - from, LEGEND.tokenTypes.indexOf(type), modifiers);
      }
    }
  return { data: builder.build().data };
}

interface Colour {
  readonly s: number;
  readonly e: number;
  readonly type: string;
  readonly modifiers: number;
}

/** Lexemes with the colours of names in place of those of the words that they consist of. */
function colours({ piece }: Placed): readonly Colour[] {
  const names = piece.names.uses.map(({ kind, defines, parameter, s, e }): Colour => {
    const type = parameter ? 'parameter' : NAMES[kind];
    return { s, e, type, modifiers: (defines ? DECLARATION : 0) + (kind === 'builtin' ? DEFAULT_LIBRARY : 0) };
  });
  const found: Colour[] = [];
  let next = 0;
  for (const { kind, s, e } of piece.lexemes) {
    while ((names[next]?.e ?? Number.POSITIVE_INFINITY) <= s) next += 1;
    const name = names[next];
    if (name !== undefined && name.s <= s && e <= name.e) {
      if (name.s === s) found.push(name);
      continue;
    }
    const type = TYPES[kind];
    if (type !== undefined) found.push({ s, e, type, modifiers: 0 });
  }
  return found;
}
