import {
  type Finding,
  type Lexeme,
  type LineTable,
  lexemesOf,
  type ParseResult,
  type Procedure,
  parse,
} from '../../grammar/index.ts';
import { lineTable } from '../../grammar/syntax/position.ts';
import { type Names, namesOf } from './names.ts';

/**
 * A part of a document that parses by itself: a definition or a command block with the comments before it. Pieces hold offsets of
 * their own, so that one keeps everything that is known of it while other pieces change.
 */
export class Piece {
  readonly text: string;
  readonly doubleBrackets: boolean;
  /** Findings by what they depend on beside the piece. */
  findings: { readonly key: string; readonly found: readonly Finding[] } | null = null;
  #result: ParseResult | undefined;
  #lexemes: readonly Lexeme[] | undefined;
  #names: Names | undefined;
  #lines: LineTable | undefined;

  constructor(text: string, doubleBrackets: boolean) {
    this.text = text;
    this.doubleBrackets = doubleBrackets;
  }

  get result(): ParseResult {
    this.#result ??= parse(this.text, { name: '', doubleBracketStrings: this.doubleBrackets });
    return this.#result;
  }

  get lexemes(): readonly Lexeme[] {
    this.#lexemes ??= lexemesOf(this.text, this.doubleBrackets);
    return this.#lexemes;
  }

  get names(): Names {
    this.#names ??= namesOf(this.lexemes);
    return this.#names;
  }

  /** Offsets at which the lines of the piece begin. */
  get lines(): LineTable {
    this.#lines ??= lineTable(this.text);
    return this.#lines;
  }

  get procedures(): readonly Procedure[] {
    return this.result.ok ? this.result.file.procedures : [];
  }

  /** Whether the piece ends within a text that goes over several lines, so that what seems to follow may belong to the text. */
  get mayGoOn(): boolean {
    return !this.result.ok && LONG_TEXT.test(this.text);
  }
}

/** What begins and ends a text over several lines. */
const LONG_TEXT = /```|"""|'''|\\\n/;
