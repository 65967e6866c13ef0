import { parseAst } from 'rolldown/parseAst';

/** One change of a source file: the text from `start` to `end` becomes `replacement`. Offsets count UTF-16 units. */
export interface Mutant {
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** Line and column of the change, from 1. */
  readonly place: string;
  /** The kind of change, for statistics. */
  readonly kind: string;
  /** The statement or the whole expression around the change, and its text with the change: what a switch can replace. */
  readonly host: Host;
}

interface Host {
  readonly start: number;
  readonly end: number;
  readonly mutated: string;
  readonly statement: boolean;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

const OPERATORS: ReadonlyMap<string, string> = new Map(
  Object.entries({
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
  }),
);
const METHODS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    min: 'max',
    max: 'min',
    some: 'every',
    every: 'some',
    startsWith: 'endsWith',
    push: 'unshift',
    shift: 'pop',
    floor: 'ceil',
    ceil: 'floor',
  }),
);

/** All mutants of a TypeScript file, in the order of their places. Types, imports and messages are left alone. */
export function mutantsOf(file: string, text: string): Mutant[] {
  const found: Mutant[] = [];
  const add: Add = (kind, host, start, end, replacement, mutated) => {
    const changed = mutated ?? `${text.slice(host.start, start)}${replacement}${text.slice(end, host.end)}`;
    const statement = host.type === 'ExpressionStatement';
    const lines = text.slice(0, start + 1).split('\n');
    const place = `${lines.length}:${lines.at(-1)?.length}`;
    found.push({
      file,
      start,
      end,
      replacement,
      place,
      kind,
      host: { start: host.start, end: host.end, mutated: changed, statement },
    });
  };
  // A part of an optional chain ends with the whole chain: only the chain can be replaced.
  const visit = (node: Node, chain: Node | null): void => {
    if (node.type.startsWith('TS') && !VALUE_WRAPPERS.has(node.type)) return;
    if (node.type === 'ImportDeclaration' || node.type === 'ExportAllDeclaration') return;
    mutate(node, chain ?? node, text, add);
    const key = 'computed' in node && node.computed === false ? node.key : undefined;
    for (const child of children(node)) {
      if (child === key) continue;
      if (node.type === 'ChainExpression') visit(child, node);
      else visit(child, child === node.callee || child === node.object ? chain : null);
    }
  };
  const program: unknown = parseAst(text, { lang: 'ts' }, file);
  if (!isNode(program)) throw new Error(`${file}: the parser gave no tree`);
  visit(program, null);
  return found.sort((a, b) => a.start - b.start || a.end - b.end);
}

type Add = (kind: string, host: Node, start: number, end: number, replacement: string, mutated?: string) => void;

/** TypeScript nodes around an expression that runs. */
const VALUE_WRAPPERS = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression']);

function mutate(node: Node, host: Node, text: string, add: Add): void {
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression': {
      const { left, right, operator } = node;
      const other = OPERATORS.get(String(operator));
      if (other === undefined || !isNode(left) || !isNode(right) || isText(left) || isText(right)) return;
      const at = text.indexOf(String(operator), left.end);
      const end = at + String(operator).length;
      const mutated = `(${text.slice(node.start, at)}) ${other} (${text.slice(end, node.end)})`;
      if (at < right.start) add('operator', node, at, end, other, mutated);
      return;
    }
    case 'IfStatement':
    case 'ConditionalExpression':
    case 'WhileStatement': {
      const { test } = node;
      if (!isNode(test)) return;
      add('condition', test, test.start, test.end, 'false');
      if (node.type !== 'WhileStatement') add('condition', test, test.start, test.end, 'true');
      return;
    }
    case 'UnaryExpression':
      if (node.operator === '!') add('negation', node, node.start, node.start + 1, '');
      return;
    case 'Literal':
      if (typeof node.value === 'number') add('number', node, node.start, node.end, `(${text.slice(node.start, node.end)} + 1)`);
      else if (typeof node.value === 'boolean') add('boolean', node, node.start, node.end, String(!node.value));
      return;
    case 'ExpressionStatement': {
      const { expression } = node;
      if (isNode(expression) && expression.type !== 'Literal') add('statement', node, node.start, node.end, ';');
      return;
    }
    case 'ReturnStatement': {
      const { argument } = node;
      if (isNode(argument)) add('return', argument, argument.start, argument.end, 'undefined');
      return;
    }
    case 'CallExpression': {
      const { callee } = node;
      if (!isNode(callee) || callee.type !== 'MemberExpression' || !isNode(callee.property)) return;
      const other = METHODS.get(String(callee.property.name));
      if (other !== undefined) add('method', host, callee.property.start, callee.property.end, other);
      return;
    }
  }
}

/** The text of a file with all these mutants in it, each behind a switch: `__mutant(id)` is true for the active one. */
export function withSwitches(text: string, mutants: readonly (readonly [id: number, mutant: Mutant])[]): string {
  const groups = [...Map.groupBy(mutants, ([, { host }]) => `${host.start} ${host.end} ${host.statement}`).values()];
  const hosts = groups.flatMap((group) => (group[0] === undefined ? [] : [{ ...group[0][1].host, group }]));
  // An outer host comes before the ones in it.
  hosts.sort((a, b) => a.start - b.start || b.end - a.end || Number(b.statement) - Number(a.statement));
  let next = 0;
  const render = (start: number, end: number): string => {
    let at = start;
    let result = '';
    for (let host = hosts[next]; host !== undefined && host.start < end; host = hosts[next]) {
      next += 1;
      result += text.slice(at, host.start);
      at = host.end;
      const original = render(host.start, host.end);
      result += host.statement
        ? `{ if (!(${host.group.map(([id]) => `__mutant(${id})`).join(' || ')})) { ${original} } }`
        : `(${host.group.map(([id, mutant]) => `__mutant(${id}) ? (${mutant.host.mutated}) : `).join('')}(${original}))`;
    }
    return result + text.slice(at, end);
  };
  return render(0, text.length);
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
