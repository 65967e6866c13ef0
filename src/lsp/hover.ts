import { type Hover, MarkupKind, type SignatureHelp } from 'vscode-languageserver';
import type { Lexeme } from '../../grammar/index.ts';
import { BUILTINS, builtinNamed } from '../../grammar/vocabulary/builtins.ts';
import { argumentNotes, type CatalogueTool } from '../tools/index.ts';
import type { DocumentPlace, SourceDocument } from './document.ts';
import type { NameUse } from './names.ts';
import { builtinForm, builtinParameter, headOf, KEYWORD_WORDS } from './words.ts';
import type { Definition, Workspace } from './workspace.ts';

/** What is known of the name or keyword at a place. */
export function hover(document: SourceDocument, place: DocumentPlace, workspace: Workspace): Hover | null {
  const named = document.nameAt(place);
  if (named !== null) {
    const value = textOf(named.use, document, workspace);
    return value === null
      ? null
      : { contents: { kind: MarkupKind.Markdown, value }, range: document.rangeOf(named.placed, named.use) };
  }
  const found = document.at(place);
  const word = found?.placed.piece.lexemes.find(({ kind, s, e }) => kind === 'keyword' && s <= found.offset && found.offset <= e);
  const value = word === undefined ? undefined : KEYWORD_WORDS[word.image];
  if (found === null || word === undefined || value === undefined) return null;
  return { contents: { kind: MarkupKind.Markdown, value }, range: document.rangeOf(found.placed, word) };
}

function textOf({ kind, name, parameter }: NameUse, document: SourceDocument, workspace: Workspace): string | null {
  if (kind === 'tool') {
    const tool = workspace.tool(name);
    const denied = workspace.tools().find(({ tool: each }) => each === tool)?.denied ?? null;
    return tool === undefined ? null : toolText(tool, denied);
  }
  if (kind === 'builtin') return Object.hasOwn(BUILTINS, name) ? builtinText(name) : null;
  if (kind === 'variable') return code(parameter ? `needs ${name}` : name);
  if (kind === 'field') return null;
  const definition = workspace.definition(name, document);
  return definition === undefined ? null : procedureText(definition, document);
}

function builtinText(name: string): string {
  const known = builtinNamed(name);
  return known === undefined ? '' : code(builtinForm(known));
}

/** The head of a procedure, the comment above it, and its file with its description if that is another one. */
function procedureText({ document, placed, procedure }: Definition, from: SourceDocument): string {
  const file = document === from ? [] : [`_${decodeURIComponent(document.uri.slice(document.uri.lastIndexOf('/') + 1))}_`];
  const about = document === from || document.description === '' ? [] : [plain(document.description)];
  const comment = commentAbove(placed.piece.lexemes, placed.piece.text, procedure.s);
  return [code(headOf(procedure)), ...comment, ...about, ...file].join('\n\n');
}

/** The comment lines directly above an offset, without their marks. */
function commentAbove(lexemes: readonly Lexeme[], text: string, offset: number): readonly string[] {
  const lines: string[] = [];
  let at = offset;
  for (const { kind, image, s, e } of lexemes.filter((each) => each.e <= offset).reverse()) {
    if (kind !== 'comment' || !/^[ \t]*\n[ \t]*$/.test(text.slice(e, at))) break;
    lines.unshift(plain(image.replace(/^(?:#|--|\/\/)\s?/, '')));
    at = s;
  }
  return lines.length === 0 ? [] : [lines.join('  \n')];
}

/** The page of a tool. The author of the tool wrote its description, so markup in it has no effect. */
export function toolText(tool: CatalogueTool, denied: string | null): string {
  return [
    code(tool.call),
    ...(denied === null ? [] : [`**Denied**: ${plain(denied)}`]),
    ...(tool.description === '' ? [] : [plain(tool.description)]),
    ...argumentNotes(tool.args).map((note) => `- ${plain(note)}`),
    ...(tool.example === undefined ? [] : [code(tool.example)]),
  ].join('\n\n');
}

/** A text as a block of code; it cannot end the block itself. */
function code(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}neuroscript\n${text}\n${fence}`;
}

/** Escapes the marks of Markdown and HTML. */
function plain(text: string): string {
  return text.replace(/[\\`*_{}[\]<>()#!|~&]/g, '\\$&');
}

/** The callable whose arguments surround a place, and which argument the place is in. */
export function signatureHelp(document: SourceDocument, place: DocumentPlace, workspace: Workspace): SignatureHelp | null {
  const found = document.at(place);
  if (found === null) return null;
  const { piece } = found.placed;
  const open: { at: number; argument: number }[] = [];
  for (const { kind, image, s } of piece.lexemes) {
    if (s >= found.offset) break;
    if (kind !== 'punctuation') continue;
    const last = open.at(-1);
    if (OPENS.has(image)) open.push({ at: image === '(' ? s : -1, argument: 0 });
    else if (CLOSES.has(image)) open.pop();
    else if (image === ',' && last !== undefined) last.argument += 1;
  }
  const call = open.at(-1);
  const use =
    call === undefined ? undefined : piece.names.uses.find(({ e }) => e <= call.at && piece.text.slice(e, call.at).trim() === '');
  const form = use === undefined ? null : formOf(use, document, workspace);
  if (call === undefined || form === null) return null;
  const parameters = form.parameters.map((label) => ({ label }));
  const activeParameter = Math.min(call.argument, Math.max(0, parameters.length - 1));
  return { signatures: [{ label: form.label, parameters }], activeSignature: 0, activeParameter };
}

const OPENS: ReadonlySet<string> = new Set(['(', '[', '{']);
const CLOSES: ReadonlySet<string> = new Set([')', ']', '}']);

function formOf(
  { kind, name, defines }: NameUse,
  document: SourceDocument,
  workspace: Workspace,
): { readonly label: string; readonly parameters: readonly string[] } | null {
  if (defines) return null;
  if (kind === 'builtin') {
    const builtin = builtinNamed(name);
    return builtin === undefined ? null : { label: builtinForm(builtin), parameters: [builtinParameter(builtin)] };
  }
  if (kind === 'tool') {
    const tool = workspace.tool(name);
    return tool === undefined ? null : { label: tool.call, parameters: tool.args.map((argument) => argument.name) };
  }
  if (kind !== 'procedure') return null;
  const procedure = workspace.definition(name, document)?.procedure;
  if (procedure === undefined) return null;
  return { label: headOf(procedure), parameters: [...procedure.needs, ...procedure.optional].map((each) => each.name) };
}
