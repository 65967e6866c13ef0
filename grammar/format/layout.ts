/** Lays out one line of the source: on one line if it fits, otherwise broken inside brackets and at operators. */

import type { TokenType } from 'chevrotain';
import { keyword, precedence, punct } from '../syntax/tokens.ts';
import { isBinary, padded, spaced } from './spacing.ts';
import type { Bracket, Node } from './tree.ts';

/** The longest line, in columns. Only text that cannot be broken is longer. */
export const WIDTH = 100;

const STEP = 2;
/** Indentation after a line that ends with a backslash: more than that of the body of a block. */
const CONTINUED = 4;

/** The place of a sequence: its indentation, the columns that must fit after it, and whether line ends are free. */
interface Placement {
  readonly indent: number;
  readonly tail: number;
  readonly free: boolean;
}

/** The text of a statement. All lines but the first are indented. */
export function layout(nodes: readonly Node[], indent: number, bracketsApart: boolean): string {
  const writer = new Writer(indent, bracketsApart);
  writer.sequence(nodes, { indent, tail: 0, free: false });
  return writer.text;
}

class Writer {
  text = '';
  #column: number;
  readonly #bracketsApart: boolean;
  readonly #measure: Measure;

  constructor(column: number, bracketsApart: boolean) {
    this.#column = column;
    this.#bracketsApart = bracketsApart;
    this.#measure = new Measure(bracketsApart);
  }

  sequence(nodes: readonly Node[], place: Placement): void {
    const { columns, ends } = this.#measure.of(nodes);
    if (this.#column + columns + (ends ? 0 : place.tail) <= WIDTH) {
      this.#flat(nodes, 0, nodes.length);
      return;
    }
    const operators = loosestOperators(nodes);
    const chosen = this.#chosen(nodes, place);
    const worth = chosen >= 0 && (operators.length === 0 || chosen === nodes.length - 1);
    if (operators.length === 0 || worth) this.#inOrder(nodes, chosen, place);
    else this.#atOperators(nodes, operators, place);
  }

  /** Writes the nodes in order. Breaks the chosen bracket or, without one, every bracket that does not fit. */
  #inOrder(nodes: readonly Node[], chosen: number, place: Placement): void {
    for (const [index, node] of nodes.entries()) {
      if (node.k === 'note') continue;
      if (spaced(nodes, index)) this.#write(' ');
      if (node.k === 'atom') this.#write(node.text);
      else if (index === chosen || (chosen < 0 && !this.#fits(nodes, index, place))) this.#broken(node, place.indent);
      else if (this.#measure.node(node).columns === Number.POSITIVE_INFINITY) this.#broken(node, place.indent);
      else this.#flatBracket(node);
    }
  }

  #fits(nodes: readonly Node[], index: number, { tail }: Placement): boolean {
    const node = nodes[index];
    if (node === undefined) return true;
    const { columns, ends } = this.#measure.node(node);
    const after = ends ? 0 : this.#measure.of(nodes, index + 1, this.#nextBracket(nodes, index + 1)).columns + tail;
    return this.#column + columns + after <= WIDTH || (node.k === 'bracket' && !isBreakable(node));
  }

  #nextBracket(nodes: readonly Node[], from: number): number {
    let next = from;
    while (next < nodes.length && nodes[next]?.k !== 'bracket') next++;
    return next;
  }

  /** Index of the last bracket that, broken, makes all the rest fit; −1 when there is none. */
  #chosen(nodes: readonly Node[], { indent, tail }: Placement): number {
    const heads: number[] = [];
    for (let index = 0, columns = this.#column; index < nodes.length; index++) {
      heads.push(columns + (spaced(nodes, index) ? 1 : 0));
      const width = this.#width(nodes, index);
      columns = width.ends ? Number.POSITIVE_INFINITY : (heads[index] ?? 0) + width.columns;
    }
    for (let index = nodes.length - 1, foot = tail; index >= 0; index--) {
      const node = nodes[index];
      const fits = node?.k === 'bracket' && (heads[index] ?? 0) + node.open.text.length <= WIDTH;
      if (fits && isBreakable(node) && indent + node.close.text.length + foot <= WIDTH) return index;
      const width = this.#width(nodes, index);
      foot = (spaced(nodes, index) ? 1 : 0) + width.columns + (width.ends ? 0 : foot);
    }
    return -1;
  }

  #width(nodes: readonly Node[], index: number): Width {
    const node = nodes[index];
    return node === undefined ? { columns: 0, ends: false } : this.#measure.node(node);
  }

  #atOperators(nodes: readonly Node[], operators: readonly number[], place: Placement): void {
    const indent = place.indent + (place.free ? STEP : CONTINUED);
    let from = 0;
    for (const end of [...operators, nodes.length]) {
      const last = end === nodes.length;
      this.sequence(nodes.slice(from, end), { indent, tail: last ? place.tail : place.free ? 0 : 2, free: place.free });
      if (last) break;
      if (!place.free) this.#write(' \\');
      this.#newline(indent);
      this.#write(`${textAt(nodes, end)} `);
      from = end + 1;
    }
  }

  #broken(bracket: Bracket, indent: number): void {
    if (this.#hugged(bracket, indent)) return;
    const { role, open, close } = bracket;
    const { items, last } = itemsOf(bracket);
    const inner = indent + STEP;
    this.#write(open.text);
    for (const [index, { before, nodes, after }] of items.entries()) {
      for (const note of before) this.#own(note, inner);
      this.#newline(inner);
      const comma = role === 'signature' ? '' : index < items.length - 1 || takesLastComma(role) ? ',' : '';
      this.sequence(nodes, { indent: inner, tail: comma.length, free: true });
      this.#write(comma);
      for (const note of after) this.#write(`  ${note}`);
    }
    for (const note of last) this.#own(note, inner);
    this.#newline(indent);
    this.#write(close.text);
  }

  /** Breaks the last argument in place of the list of arguments: `f(a, {` … `})`. Returns whether that is possible. */
  #hugged(bracket: Bracket, indent: number): boolean {
    const { role, open, close, content } = bracket;
    const end = withoutLastComma(content);
    const inner = content[end - 1];
    const before = content[end - 2];
    if (role !== 'call' || inner?.k !== 'bracket' || (inner.role !== 'list' && inner.role !== 'map')) return false;
    if (inner.content.length === 0 || (before !== undefined && !(before.k === 'atom' && before.type === punct.comma)))
      return false;
    const { columns, ends } = this.#measure.of(content, 0, end - 1);
    if (ends || this.#column + open.text.length + columns + 2 > WIDTH) return false;
    this.#write(open.text);
    this.#flat(content, 0, end - 1);
    if (before !== undefined) this.#write(' ');
    this.#broken(inner, indent);
    this.#write(close.text);
    return true;
  }

  #flat(nodes: readonly Node[], from: number, to: number): void {
    for (let index = from; index < to; index++) {
      const node = nodes[index];
      if (index > from && spaced(nodes, index)) this.#write(' ');
      if (node?.k === 'atom') this.#write(node.text);
      else if (node?.k === 'bracket') this.#flatBracket(node);
    }
  }

  #flatBracket(bracket: Bracket): void {
    const { open, close, content } = bracket;
    const pad = padded(bracket, this.#bracketsApart) ? ' ' : '';
    this.#write(open.text + pad);
    this.#flat(content, 0, withoutLastComma(content));
    this.#write(pad + close.text);
  }

  #own(note: string, indent: number): void {
    this.#newline(indent);
    this.#write(note);
  }

  #newline(indent: number): void {
    this.#write(`\n${' '.repeat(indent)}`);
  }

  #write(text: string): void {
    this.text += text;
    const feed = text.lastIndexOf('\n');
    this.#column = feed < 0 ? this.#column + text.length : text.length - feed - 1;
  }
}

function isBreakable({ role, content }: Bracket): boolean {
  return content.length > 0 && role !== 'index' && role !== 'placeholder';
}

function takesLastComma(role: Bracket['role']): boolean {
  return role === 'call' || role === 'list' || role === 'map';
}

function textAt(nodes: readonly Node[], index: number): string {
  const node = nodes[index];
  return node?.k === 'atom' ? node.text : '';
}

/** Indices of the operators with the lowest precedence. */
function loosestOperators(nodes: readonly Node[]): readonly number[] {
  let loosest = Number.POSITIVE_INFINITY;
  let found: number[] = [];
  for (let index = 0; index < nodes.length; index++) {
    if (!isBinary(nodes, index)) continue;
    const level = precedence.get(textAt(nodes, index)) ?? 0;
    if (level > loosest) continue;
    if (level < loosest) found = [];
    loosest = level;
    found.push(index);
  }
  return found;
}

/** The items of a bracket, between its commas, with the comments that belong to each. */
/** One item of a bracket that spans several lines. */
interface Item {
  /** Comments on lines of their own before the item. */
  readonly before: string[];
  readonly nodes: Node[];
  /** Comments after the item or in the middle of it. */
  readonly after: string[];
}

/** The items of a bracket, and the comments on lines of their own after the last item. */
function itemsOf({ role, content }: Bracket): { readonly items: readonly Item[]; readonly last: readonly string[] } {
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

/** Columns up to the first line end; infinite for a node that cannot stand on one line. */
interface Width {
  readonly columns: number;
  /** Whether the node contains a literal of several lines. What follows the literal does not count. */
  readonly ends: boolean;
}

/** Measures nodes, each bracket once. */
class Measure {
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
function withoutLastComma(content: readonly Node[]): number {
  const last = content.at(-1);
  return last?.k === 'atom' && last.type === punct.comma ? content.length - 1 : content.length;
}
