import { clipped } from '../wire/clip.ts';
import type { TaggedJson } from '../wire/protocol.ts';
import { jsonText } from '../wire/tagged.ts';
import type { PieceView, TextView } from './views.ts';

/** Sizes of the texts of one answer, in UTF-16 units. */
export interface TextSizes {
  /** Most of one text. */
  readonly each: number;
  /** Most of all texts together; what comes later gets `least`. */
  readonly all: number;
  readonly least: number;
}

/** Sizes of the texts that a page asks for. */
export const PAGE_SIZES: TextSizes = { each: 65_536, all: 4_000_000, least: 200 };

/** Units of a piece of a text. */
const PIECE = 1_000_000;

/** Cuts the texts of one answer, so that texts of any size make an answer of bounded size. */
export class Texts {
  readonly #sizes: TextSizes;
  readonly #hasParts: boolean;
  #left: number;

  /** `parts`: whether the rest of a text can be had by its name. */
  constructor(sizes: TextSizes, { parts }: { readonly parts: boolean }) {
    this.#sizes = sizes;
    this.#hasParts = parts;
    this.#left = sizes.all;
  }

  /** A text, cut where it is too long; null for one that is not part of anything that can be asked for. */
  text(text: string, part: string | null): TextView {
    const { each, least } = this.#sizes;
    const shown = clipped(text, Math.max(least, Math.min(each, this.#left)));
    this.#left -= shown.length;
    return { text: shown, length: text.length, part: shown.length < text.length && this.#hasParts ? part : null };
  }

  /** A value of a program as JSON. */
  value(json: TaggedJson, part: string | null): TextView {
    return this.text(jsonOf(json), part);
  }
}

/** A piece of a text. Throws nothing for a place behind its end, where the piece is empty. */
export function pieceOf(text: string, from: number): PieceView {
  return { text: clipped(text.slice(from), PIECE), from, length: text.length };
}

/** A value of a program as JSON, for a reader. A hostile record may nest deeper than this can be written. */
export function jsonOf(value: TaggedJson): string {
  try {
    return jsonText(value);
  } catch (error) {
    if (error instanceof RangeError) return '"(a value that nests too deep to be shown)"';
    throw error;
  }
}
