import { importsOf, loadedWith } from './imports.ts';
import { isNode, lineOf, type SourceText, type SyntaxNode, sourceOf, walk } from './source.ts';

/** The scripts that are loaded into an isolate. */
const ENTRIES = ['src/guest/main.ts', 'src/guest/pure/index.ts'];

export function guestFiles(): readonly SourceText[] {
  const files = new Map<string, SourceText>();
  const open = [...ENTRIES];
  for (const path of open) {
    if (files.has(path)) continue;
    const source = sourceOf(path);
    files.set(path, source);
    open.push(...loadedWith(path, importsOf(source)));
  }
  return [...files.values()];
}

/** Methods that change what they are called on. */
const CHANGING = new Set(
  'push pop shift unshift splice sort reverse fill copyWithin set add delete clear append defineProperty assign setPrototypeOf'.split(
    ' ',
  ),
);

/** Calls at module level that make closures, and why those keep nothing of a run. */
const MAKERS: Readonly<Record<string, string>> = {
  toolsOf: 'each tool is a function of its arguments and of the meter of the run',
};

/** What a module of the interpreter has that one run could leave to the next, by line. */
export function moduleState(source: SourceText): readonly string[] {
  const found: string[] = [];
  const report = (node: SyntaxNode, what: string): void =>
    void found.push(`${source.path}:${lineOf(source, node.start)} ${what}`);
  const textOf = (node: unknown): string => (isNode(node) ? source.text.slice(node.start, node.end) : '');
  const names = new Map<string, SyntaxNode>();
  const hasPlaces = within(source.program).some((node) => 'regex' in node && PLACED.test(textOf(node)));
  const body = nodes(source.program.body).map((node) => (isNode(node.declaration) ? node.declaration : node));
  for (const node of body) {
    if (node.type === 'ClassDeclaration') {
      names.set(textOf(node.id), node);
      for (const member of isNode(node.body) ? nodes(node.body.body) : [])
        if (
          member.type === 'StaticBlock' ||
          (member.static === true && member.type === 'PropertyDefinition' && member.readonly !== true)
        )
          report(member, 'a static field that changes');
    } else if (node.type === 'VariableDeclaration') {
      for (const each of nodes(node.declarations)) {
        const name = isNode(each.id) && typeof each.id.name === 'string' ? each.id.name : textOf(each.id);
        names.set(name, each);
        const type = isNode(each.id) ? textOf(each.id.typeAnnotation) : '';
        if (node.kind !== 'const' && !isMemo(name)) report(each, `${name} changes`);
        for (const made of evaluated(each.init)) {
          const callee = textOf(made.callee);
          if (made.type === 'NewExpression' && !isFixed(callee, type) && textOf(made.typeArguments).split(/[<,]/)[1] !== 'Meter')
            report(made, `${name} is a ${callee} that can change`);
          if (
            made.type === 'CallExpression' &&
            /^[a-z]\w*$/.test(callee) &&
            MAKERS[callee] === undefined &&
            makesClosures(callee)
          )
            report(made, `${callee} makes closures`);
          if (made.type === 'CallExpression' && isNode(made.callee) && FUNCTIONS.has(made.callee.type))
            report(made, 'a function called at once');
        }
      }
    } else if (!/^(Import|Export|Function|ForOf|TS)/.test(node.type)) report(node, 'a statement at module level');
  }
  walk(source.program, (node) => {
    const target =
      node.type === 'AssignmentExpression'
        ? node.left
        : node.type === 'UpdateExpression' || isDelete(node)
          ? node.argument
          : undefined;
    const root = isNode(target) && target.type === 'MemberExpression' ? rootOf(target) : undefined;
    if (root !== undefined && isOwn(root, node) && !textOf(target).endsWith('.lastIndex')) report(node, `changes ${root}`);
    if (node.type !== 'CallExpression' || !isNode(node.callee) || node.callee.type !== 'MemberExpression') return true;
    const method = textOf(node.callee.property);
    const on = rootOf(node.callee);
    if (on !== undefined && CHANGING.has(method) && isOwn(on, node) && !textOf(names.get(on)).includes('WeakMap<Meter'))
      report(node, `${on}.${method}`);
    if ((method === 'test' || method === 'exec') && on !== undefined && isStateful(on) && !isPlaced(on, node))
      report(node, `${on}.lastIndex is of an earlier use`);
    return true;
  });
  return found;

  /** A constant that is made at its first use: `??=` is its only assignment, and its value depends on nothing but other constants. */
  function isMemo(name: string): boolean {
    const assigned = [...source.text.matchAll(new RegExp(`(?<![\\w.#])${name} (\\S*=) `, 'g'))];
    return assigned.length === 1 && assigned[0]?.[1] === '??=';
  }

  /** Whether a function of this file has variables that the functions which it makes could share and change. */
  function makesClosures(name: string): boolean {
    const made = body.find((node) => node.type === 'FunctionDeclaration' && textOf(node.id) === name);
    if (made === undefined || !within(made).some((node) => node !== made && FUNCTIONS.has(node.type))) return false;
    return within(made).some((node) => node.type === 'VariableDeclaration' && around(node).at(-1) === made);
  }

  /** Whether a name at this place is one of the module, and not of a function around the place. */
  function isOwn(name: string, place: SyntaxNode): boolean {
    if (!names.has(name)) return false;
    return !around(place).some(
      (node) =>
        new RegExp(`\\b(?:const|let|for \\(const) [^=;]*\\b${name}\\b`).test(textOf(node)) ||
        parametersOf(node).some((each) => new RegExp(`\\b${name}\\b`).test(textOf(each))),
    );
  }

  /** Whether a name is a pattern that keeps a place, or may be one that was passed on. */
  function isStateful(name: string): boolean {
    const declared = names.get(name);
    return declared === undefined ? hasPlaces : PLACED.test(textOf(declared.init));
  }

  /** Whether the function around a use sets the place first. */
  function isPlaced(name: string, use: SyntaxNode): boolean {
    return around(use).some((node) => source.text.slice(node.start, use.start).includes(`${name}.lastIndex = `));
  }

  function around(place: SyntaxNode): readonly SyntaxNode[] {
    return within(source.program).filter(
      (node) => FUNCTIONS.has(node.type) && node.start <= place.start && place.end <= node.end,
    );
  }
}

/** The end of a pattern that keeps its place. */
const PLACED = /\/[a-z]*[gy][a-z]*$/;
const FUNCTIONS = new Set(['ArrowFunctionExpression', 'FunctionExpression', 'FunctionDeclaration']);
/** What nobody can change: errors and patterns without a place, and collections that are declared as such. */
const isFixed = (made: string, type: string): boolean => /^: Readonly(Map|Set)</.test(type) && /^(Map|Set)$/.test(made);

const isDelete = (node: SyntaxNode): boolean => node.type === 'UnaryExpression' && node.operator === 'delete';
const nodes = (value: unknown): SyntaxNode[] => (Array.isArray(value) ? value.filter(isNode) : []);
const parametersOf = (node: SyntaxNode): SyntaxNode[] => nodes(node.params);

/** The name with which a chain of members begins. */
function rootOf(member: SyntaxNode): string | undefined {
  let at: unknown = member;
  while (isNode(at) && at.type === 'MemberExpression') at = at.object;
  return isNode(at) && at.type === 'Identifier' && typeof at.name === 'string' ? at.name : undefined;
}

/** The calls and constructions that are evaluated with an initialiser, those in its functions left out. */
function evaluated(initialiser: unknown): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  if (isNode(initialiser))
    walk(initialiser, (node) => {
      if (node.type === 'NewExpression' || node.type === 'CallExpression') found.push(node);
      return !FUNCTIONS.has(node.type);
    });
  return found;
}

function within(node: SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  walk(node, (each) => found.push(each) > 0);
  return found;
}
