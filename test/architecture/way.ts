import inspector from 'node:inspector';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { symbolIn } from './exports.ts';
import { isNode, literalText, ROOT, type SourceText, type SyntaxNode, sourceOf, walk } from './source.ts';

/** A function of `src` on a stack: a method, or a function of a file. What is written within it is a part of it. */
export interface Level {
  /** `src/loop/step.ts takeStep` */
  readonly name: string;
  /** The object types of `src` among its parameters, and among those that made its object, as `src/loop/plan.ts Step`. */
  readonly shapes: readonly string[];
}

/**
 * Takes stacks, with all that is awaited. `Error.stack` ends where a function returns a promise without awaiting it; the inspector follows
 * such promises too.
 */
export class Stacks implements Disposable {
  readonly #session = new inspector.Session();
  #last: Level[] = [];

  constructor() {
    this.#session.connect();
    this.#session.on('Runtime.consoleAPICalled', ({ params: { stackTrace } }) => {
      const frames = [];
      for (let part = stackTrace; part !== undefined; part = part.parent) frames.push(...part.callFrames);
      const levels = frames.flatMap(({ url, lineNumber, columnNumber }) => levelAt(url, lineNumber, columnNumber) ?? []);
      const names = new Set(levels.map(({ name }) => name));
      this.#last = [...names].map((name) => {
        const parts = levels.filter((level) => level.name === name);
        return { name, shapes: [...new Set(parts.flatMap(({ shapes }) => shapes))] };
      });
    });
    this.#session.post('Runtime.enable');
    this.#session.post('Debugger.enable');
    this.#session.post('Runtime.setMaxCallStackSizeToCapture', { size: 200 });
    this.#session.post('Debugger.setAsyncCallStackDepth', { maxDepth: 200 });
  }

  /** The functions on the stack, the innermost first, each once. */
  take(): readonly Level[] {
    inspector.console.trace();
    return this.#last;
  }

  [Symbol.dispose](): void {
    this.#session.disconnect();
  }
}

const SOURCES = pathToFileURL(join(ROOT, 'src/')).href;

/** The function at a place, both counted from 0; null outside of `src`, and outside of all functions. */
function levelAt(url: string, line: number, column: number): Level | null {
  if (!url.startsWith(SOURCES)) return null;
  const source = sourceOf(`src/${url.slice(SOURCES.length).replace(/\?.*$/, '')}`);
  const before = source.text.split('\n').slice(0, line);
  const at = before.reduce((sum, { length }) => sum + length + 1, column);
  const holds = ({ start, end }: SyntaxNode): boolean => start <= at && at < end;
  const found = declaredIn(source).find(({ node }) => holds(node));
  if (found === undefined) return null;
  const within: SyntaxNode[] = [];
  walk(found.node, (node) => {
    if (FUNCTIONS.has(node.type) && holds(node)) within.push(node);
    return undefined;
  });
  return { name: found.name, shapes: shapesOf(source, [...within, ...found.makers]) };
}

/** A function by its name: `Class.method`, or the name of a function of a file. */
export function levelNamed(path: string, name: string): Level {
  const source = sourceOf(path);
  const found = declaredIn(source).find((each) => each.name === `${path} ${name}`);
  if (found === undefined) throw new Error(`there is no function ${name} in ${path}`);
  return { name: found.name, shapes: shapesOf(source, [found.node, ...found.makers]) };
}

interface Declared {
  readonly name: string;
  readonly node: SyntaxNode;
  /** The constructor of its class. */
  readonly makers: readonly SyntaxNode[];
}

/** The functions that a file declares, and the methods of its classes. */
function declaredIn({ path, program }: SourceText): readonly Declared[] {
  return nodes(program.body).flatMap((statement) => {
    const declared = isNode(statement.declaration) ? statement.declaration : statement;
    if (declared.type === 'FunctionDeclaration') return { name: `${path} ${nameOf(declared.id)}`, node: declared, makers: [] };
    if (declared.type === 'VariableDeclaration')
      return nodes(declared.declarations).map((node) => ({ name: `${path} ${nameOf(node.id)}`, node, makers: [] }));
    if (declared.type !== 'ClassDeclaration' || !isNode(declared.body)) return [];
    const members = nodes(declared.body.body);
    const makers = members.filter(({ kind }) => kind === 'constructor').flatMap(({ value }) => (isNode(value) ? value : []));
    return members.map((node) => ({ name: `${path} ${nameOf(declared.id)}.${nameOf(node.key)}`, node, makers }));
  });
}

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

/** The object types that the parameters of functions name, and those of several members that have no name. */
function shapesOf(source: SourceText, functions: readonly SyntaxNode[]): readonly string[] {
  const found = new Set<string>();
  for (const { params, value } of functions)
    for (const param of nodes(params ?? (isNode(value) ? value.params : [])))
      walk(param, ({ type, typeName, members }) => {
        const shape = type === 'TSTypeReference' ? shapeNamed(source, nameOf(typeName)) : null;
        if (shape !== null) found.add(shape);
        if (type === 'TSTypeLiteral' && nodes(members).length > 2)
          found.add(`${source.path} { ${nodes(members).map(({ key }) => nameOf(key))} }`);
        return undefined;
      });
  return [...found];
}

/** The object type of this name in a file; null for classes, for functions and values, and for what is not of `src`. */
function shapeNamed(source: SourceText, name: string): string | null {
  const shape = `${symbolIn(source, name)?.at.split(':')[0] ?? source.path} ${name}`;
  return membersOf(shape).length === 0 ? null : shape;
}

/** The members of an object type, with those that it picks from others. */
export function membersOf(shape: string): readonly string[] {
  const [path = '', name] = shape.split(' ');
  const found = new Set<string>();
  walk(sourceOf(path).program, (node) => {
    const isType = node.type === 'TSInterfaceDeclaration' || node.type === 'TSTypeAliasDeclaration';
    if (!isType || nameOf(node.id) !== name) return undefined;
    walk(node, ({ type, key, typeArguments, expression, typeName }) => {
      if (type === 'TSPropertySignature') found.add(nameOf(key));
      const [, picked] = isNode(typeArguments) ? nodes(typeArguments.params) : [];
      if (picked !== undefined && nameOf(expression ?? typeName) === 'Pick')
        walk(picked, (each) => void found.add(literalText(each) ?? '') as undefined);
      return undefined;
    });
    found.delete('');
    return false;
  });
  return [...found];
}

function nodes(value: unknown): SyntaxNode[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}

function nameOf(node: unknown): string {
  return isNode(node) && typeof node.name === 'string' ? `${node.type === 'PrivateIdentifier' ? '#' : ''}${node.name}` : '';
}
