import { parseAst } from 'rolldown/parseAst';

/** One change of a source file: the text from `start` to `end` becomes `replacement`. Offsets count UTF-16 units. */
export interface Mutant {
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** 1-based line of the change. */
  readonly line: number;
  /** The kind of change, for statistics. */
  readonly kind: string;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

const OPERATORS: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '&&': '||',
  '||': '&&',
  '??': '&&',
};
const METHODS: Readonly<Record<string, string>> = {
  min: 'max',
  max: 'min',
  some: 'every',
  every: 'some',
  startsWith: 'endsWith',
  push: 'unshift',
  shift: 'pop',
  floor: 'ceil',
  ceil: 'floor',
};

/** All mutants of a TypeScript file, in the order of their places. Types, imports and messages are left alone. */
export function mutantsOf(file: string, text: string): Mutant[] {
  const found: Mutant[] = [];
  let line = 1;
  let counted = 0;
  const add = (kind: string, start: number, end: number, replacement: string): void => {
    found.push({ file, start, end, replacement, line: 0, kind });
  };
  const visit = (node: Node): void => {
    if (node.type.startsWith('TS') && !VALUE_WRAPPERS.has(node.type)) return;
    if (node.type === 'ImportDeclaration' || node.type === 'ExportAllDeclaration') return;
    mutate(node, text, add);
    for (const child of children(node)) visit(child);
  };
  const program: unknown = parseAst(text, { lang: 'ts' }, file);
  if (!isNode(program)) throw new Error(`${file}: the parser gave no tree`);
  visit(program);
  return found
    .sort((a, b) => a.start - b.start || a.end - b.end)
    .map((mutant) => {
      for (; counted < mutant.start; counted += 1) if (text[counted] === '\n') line += 1;
      return { ...mutant, line };
    });
}

/** TypeScript nodes around an expression that runs. */
const VALUE_WRAPPERS = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression']);

function mutate(node: Node, text: string, add: (kind: string, start: number, end: number, replacement: string) => void): void {
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression': {
      const { left, right, operator } = node;
      const other = OPERATORS[String(operator)];
      if (other === undefined || !isNode(left) || !isNode(right) || isText(left) || isText(right)) return;
      const at = text.indexOf(String(operator), left.end);
      if (at < right.start) add('operator', at, at + String(operator).length, other);
      return;
    }
    case 'IfStatement':
    case 'ConditionalExpression':
    case 'WhileStatement': {
      const { test } = node;
      if (!isNode(test)) return;
      add('condition', test.start, test.end, 'false');
      if (node.type !== 'WhileStatement') add('condition', test.start, test.end, 'true');
      return;
    }
    case 'UnaryExpression':
      if (node.operator === '!') add('negation', node.start, node.start + 1, '');
      return;
    case 'Literal':
      if (typeof node.value === 'number') add('number', node.start, node.end, `(${text.slice(node.start, node.end)} + 1)`);
      else if (typeof node.value === 'boolean') add('boolean', node.start, node.end, String(!node.value));
      return;
    case 'ExpressionStatement': {
      const { expression } = node;
      if (isNode(expression) && expression.type !== 'Literal') add('statement', node.start, node.end, ';');
      return;
    }
    case 'ReturnStatement':
      if (isNode(node.argument)) add('return', node.argument.start, node.argument.end, 'undefined');
      return;
    case 'CallExpression': {
      const { callee } = node;
      if (!isNode(callee) || callee.type !== 'MemberExpression' || !isNode(callee.property)) return;
      const other = METHODS[String(callee.property.name)];
      if (other !== undefined) add('method', callee.property.start, callee.property.end, other);
      return;
    }
  }
}

function isText(node: Node): boolean {
  return node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string' && node.value !== '');
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string' && 'start' in value;
}

function children(node: Node): Node[] {
  return Object.values(node).flatMap((value) => (Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : []));
}

/** A sample of `count` items without repetition, the same for the same seed; in the order of `items`. */
export function sample<T>(items: readonly T[], count: number, seed: number): T[] {
  let state = seed >>> 0;
  const random = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const keyed = items.map((item, index) => ({ item, index, key: random() }));
  const drawn = keyed.sort((a, b) => a.key - b.key).slice(0, count);
  return drawn.sort((a, b) => a.index - b.index).map(({ item }) => item);
}
