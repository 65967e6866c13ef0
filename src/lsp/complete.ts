import { type CompletionItem, CompletionItemKind, CompletionItemTag, InsertTextFormat, MarkupKind } from 'vscode-languageserver';
import type { Lexeme } from '../../grammar/index.ts';
import { BUILTINS, type BuiltinName } from '../../grammar/vocabulary/builtins.ts';
import type { DocumentPlace, Placed, Range, SourceDocument } from './document.ts';
import { toolText } from './hover.ts';
import { builtinForm, headOf, KEYWORD_WORDS } from './words.ts';
import type { Workspace } from './workspace.ts';

/** Proposals for the word before a place; none inside of texts and comments. */
export function complete(
  document: SourceDocument,
  place: DocumentPlace,
  workspace: Workspace,
  snippets: boolean,
): readonly CompletionItem[] {
  const found = document.at(place);
  if (found === null) return [];
  const { placed, offset } = found;
  const { lexemes } = placed.piece;
  const inside = lexemes.find(({ s, e, kind }) => s < offset && (offset < e || (kind === 'comment' && offset === e)));
  if (inside !== undefined && ['comment', 'string', 'text', 'metadata', 'number'].includes(inside.kind)) return [];
  const typed = lexemes.filter(({ kind, e }) => kind !== 'comment' && e <= offset);
  const last = typed.at(-1);
  const word = last !== undefined && last.e === offset && (last.kind === 'name' || last.kind === 'keyword') ? last : null;
  const chain = chainOf(typed, word === null ? typed.length : typed.length - 1, offset);
  if (chain?.first.image === 'tool')
    return tools(document.rangeOf(placed, { s: chain.first.s, e: offset }), chain.text, workspace);
  if (chain !== null) return fields(document, placed, chain.first.image, workspace);
  if (last?.kind === 'number' && last.e === offset) return [];
  const first = document.line(place.line).slice(0, place.character).trim() === (word?.image ?? '');
  return [
    ...(first ? statements(snippets) : [...variables(placed, offset, document), ...builtins(), ...expressionWords()]),
    ...(first ? [] : procedures(document, workspace)),
    ...(first ? [] : [{ label: 'tool.', kind: CompletionItemKind.Module, detail: 'calls a tool' }]),
  ];
}

/**
 * The words and dots that end before the index `to`, if the last of them is a dot: `tool.str.`, or `a.b[1].` with the name in front.
 * `text` is what is typed of them and of the word behind.
 */
function chainOf(typed: readonly Lexeme[], to: number, offset: number): { readonly first: Lexeme; readonly text: string } | null {
  let at = to - 1;
  if (typed[at]?.image !== '.' || (to === typed.length && typed[at]?.e !== offset)) return null;
  for (;;) {
    at -= 1;
    while (typed[at]?.image === ']') at = openingOf(typed, at) - 1;
    const first = typed[at];
    if (first === undefined || (first.kind !== 'name' && first.kind !== 'keyword')) return null;
    if (typed[at - 1]?.image !== '.')
      return {
        first,
        text: typed
          .slice(at)
          .map(({ image }) => image)
          .join(''),
      };
    at -= 1;
  }
}

/** Index of the bracket that the one at an index closes; −1 when there is none. */
function openingOf(typed: readonly Lexeme[], closing: number): number {
  let depth = 0;
  for (let at = closing; at >= 0; at--) {
    const image = typed[at]?.image;
    if (image === ']') depth += 1;
    if (image === '[') depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}

/** The tools whose names begin as what is typed, in any letter case. */
function tools(range: Range, typed: string, workspace: Workspace): readonly CompletionItem[] {
  return workspace
    .tools()
    .filter(({ tool }) => tool.name.toLowerCase().startsWith(typed.toLowerCase()))
    .map(({ tool, denied }) => ({
      label: tool.name,
      kind: CompletionItemKind.Function,
      detail: denied === null ? tool.call : `denied: ${denied}`,
      documentation: { kind: MarkupKind.Markdown, value: toolText(tool, denied) },
      filterText: tool.name,
      sortText: `${denied === null ? 0 : 1}${tool.name}`,
      textEdit: { range, newText: tool.name },
      ...(denied === null ? {} : { tags: [CompletionItemTag.Deprecated] }),
    }));
}

/** Fields that the document uses, and those of the result when a tool set the variable. */
function fields(document: SourceDocument, placed: Placed, variable: string, workspace: Workspace): readonly CompletionItem[] {
  const known = new Set(resultFields(placed, variable, workspace));
  for (const { piece } of document.pieces)
    for (const field of piece.names.fields) if (/^[A-Za-z_]\w*$/.test(field)) known.add(field);
  return [...known].map((label) => ({ label, kind: CompletionItemKind.Field }));
}

/** The properties of the results of the tool in `set variable = tool…`. */
function resultFields({ piece }: Placed, variable: string, workspace: Workspace): readonly string[] {
  const { uses } = piece.names;
  return uses.flatMap((use, index) => {
    const next = uses[index + 1];
    if (use.kind !== 'variable' || !use.defines || use.name !== variable || next?.kind !== 'tool') return [];
    const schema = workspace.tool(next.name)?.resultSchema;
    const properties = typeof schema === 'object' ? schema.properties : undefined;
    return typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  });
}

function variables({ piece }: Placed, offset: number, document: SourceDocument): readonly CompletionItem[] {
  const commands = piece.lexemes.some(({ kind, image }) => kind === 'keyword' && image === 'command');
  const pieces = commands ? document.pieces.map((each) => each.piece) : [piece];
  const names = new Set(
    pieces.flatMap((each) =>
      each.names.uses.flatMap(({ kind, name, e }) => (kind === 'variable' && !(each === piece && e === offset) ? [name] : [])),
    ),
  );
  return [...names, 'self'].map((label) => ({ label, kind: CompletionItemKind.Variable }));
}

function procedures(document: SourceDocument, workspace: Workspace): readonly CompletionItem[] {
  const all = workspace.documents.flatMap((each) =>
    each.procedures.map(({ procedure }) => ({ procedure, about: each.description, own: each === document })),
  );
  return all.map(({ procedure, about, own }) => ({
    label: procedure.name.name,
    kind: CompletionItemKind.Function,
    detail: headOf(procedure),
    ...(about === '' ? {} : { documentation: about }),
    sortText: `${own ? 0 : 1}${procedure.name.name}`,
  }));
}

function builtins(): readonly CompletionItem[] {
  return BUILTIN_NAMES.map((label) => ({ label, kind: CompletionItemKind.Function, detail: builtinForm(label) }));
}

const BUILTIN_NAMES = Object.keys(BUILTINS).filter((name): name is BuiltinName => Object.hasOwn(BUILTINS, name));

function expressionWords(): readonly CompletionItem[] {
  return ['and', 'or', 'not', 'no', 'some', 'nil', 'true', 'false', 'last', 'eval', 'in', 'into', 'with'].map(word);
}

/** What begins a line: statements, and the ends of blocks. */
function statements(snippets: boolean): readonly CompletionItem[] {
  const plain = ['set', 'call', 'emit', 'whisper', 'must', 'return', 'fail', 'ask', 'promptuser', 'break', 'continue', 'else'];
  const ends = ['endif', 'endwhile', 'endfor', 'endfunc', 'endcommand', 'endon', 'clear_error', 'clear'];
  const blocks = Object.entries(BLOCKS).map(([label, text]) => ({
    ...word(label),
    ...(snippets ? { insertText: text, insertTextFormat: InsertTextFormat.Snippet } : {}),
  }));
  return [...plain.map(word), ...ends.map(word), ...blocks];
}

const BLOCKS: Readonly<Record<string, string>> = {
  if: 'if $1\n  $0\nendif',
  while: 'while $1\n  $0\nendwhile',
  for: 'for each $1 in $2\n  $0\nendfor',
  func: 'func $1(needs $2) means\n  $0\nendfunc',
  command: 'command\n  $0\nendcommand',
  on: 'on error do\n  $0\nendon',
  together: 'together\n  $0\nendtogether',
};

function word(label: string): CompletionItem {
  const value = KEYWORD_WORDS[label];
  const plain = { label, kind: CompletionItemKind.Keyword };
  return value === undefined ? plain : { ...plain, documentation: { kind: MarkupKind.Markdown, value } };
}
