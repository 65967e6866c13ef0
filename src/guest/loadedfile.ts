import type { Block, LineTable } from '../../grammar/index.ts';
import type { GuestFile, GuestProcedure } from '../wire/protocol.ts';

const { parse } = JSON;

/**
 * A file of the run. Most procedures of a library are not called in most runs, and most runs need no positions: what the
 * worker has kept of the file is asked for when it is first needed. It all comes from our own parser.
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

  /** Where its lines begin. */
  get lines(): LineTable {
    const { lines } = this.tree;
    if (typeof lines !== 'number') return lines;
    const found: LineTable = this.#lines ?? parse(this.#kept(lines));
    this.#lines = found;
    return found;
  }

  /** The procedure whose name has this place among the file's procedures. */
  procedure(place: number): GuestProcedure {
    return parse(this.#kept(place));
  }

  /** The body of an event handler. */
  block(body: Block | number): Block {
    return typeof body === 'number' ? parse(this.#kept(body)) : body;
  }
}
