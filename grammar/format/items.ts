/** The items of a bracket, between its commas, with the comments that belong to each. */
import type { TokenType } from 'chevrotain';
import { keyword, punct } from '../syntax/tokens.ts';
import type { Bracket, Node } from './tree.ts';

/** One item of a bracket that spans several lines. */
export interface Item {
  /** Comments on lines of their own before the item. */
  readonly before: string[];
  readonly nodes: Node[];
  /** Comments after the item or in the middle of it. */
  readonly after: string[];
}

/** The items of a bracket, and the comments on lines of their own after the last item. */
export function itemsOf({ role, content }: Bracket): { readonly items: readonly Item[]; readonly last: readonly string[] } {
  const items: Item[] = [];
  let current: Item = { before: [], nodes: [], after: [] };
  const end = lastLine(content);
  const next = (): void => {
    if (current.nodes.length === 0) return;
    items.push(current);
    current = { before: [], nodes: [], after: [] };
  };
  for (const node of content.slice(0, end)) {
    if (node.k === 'note') {
      const previous = items.at(-1);
      if (current.nodes.length > 0) current.after.push(node.text);
      else if (!node.own && previous !== undefined && current.before.length === 0) previous.after.push(node.text);
      else current.before.push(node.text);
    } else if (node.k === 'atom' && node.type === punct.comma && role !== 'signature') {
      next();
    } else {
      if (role === 'signature' && node.k === 'atom' && clauses.has(node.type)) next();
      current.nodes.push(node);
    }
  }
  next();
  const rest = content.slice(end).flatMap((node) => (node.k === 'note' ? [node.text] : []));
  return { items, last: [...current.before, ...rest] };
}

const clauses: ReadonlySet<TokenType> = new Set([keyword.needs, keyword.optional, keyword.returns]);

/** Index of the first of the comments on lines of their own that end the bracket. */
function lastLine(content: readonly Node[]): number {
  let end = content.length;
  for (let node = content[end - 1]; node?.k === 'note' && node.own; node = content[end - 1]) end--;
  return end;
}
