import { type DocumentSymbol, type FoldingRange, FoldingRangeKind, SymbolKind } from 'vscode-languageserver';
import type { Lexeme } from '../../grammar/index.ts';
import type { Placed, SourceDocument } from './document.ts';
import { headOf } from './words.ts';

/** The procedures, event handlers and command blocks of a document, as far as they parse. */
export function outline(document: SourceDocument): readonly DocumentSymbol[] {
  return document.pieces.flatMap((placed) => {
    const { result, text } = placed.piece;
    if (!result.ok) return [];
    const { procedures, commands, events } = result.file;
    const symbol = (
      name: string,
      kind: SymbolKind,
      span: Span,
      selected: Span,
      more: { detail?: string } = {},
    ): DocumentSymbol => ({
      name,
      kind,
      range: document.rangeOf(placed, span),
      selectionRange: document.rangeOf(placed, selected),
      ...more,
    });
    return [
      ...procedures.map((each) => symbol(each.name.name, SymbolKind.Function, each, each.name, { detail: headOf(each) })),
      ...commands.map((each) => symbol('command', SymbolKind.Namespace, each, { s: each.s, e: each.s + 'command'.length })),
      ...events
        .filter((event) => !procedures.some(({ s, e }) => s < event.s && event.e < e))
        .map((each) => symbol(`on event ${text.slice(each.event.s, each.event.e)}`, SymbolKind.Event, each, each.event)),
    ];
  });
}

type Span = { readonly s: number; readonly e: number };

const OPENERS: ReadonlySet<string> = new Set(['func', 'command', 'if', 'while', 'for', 'on', 'together']);
const CLOSERS: ReadonlySet<string> = new Set(['endfunc', 'endcommand', 'endif', 'endwhile', 'endfor', 'endon', 'endtogether']);

/** Blocks, branches, and comments over several lines. */
export function folds(document: SourceDocument): readonly FoldingRange[] {
  return document.pieces.flatMap((placed) => [...blockFolds(document, placed), ...commentFolds(document, placed)]);
}

function blockFolds(document: SourceDocument, placed: Placed): readonly FoldingRange[] {
  const found: FoldingRange[] = [];
  const open: number[] = [];
  const line = ({ s }: Lexeme): number => document.placeOf(placed, s).line;
  const fold = (startLine: number | undefined, endLine: number): void => {
    if (startLine !== undefined && endLine > startLine) found.push({ startLine, endLine });
  };
  for (const lexeme of placed.piece.lexemes) {
    if (lexeme.kind !== 'keyword') continue;
    if (OPENERS.has(lexeme.image) && !(lexeme.image === 'together' && open.at(-1) === line(lexeme))) open.push(line(lexeme));
    else if (lexeme.image === 'else') {
      fold(open.pop(), line(lexeme) - 1);
      open.push(line(lexeme));
    } else if (CLOSERS.has(lexeme.image)) fold(open.pop(), line(lexeme) - 1);
  }
  return found;
}

function commentFolds(document: SourceDocument, placed: Placed): readonly FoldingRange[] {
  const lines = placed.piece.lexemes
    .filter(
      ({ kind, s }) =>
        kind === 'comment' &&
        document
          .line(document.placeOf(placed, s).line)
          .trimStart()
          .search(/^(?:#|--|\/\/)/) === 0,
    )
    .map(({ s }) => document.placeOf(placed, s).line);
  const found: FoldingRange[] = [];
  for (let from = 0; from < lines.length; ) {
    let to = from;
    while (lines[to + 1] === (lines[to] ?? 0) + 1) to += 1;
    const [startLine, endLine] = [lines[from], lines[to]];
    if (startLine !== undefined && endLine !== undefined && to > from)
      found.push({ startLine, endLine, kind: FoldingRangeKind.Comment });
    from = to + 1;
  }
  return found;
}
