import { posix } from 'node:path';
import { exportsOf } from './exports.ts';
import { isNode, type SyntaxNode, sourceOf, walk } from './source.ts';

/**
 * The types of a value that may be anything, or any JSON, or any value of a script. What has one of these types is checked by nothing but
 * a reader.
 */
const OPEN = new Set(['Error', 'TaggedJson', 'Value', 'OrderedValue', 'ValueMap', 'JsonObject', 'JsonValue']);
const OPEN_KEYWORDS = new Set(['TSUnknownKeyword', 'TSObjectKeyword']);

/**
 * The places of the public symbols of these files where a value of an open type passes: `f(parameter)`, `f()` for a result,
 * `Type.member`, `Type.member(parameter)`; also of the types that they name and that no file exports. A value may pass inwards or outwards
 * there: the types alone do not tell.
 */
export function placesOf(files: readonly string[]): readonly string[] {
  const search = new Search();
  for (const file of files)
    for (const { name, at } of exportsOf(file).values()) search.declared(name, at.slice(0, at.lastIndexOf(':')));
  return [...search.places].sort();
}

class Search {
  readonly places = new Set<string>();
  /** The declarations that were searched, as `path name`. */
  readonly #seen = new Set<string>();

  /** Searches the declarations of a name in a file: several, if a function is overloaded. */
  declared(name: string, path: string): void {
    const key = `${path} ${name}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    for (const statement of nodes(sourceOf(path).program['body'])) {
      const declaration = isNode(statement['declaration']) ? statement['declaration'] : statement;
      const ids = [declaration['id'], ...nodes(declaration['declarations']).map(({ id }) => id)];
      if (ids.some((id) => nameOf(id) === name)) this.#collect(name, declaration, path);
    }
  }

  #collect(at: string, node: SyntaxNode, path: string): void {
    if (isFunction(node)) {
      for (const parameter of nodes(node['params'])) {
        const { name, type } = parameterOf(parameter);
        this.#within(`${at}(${name})`, type, path);
      }
      this.#within(`${at}()`, annotationOf(node['returnType']), path);
      return;
    }
    for (const base of nodes(node['extends'])) this.#within(at, base, path);
    for (const member of membersOf(node)) {
      if (member['accessibility'] === 'private' || (isNode(member['key']) && member['key'].type === 'PrivateIdentifier'))
        continue;
      const name = member['kind'] === 'constructor' ? 'new' : nameOf(member['key']);
      const place = member.type === 'TSIndexSignature' ? `${at}[]` : name === '' ? at : `${at}.${name}`;
      const inner = isNode(member['value']) && isFunction(member['value']) ? member['value'] : member;
      if (isFunction(inner)) this.#collect(place, inner, path);
      else this.#within(place, annotationOf(member['typeAnnotation']), path);
    }
  }

  /** Adds a place if its type mentions an open type. The functions and the object types within the type are places of their own. */
  #within(place: string, type: SyntaxNode | null, path: string): void {
    if (type === null) return;
    walk(type, (part) => {
      if (isFunction(part) || part.type === 'TSTypeLiteral') {
        this.#collect(place, part, path);
        return false;
      }
      const name = nameOf(part['typeName'] ?? part['expression']);
      if (OPEN_KEYWORDS.has(part.type) || OPEN.has(name)) this.places.add(place);
      else if (name !== '') this.declared(name, homeOf(name, path));
      return undefined;
    });
  }
}

/** The file that declares a name which this file uses: itself, unless it imports the name from another file of the repository. */
function homeOf(name: string, path: string): string {
  for (const statement of nodes(sourceOf(path).program['body'])) {
    if (statement.type !== 'ImportDeclaration' || !isNode(statement['source'])) continue;
    const specifier = nodes(statement['specifiers']).find(({ local }) => nameOf(local) === name);
    const target = String(statement['source']['value']);
    if (specifier === undefined || !target.startsWith('.')) continue;
    const at = exportsOf(posix.join(posix.dirname(path), target)).get(nameOf(specifier['imported']))?.at ?? path;
    return at.replace(/:\d+$/, '');
  }
  return path;
}

const FUNCTIONS = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
  'TSDeclareFunction',
  'TSEmptyBodyFunctionExpression',
  'TSFunctionType',
  'TSConstructorType',
  'TSMethodSignature',
  'TSCallSignatureDeclaration',
  'TSConstructSignatureDeclaration',
]);

function isFunction(node: SyntaxNode): boolean {
  return FUNCTIONS.has(node.type);
}

/** The members that a declaration writes down, in all cases of its unions; of a variable, its type and its function. */
function membersOf(node: SyntaxNode): SyntaxNode[] {
  if (node.type === 'TSTypeLiteral') return nodes(node['members']);
  if (isNode(node['body'])) return nodes(node['body']['body']);
  return [node, ...nodes(node['declarations'])]
    .flatMap((each) => {
      const type = each.type === 'VariableDeclarator' && isNode(each['id']) ? each['id'] : each;
      return [type, ...(isNode(each['init']) && isFunction(each['init']) ? [{ ...each['init'] }] : [])];
    })
    .filter((each) => each !== node || isNode(node['typeAnnotation']));
}

function parameterOf(parameter: SyntaxNode): { name: string; type: SyntaxNode | null } {
  const inner = [parameter['parameter'], parameter['left'], parameter['argument']].find(isNode) ?? parameter;
  return { name: nameOf(inner) || 'options', type: annotationOf(inner['typeAnnotation'] ?? parameter['typeAnnotation']) };
}

function annotationOf(annotation: unknown): SyntaxNode | null {
  if (!isNode(annotation)) return null;
  return annotation.type === 'TSTypeAnnotation' ? annotationOf(annotation['typeAnnotation']) : annotation;
}

function nodes(value: unknown): SyntaxNode[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}

function nameOf(node: unknown): string {
  return isNode(node) && typeof node['name'] === 'string' ? node['name'] : '';
}
