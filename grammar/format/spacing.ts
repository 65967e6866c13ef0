/** Blanks between the nodes of a sequence that is written on one line. */
import type { TokenType } from 'chevrotain';
import { BinaryOperator, keyword, members, PrefixOperator, punct } from '../syntax/tokens.ts';
import { type Bracket, endsOperand, type Node } from './tree.ts';

const binary = members(BinaryOperator);
const prefix = members(PrefixOperator);

/** Whether the node at `index` is an operator between two operands. `**` does not count: lines are not broken there. */
export function isBinary(nodes: readonly Node[], index: number): boolean {
  const node = nodes[index];
  return node?.k === 'atom' && binary.has(node.type) && endsOperand(nodes[index - 1]);
}

function isPrefixSign(nodes: readonly Node[], index: number): boolean {
  const node = nodes[index];
  if (node?.k !== 'atom' || !prefix.has(node.type) || isBinary(nodes, index)) return false;
  return node.type === punct.minus || node.type === punct.tilde;
}

const tightBefore: ReadonlySet<TokenType> = new Set([punct.comma, punct.colon, punct.dot]);
const tightAfter: ReadonlySet<TokenType> = new Set([punct.dot, punct.at]);

/** Whether a blank precedes the node at `index` of a sequence. */
export function spaced(nodes: readonly Node[], index: number): boolean {
  const before = nodes[index - 1];
  const node = nodes[index];
  if (before === undefined || node === undefined) return false;
  if (before.k === 'atom' && tightAfter.has(before.type)) return false;
  if (node.k === 'atom' && tightBefore.has(node.type)) return false;
  // Two minus signs in a row would begin a comment.
  if (isPrefixSign(nodes, index - 1)) return firstText(node).startsWith('-') && firstText(before) === '-';
  if (node.k !== 'bracket') return true;
  switch (node.role) {
    case 'call':
    case 'eval':
    case 'index':
    case 'signature':
      return false;
    case 'group':
      return !(before.k === 'atom' && before.type === keyword.typeof);
    default:
      return true;
  }
}

function firstText(node: Node): string {
  return node.k === 'bracket' ? node.open.text : node.text;
}

/** Whether blanks pad the inside of a bracket. Without them its first two characters would read as one token. */
export function padded({ open, content }: Bracket, bracketsApart: boolean): boolean {
  const [first] = content;
  if (first === undefined) return false;
  const text = firstText(first);
  if (open.text.startsWith('{')) return text.startsWith('{');
  return bracketsApart && open.text === '[' && text.startsWith('[');
}
