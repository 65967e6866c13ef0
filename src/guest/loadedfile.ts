import type { Block, LineTable, Stmt } from '../../grammar/index.ts';
import { type Position, positionAt } from '../../grammar/syntax/position.ts';
import type { GuestBlock, GuestFile, GuestProcedure } from '../wire/protocol.ts';

const { parse } = JSON;

/**
 * A file of the run. Most runs call few procedures of a library and need no positions, so the worker keeps parts of the tree until they are
 * first needed. All parts come from our own parser.
 */
export class LoadedFile {
  readonly name: string;
  readonly tree: GuestFile;
  readonly #kept: (part: number) => string;
  #lines: LineTable | undefined;

  /** `kept` gives the JSON of a part that the tree only numbers. */
  constructor(tree: GuestFile, kept: (part: number) => string) {
    this.name = tree.name;
    this.tree = tree;
    this.#kept = kept;
  }

  /** Offsets at which the lines begin. */
  get lines(): LineTable {
    const { lines } = this.tree;
    if (typeof lines !== 'number') return lines;
    const found: LineTable = this.#lines ?? parse(this.#kept(lines));
    this.#lines = found;
    return found;
  }

  position(at: number): Position {
    return positionAt(this.lines, at);
  }

  /** The procedure at this place among the procedures of the file. */
  procedure(place: number): GuestProcedure {
    return parse(this.#kept(place));
  }

  /** The statements in a part of a block. */
  statements(part: number): readonly Stmt[] {
    return parse(this.#kept(part));
  }

  /** A block with all of its statements. */
  whole({ more = [], ...block }: GuestBlock): Block {
    return { ...block, stmts: [block.stmts, ...more.map((part) => this.statements(part))].flat() };
  }

  block(body: Block | number): Block {
    return typeof body === 'number' ? parse(this.#kept(body)) : body;
  }
}
