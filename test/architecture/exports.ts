import { posix } from 'node:path';
import { isNode, lineOf, type SourceText, type SyntaxNode, sourceOf } from './source.ts';

/** A symbol that an entry point offers, at its declaration. */
export interface Exported {
  readonly name: string;
  /** `src/tools/policy/policy.ts:12` */
  readonly at: string;
  readonly documented: boolean;
  /** Its doc comment and those of its members. */
  readonly docs: readonly string[];
  /** Its public members, if it is a class, an interface or an object type. */
  readonly members: readonly Member[];
}

/** A public member of a symbol. Constructors and members that a symbol of JavaScript names are none. */
export interface Member {
  readonly name: string;
  readonly documented: boolean;
}

const known = new Map<string, ReadonlyMap<string, Exported>>();

/** Everything that can be imported from a file, through its re-exports down to the declarations. */
export function exportsOf(path: string): ReadonlyMap<string, Exported> {
  const exported = known.get(path) ?? readExports(path);
  known.set(path, exported);
  return exported;
}

function readExports(path: string): Map<string, Exported> {
  const source = sourceOf(path);
  const found = new Map<string, Exported>();
  for (const statement of statements(source.program)) {
    const target = isNode(statement.source) ? posix.join(posix.dirname(path), String(statement.source.value)) : null;
    if (statement.type === 'ExportAllDeclaration' && target !== null) {
      for (const [name, symbol] of exportsOf(target)) found.set(name, symbol);
    }
    if (statement.type !== 'ExportNamedDeclaration') continue;
    for (const name of declaredNames(statement.declaration)) found.set(name, symbolAt(source, statement, name));
    for (const { local, exported } of specifiers(statement)) {
      const symbol = target === null ? localSymbol(source, local) : exportsOf(target).get(local);
      if (symbol === undefined) throw new Error(`${path} exports ${local}, which is declared nowhere`);
      found.set(exported, symbol);
    }
  }
  return found;
}

/** A name that a file exports in a list of its own: declared in it, or imported. */
function localSymbol(source: SourceText, name: string): Exported | undefined {
  for (const statement of statements(source.program)) {
    if (declaredNames(statement).includes(name)) return symbolAt(source, statement, name);
    if (statement.type !== 'ImportDeclaration' || !isNode(statement.source)) continue;
    const imported = nodes(statement.specifiers).find(({ local }) => nameOf(local) === name);
    const target = String(statement.source.value);
    if (imported !== undefined && target.startsWith('.'))
      return exportsOf(posix.join(posix.dirname(source.path), target)).get(nameOf(imported.imported));
  }
  return undefined;
}

function symbolAt(source: SourceText, statement: SyntaxNode, name: string): Exported {
  const before = source.text.slice(0, statement.start);
  const inside = source.text.slice(statement.start, statement.end).match(DOC) ?? [];
  return {
    name,
    at: `${source.path}:${lineOf(source, statement.start)}`,
    documented: hasDoc(before),
    docs: [docBefore(before), ...inside],
    members: membersOf(source, statement),
  };
}

function membersOf(source: SourceText, statement: SyntaxNode): Member[] {
  const declaration = isNode(statement.declaration) ? statement.declaration : statement;
  const { body, typeAnnotation: type } = declaration;
  const found = isNode(body) ? nodes(body.body) : isNode(type) ? nodes(type.members) : [];
  return found.flatMap((member) => {
    const name = nameOf(member.key);
    const hidden = !isNode(member.key) || member.key.type !== 'Identifier' || member.accessibility === 'private';
    if (hidden || !MEMBERS.has(declaration.type) || member.kind === 'constructor') return [];
    return [{ name, documented: hasDoc(source.text.slice(0, member.start)) }];
  });
}

const MEMBERS = new Set(['ClassDeclaration', 'TSInterfaceDeclaration', 'TSTypeAliasDeclaration']);

const DOC = /\/\*\*(?:(?!\*\/)[\s\S])*\*\//g;

/** Whether a text ends in a doc comment that says something. */
export function hasDoc(before: string): boolean {
  return /\p{L}/u.test(docBefore(before));
}

/** The doc comment in which a text ends; empty when it ends in none. */
function docBefore(before: string): string {
  const last = before.match(DOC)?.at(-1) ?? '';
  return before.trimEnd().endsWith(last) ? last : '';
}

/** The ids of rules, rulings and requirements of this project in a comment. They mean nothing to users of the package. */
export function internalIds(comment: string): string[] {
  return comment.match(INTERNAL_ID) ?? [];
}

const INTERNAL_ID =
  /\b(?:(?:A3|AL[13]|CTX|ARGO|AMB)-[\w.-]*\w|P\d+|DESIGN(?:\.md)? \d[\d.]*|(?:language|protocol)\.md \d[\d.]*|(?:rulings?|threats?|seeds?) \d+)\b/g;

function declaredNames(declaration: unknown): string[] {
  if (!isNode(declaration)) return [];
  if (declaration.type === 'VariableDeclaration') return nodes(declaration.declarations).map(({ id }) => nameOf(id));
  return DECLARING.has(declaration.type) ? [nameOf(declaration.id)] : [];
}

const DECLARING = new Set([
  'FunctionDeclaration',
  'ClassDeclaration',
  'TSInterfaceDeclaration',
  'TSTypeAliasDeclaration',
  'TSDeclareFunction',
]);

function specifiers(statement: SyntaxNode): { local: string; exported: string }[] {
  return nodes(statement.specifiers).map(({ local, exported }) => ({ local: nameOf(local), exported: nameOf(exported) }));
}

function statements(program: SyntaxNode): SyntaxNode[] {
  return nodes(program.body);
}

function nodes(value: unknown): SyntaxNode[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}

function nameOf(node: unknown): string {
  return isNode(node) && typeof node.name === 'string' ? node.name : '';
}
