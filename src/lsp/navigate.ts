import { builtinNamed } from '../../grammar/vocabulary/builtins.ts';
import { RESERVED } from '../../grammar/vocabulary/keywords.ts';
import type { DocumentPlace, Placed, Range, SourceDocument } from './document.ts';
import type { NameUse } from './names.ts';
import type { Workspace } from './workspace.ts';

/** A range of a document. */
export interface Spot {
  readonly uri: string;
  readonly range: Range;
  /** Whether the place defines the procedure, or sets the variable. */
  readonly defines: boolean;
}

/** Why a name cannot be renamed, in one sentence for the person at the editor. */
export class RenameRefusal extends Error {}

/** Where the procedure or variable at a place is defined: for a variable, where it is first set. */
export function definitionOf(document: SourceDocument, place: DocumentPlace, workspace: Workspace): Spot | null {
  const named = document.nameAt(place);
  if (named === null) return null;
  const { placed, use } = named;
  if (use.kind === 'variable') return variableSpots(document, placed, use).find(({ defines }) => defines) ?? null;
  if (use.kind !== 'procedure') return null;
  const found = workspace.definition(use.name, document);
  if (found === undefined) return null;
  return { uri: found.document.uri, range: found.document.rangeOf(found.placed, found.procedure.name), defines: true };
}

/** All places of the procedure or variable at a place: a variable's in its own procedure, handler or command blocks. */
export function referencesOf(document: SourceDocument, place: DocumentPlace, workspace: Workspace): readonly Spot[] {
  const named = document.nameAt(place);
  if (named === null) return [];
  const { placed, use } = named;
  if (use.kind === 'variable') return variableSpots(document, placed, use);
  if (use.kind === 'procedure') return procedureSpots(document, use.name, workspace);
  return sameName(document, use);
}

/** The range of the name that would be renamed. Throws {@link RenameRefusal}. */
export function renameRange(document: SourceDocument, place: DocumentPlace): Range {
  const named = document.nameAt(place);
  if (named === null || (named.use.kind !== 'variable' && named.use.kind !== 'procedure'))
    throw new RenameRefusal('only variables and procedures can be renamed');
  return document.rangeOf(named.placed, named.use);
}

/** The places to change when the name at a place becomes another. Throws {@link RenameRefusal} if that would change what programs do. */
export function renameSpots(document: SourceDocument, place: DocumentPlace, name: string, workspace: Workspace): readonly Spot[] {
  renameRange(document, place);
  if (!/^[A-Za-z_]\w*$/.test(name)) throw new RenameRefusal('a name has letters A to Z, digits and _, and begins with no digit');
  if (RESERVED.has(name)) throw new RenameRefusal(`\`${name}\` is a keyword`);
  const named = document.nameAt(place);
  if (named === null) return [];
  const { placed, use } = named;
  if (use.kind === 'variable') refuseVariable(document, placed, use, name);
  else {
    if (builtinNamed(name) !== undefined) throw new RenameRefusal(`\`${name}\` is a built-in function`);
    if (workspace.definition(use.name, document) === undefined) throw new RenameRefusal(`no file defines \`${use.name}\``);
    if (workspace.definition(name, document) !== undefined) throw new RenameRefusal(`there is a procedure \`${name}\` already`);
  }
  return referencesOf(document, place, workspace);
}

function refuseVariable(document: SourceDocument, placed: Placed, use: NameUse, name: string): void {
  const around = unitOf(document, placed, use);
  if (around.some(({ placed: { piece }, scope }) => piece.names.evaluating.has(scope)))
    throw new RenameRefusal('`eval` in this block may read the variable by its name');
  const taken = around.some(({ placed: { piece }, scope }) =>
    piece.names.uses.some((each) => each.kind === 'variable' && each.scope === scope && each.name === name),
  );
  if (taken) throw new RenameRefusal(`there is a variable \`${name}\` already`);
}

/** The pieces and scopes that share the variables of a use: all command blocks of a document share theirs. */
function unitOf(
  document: SourceDocument,
  placed: Placed,
  { scope }: NameUse,
): readonly { readonly placed: Placed; readonly scope: number }[] {
  if (scope > 0 || !isCommand(placed)) return [{ placed, scope }];
  return document.pieces.filter(isCommand).map((each) => ({ placed: each, scope: 0 }));
}

function isCommand({ piece }: Placed): boolean {
  return piece.lexemes.find(({ kind }) => kind === 'keyword')?.image === 'command';
}

function variableSpots(document: SourceDocument, placed: Placed, use: NameUse): readonly Spot[] {
  return unitOf(document, placed, use).flatMap(({ placed: each, scope }) =>
    each.piece.names.uses
      .filter(({ kind, name, scope: own }) => kind === 'variable' && name === use.name && own === scope)
      .map((found) => spot(document, each, found)),
  );
}

/** The definition of a procedure and every call that reaches it. */
function procedureSpots(document: SourceDocument, name: string, workspace: Workspace): readonly Spot[] {
  const target = workspace.definition(name, document)?.document;
  return workspace.documents
    .filter((each) => each === document || (target !== undefined && workspace.definition(name, each)?.document === target))
    .flatMap((each) => sameName(each, { kind: 'procedure', name }));
}

function sameName(document: SourceDocument, { kind, name }: Pick<NameUse, 'kind' | 'name'>): readonly Spot[] {
  return document.pieces.flatMap((placed) =>
    placed.piece.names.uses.filter((use) => use.kind === kind && use.name === name).map((use) => spot(document, placed, use)),
  );
}

function spot(document: SourceDocument, placed: Placed, use: NameUse): Spot {
  return { uri: document.uri, range: document.rangeOf(placed, use), defines: use.defines };
}
