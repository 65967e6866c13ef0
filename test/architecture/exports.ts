import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { z } from 'zod';
import { isNode, lineOf, ROOT, type SourceText, type SyntaxNode, sourceOf } from './source.ts';

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
  /** The names of its members that have a doc comment, inherited members included. */
  readonly described: ReadonlySet<string>;
}

/** A public member of a symbol. Constructors and members that a symbol of JavaScript names are none. */
export interface Member {
  readonly name: string;
  /** It has a doc comment, or inherits one. */
  readonly documented: boolean;
  /** It can have one value only, which says everything. */
  readonly evident: boolean;
}

const manifest = z.object({ exports: z.record(z.string(), z.union([z.string(), z.object({ types: z.string() })])) });

export function publicEntries(): readonly { readonly name: string; readonly file: string }[] {
  return Object.entries(manifest.parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))).exports).flatMap(
    ([name, target]) =>
      typeof target === 'string' ? [] : [{ name, file: target.types.replace('./dist/', '').replace(/\.d\.ts$/, '.ts') }],
  );
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
      const symbol = target === null ? symbolIn(source, local) : exportsOf(target).get(local);
      if (symbol === undefined) throw new Error(`${path} exports ${local}, which is declared nowhere`);
      found.set(exported, symbol);
    }
  }
  return found;
}

/** A name that is known in a file: declared in it, or imported from another one of this repository. */
export function symbolIn(source: SourceText, name: string): Exported | undefined {
  for (const statement of statements(source.program)) {
    if ([statement, statement.declaration].some((each) => declaredNames(each).includes(name)))
      return symbolAt(source, statement, name);
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
  const declaration = isNode(statement.declaration) ? statement.declaration : statement;
  const inherited = documentedIn(basesOf(source, declaration));
  const members = MEMBERS.has(declaration.type) ? membersOf(source, declaration, inherited) : [];
  return {
    name,
    at: `${source.path}:${lineOf(source, statement.start)}`,
    documented: hasDoc(before),
    docs: [docBefore(before), ...inside],
    members,
    described: new Set([...inherited, ...members.flatMap((member) => (member.documented ? [member.name] : []))]),
  };
}

function membersOf(source: SourceText, declaration: SyntaxNode, inherited: ReadonlySet<string>): Member[] {
  return ownMembers(source, declaration).flatMap(({ member, described }) => {
    const name = nameOf(member.key);
    const hidden = !isNode(member.key) || member.key.type !== 'Identifier' || member.accessibility === 'private';
    if (hidden || member.kind === 'constructor') return [];
    const documented = described || inherited.has(name) || hasDoc(source.text.slice(0, member.start));
    return [{ name, documented, evident: hasOneValue(member) }];
  });
}

const MEMBERS = new Set(['ClassDeclaration', 'TSInterfaceDeclaration', 'TSTypeAliasDeclaration']);

/**
 * The members that a declaration writes down itself: those of a type alias in each object type of its unions and intersections.
 * One doc comment describes all members of one case of a union.
 */
function ownMembers(source: SourceText, { body, typeAnnotation }: SyntaxNode): { member: SyntaxNode; described: boolean }[] {
  if (isNode(body)) return nodes(body.body).map((member) => ({ member, described: false }));
  const within = (part: unknown, described: boolean): { member: SyntaxNode; described: boolean }[] => {
    if (!isNode(part)) return [];
    if (part.type === 'TSParenthesizedType') return within(part.typeAnnotation, described);
    if (part.type === 'TSTypeLiteral') return nodes(part.members).map((member) => ({ member, described }));
    const isCase = (each: SyntaxNode): boolean =>
      part.type === 'TSUnionType' && hasDoc(source.text.slice(0, each.start).replace(/[|(\s]+$/, ''));
    return nodes(part.types).flatMap((each) => within(each, described || isCase(each)));
  };
  return within(typeAnnotation, false);
}

/** The classes and interfaces from which a declaration inherits, as far as this repository declares them. */
function basesOf(source: SourceText, declaration: SyntaxNode): Exported[] {
  const clauses = [...nodes(declaration.implements), ...nodes(declaration.extends)].map(({ expression }) => expression);
  return [declaration.superClass, ...clauses].filter(isNode).flatMap((base) => symbolIn(source, nameOf(base)) ?? []);
}

/** The members that have a doc comment in a base. Editors and the reference show it for a class that has the member too. */
function documentedIn(bases: readonly Exported[]): ReadonlySet<string> {
  return new Set(bases.flatMap(({ described }) => [...described]));
}

/** Whether a member can have one value only, such as the `kind` that tells the types of a union apart. */
function hasOneValue({ typeAnnotation: annotation, value, readonly }: SyntaxNode): boolean {
  const type = isNode(annotation) && isNode(annotation.typeAnnotation) ? annotation.typeAnnotation.type : null;
  if (type !== null) return ONE_VALUE.has(type);
  return readonly === true && isNode(value) && value.type === 'Literal';
}

const ONE_VALUE = new Set(['TSLiteralType', 'TSNullKeyword', 'TSNeverKeyword']);

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
