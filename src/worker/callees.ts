import {
  type BinaryExpr,
  type CallExpr,
  type CallStmt,
  type CommandBlock,
  copiesVariable,
  failingOperand,
  type MapExpr,
  type Procedure,
  type ToolCallExpr,
  takesPlain,
} from '../../grammar/index.ts';
import type { CallShape } from '../wire/sourcereports.ts';

/** A call with the number of its arguments, or what may do nothing of what is meant: an operator, or a call whose result is dropped. */
export interface CountedCall {
  readonly kind: 'tool' | 'call' | 'slip';
  /** Canonical name of a tool; name of a procedure or a built-in; an operator. */
  readonly name: string;
  readonly args: number;
}

/** What a strict check of a turn must know of a parsed source. */
export interface Callees {
  /** The calls of its command blocks. */
  readonly calls: readonly CountedCall[];
  /** The procedures that it defines. */
  readonly procedures: readonly CallShape[];
  /** Variables that its command blocks read and never set, if there is another one that they set and never read: it may be meant. */
  readonly unset: readonly string[];
  /** Variables that are keys of maps in its command blocks, which never set them: the name itself may be meant. */
  readonly keys: readonly string[];
}

/** A node of a tree, or a list of them. */
type TreeNode = { readonly [key: string]: unknown };

const isPart = (value: unknown): value is TreeNode => typeof value === 'object' && value !== null;

/** The calls below a part of a tree, in no order. */
export function callsIn(part: unknown): CountedCall[] {
  const calls: CountedCall[] = [];
  eachNode(part, (node) => addCall(node, calls));
  return calls;
}

/** Visits the nodes below a part of a tree, in no order. The walk is iterative, so deep trees need no stack. */
function eachNode(part: unknown, visit: (node: TreeNode) => void): void {
  const open: unknown[] = [part];
  while (open.length > 0) {
    const node = open.pop();
    if (Array.isArray(node)) {
      for (const each of node) open.push(each);
    } else if (isPart(node)) {
      visit(node);
      // Takes a third of the time that `Object.values` takes, which is as long as writing the JSON of the tree.
      for (const key in node) if (isPart(node[key])) open.push(node[key]);
    }
  }
}

function addCall(node: TreeNode, calls: CountedCall[]): void {
  if (isCall(node)) calls.push(counted(node));
  else if (isBinary(node) && (failingOperand(node) !== null || takesPlain(node)))
    calls.push({ kind: 'slip', name: node.rest[0]?.op ?? '', args: 2 });
  else if (isDropped(node)) calls.push({ ...counted(node.call), kind: 'slip' });
}

export function calleesOf(procedures: readonly Procedure[], commands: readonly CommandBlock[]): Callees {
  const calls: CountedCall[] = [];
  const [read, set, keys] = [new Set<string>(), new Set<string>(), new Set<string>()];
  let readsAny = false;
  eachNode(commands, (node) => {
    addCall(node, calls);
    const { k } = node;
    if (k === 'name') read.add(String(node['name']));
    else if (k === 'eval') readsAny = true;
    else if (isMap(node)) for (const [key] of node.entries) key.k === 'name' && keys.add(key.name);
    else if (k === 'for') {
      addName(node['item'], set);
      addName(node['key'], set);
    } else if (k === undefined && node['steps'] !== undefined) addName(node['name'], set);
  });
  const isSpare = [...set].some((name) => !read.has(name) && !name.startsWith('_'));
  return {
    calls,
    unset: readsAny || !isSpare ? [] : [...read].filter((name) => !set.has(name)),
    keys: [...keys].filter((name) => !set.has(name)),
    procedures: procedures.map(({ name, needs, optional }) => ({
      name: name.name,
      least: needs.length,
      most: needs.length + optional.length,
    })),
  };
}

function addName(name: unknown, names: Set<string>): void {
  if (isPart(name) && typeof name['name'] === 'string') names.add(name['name']);
}

/** The statement `call` has the kind of a call, too, and no arguments of its own. */
function isCall(node: object): node is CallExpr | ToolCallExpr {
  return 'k' in node && (node.k === 'call' || node.k === 'tool') && 'args' in node;
}

function isBinary(node: object): node is BinaryExpr {
  return 'k' in node && node.k === 'binary';
}

function isMap(node: object): node is MapExpr {
  return 'k' in node && node.k === 'map';
}

/** A call of which a changed copy of a variable is dropped. */
function isDropped(node: object): node is CallStmt {
  return 'k' in node && node.k === 'call' && 'call' in node && copiesVariable((node as CallStmt).call);
}

function counted(node: CallExpr | ToolCallExpr): CountedCall {
  return { kind: node.k, name: node.k === 'tool' ? node.name : node.name.name, args: node.args.length };
}
