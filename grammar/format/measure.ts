/** Widths of nodes that are written on one line. */

import { punct } from '../syntax/tokens.ts';
import { padded, spaced } from './spacing.ts';
import type { Bracket, Node } from './tree.ts';

/** Columns up to the first line end; infinite for a node that cannot stand on one line. */
export interface Width {
  readonly columns: number;
  /** Whether the node contains a literal of several lines. What follows the literal does not count. */
  readonly ends: boolean;
}

/** Measures nodes, each bracket once. */
export class Measure {
  readonly #bracketsApart: boolean;
  readonly #known = new WeakMap<Bracket, Width>();

  constructor(bracketsApart: boolean) {
    this.#bracketsApart = bracketsApart;
  }

  /** Width of adjacent nodes of a sequence, without the blank before the first. */
  of(nodes: readonly Node[], from = 0, to = nodes.length): Width {
    let columns = 0;
    for (let index = from; index < to; index++) {
      const node = nodes[index];
      if (node === undefined) break;
      const width = this.node(node);
      columns += (index > from && spaced(nodes, index) ? 1 : 0) + width.columns;
      if (width.ends || columns === Number.POSITIVE_INFINITY) return { columns, ends: true };
    }
    return { columns, ends: false };
  }

  node(node: Node): Width {
    if (node.k === 'note') return { columns: Number.POSITIVE_INFINITY, ends: true };
    if (node.k === 'bracket') return this.#bracket(node);
    const feed = node.text.indexOf('\n');
    return feed < 0 ? { columns: node.text.length, ends: false } : { columns: feed, ends: true };
  }

  #bracket(bracket: Bracket): Width {
    const known = this.#known.get(bracket);
    if (known !== undefined) return known;
    const width = this.#measured(bracket);
    this.#known.set(bracket, width);
    return width;
  }

  #measured(bracket: Bracket): Width {
    const { role, open, close, content, spread } = bracket;
    // A list or a map on several lines in the source stays on several lines.
    const wanted = spread && content.length > 0 && (role === 'list' || role === 'map');
    if (wanted) return { columns: Number.POSITIVE_INFINITY, ends: true };
    const inner = this.of(content, 0, withoutLastComma(content));
    const pad = padded(bracket, this.#bracketsApart) ? 1 : 0;
    const columns = open.text.length + pad + inner.columns;
    return inner.ends ? { columns, ends: true } : { columns: columns + pad + close.text.length, ends: false };
  }
}

/** The number of nodes in a bracket, without a comma after the last item. */
export function withoutLastComma(content: readonly Node[]): number {
  const last = content.at(-1);
  return last?.k === 'atom' && last.type === punct.comma ? content.length - 1 : content.length;
}
