import { SemanticTokensBuilder } from 'vscode-languageserver';
import { coloursOf } from './colours.ts';
import type { SourceDocument } from './document.ts';

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
