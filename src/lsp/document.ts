import { asksForDoubleBrackets, MAX_SOURCE_BYTES, type Procedure } from '../../grammar/index.ts';
import { lastAtMost } from '../../grammar/syntax/position.ts';
import type { NameUse } from './names.ts';
import { Piece } from './piece.ts';

/** A place in a document as the protocol counts: lines and UTF-16 code units, both from 0. */
export interface DocumentPlace {
  readonly line: number;
  readonly character: number;
}

/** A half-open range of places. */
export interface Range {
  readonly start: DocumentPlace;
  readonly end: DocumentPlace;
}

/** A piece at its place. */
export interface Placed {
  readonly piece: Piece;
  /** Its first line in the document, from 0. */
  readonly line: number;
}

/** One version of a source, in pieces. Immutable. It takes over what an earlier version knows of unchanged pieces. */
export class SourceDocument {
  readonly uri: string;
  readonly text: string;
  readonly pieces: readonly Placed[];
  /** Whether the source is longer than any program. It counts as empty then. */
  readonly tooLong: boolean;
  /** The lines as the client has them, without line ends. */
  readonly #lines: readonly string[];
  readonly #removed = new Map<number, readonly number[]>();

  constructor(uri: string, given: string, before?: SourceDocument) {
    this.uri = uri;
    this.tooLong = given.length > MAX_SOURCE_BYTES;
    const text = this.tooLong ? '' : given;
    this.text = text;
    this.#lines = text.replace(/^\uFEFF/, '').split(/\r\n?|\n/);
    const doubleBrackets = asksForDoubleBrackets(text);
    // Two pieces of the same text have findings of their own, so each old one serves once.
    const known = Map.groupBy(before?.pieces.map(({ piece }) => piece).reverse() ?? [], ({ text: own }) => own);
    const cleaned = this.#lines.map((line) => line.replace(REMOVED, ''));
    // The header of such a file changes how all of it reads.
    const parts = doubleBrackets ? [{ line: 0, text: cleaned.join('\n') }] : split(cleaned);
    const pieces = parts.map(({ line, text: own }): Placed => {
      return { line, piece: keptOf(known, own, doubleBrackets) };
    });
    this.pieces = standAlone(pieces) ? pieces : [{ line: 0, piece: keptOf(known, cleaned.join('\n'), doubleBrackets) }];
  }

  /** Procedures that the document defines, with the pieces that hold them. */
  get procedures(): readonly { readonly placed: Placed; readonly procedure: Procedure }[] {
    return this.pieces.flatMap((placed) => placed.piece.procedures.map((procedure) => ({ placed, procedure })));
  }

  /** What the metadata `description` at the top says that the file does; empty without. */
  get description(): string {
    const result = this.pieces[0]?.piece.result;
    return (result?.ok === true ? new Map(result.file.metadata).get('description') : undefined) ?? '';
  }

  get broken(): boolean {
    return this.pieces.some(({ piece }) => !piece.result.ok);
  }

  /** The whole text as one piece: an error in one definition may be the doing of another. */
  get whole(): Placed {
    const text = this.#lines.map((line) => line.replace(REMOVED, '')).join('\n');
    return { line: 0, piece: new Piece(text, asksForDoubleBrackets(this.text)) };
  }

  line(index: number): string {
    return this.#lines[index] ?? '';
  }

  get lineCount(): number {
    return this.#lines.length;
  }

  placeOf({ piece, line }: Placed, offset: number): DocumentPlace {
    const { starts } = piece.lines;
    const index = lastAtMost(starts, offset);
    return { line: line + index, character: this.#asWritten(line + index, offset - (starts[index] ?? 0)) };
  }

  rangeOf(placed: Placed, { s, e }: { readonly s: number; readonly e: number }): Range {
    return this.#range(this.placeOf(placed, s), this.placeOf(placed, e));
  }

  /** The range between two places of a piece, each a line and column from 1 and in code points. */
  rangeAt(placed: Placed, found: Marked): Range {
    return this.#range(this.#placeAt(placed, found), this.#placeAt(placed, { line: found.endLine, column: found.endColumn }));
  }

  #placeAt({ piece, line }: Placed, at: { readonly line: number; readonly column: number }): DocumentPlace {
    const { starts, astral } = piece.lines;
    const start = starts[at.line - 1] ?? piece.text.length;
    let offset = start + at.column - 1;
    // Each character of two units before the place moves it by one more.
    for (let index = lastAtMost(astral, start) + 1; (astral[index] ?? Number.POSITIVE_INFINITY) <= offset; index++) offset += 1;
    return { line: line + at.line - 1, character: this.#asWritten(line + at.line - 1, offset - start) };
  }

  at(place: DocumentPlace): { readonly placed: Placed; readonly offset: number } | null {
    const placed =
      this.pieces[
        lastAtMost(
          this.pieces.map(({ line }) => line),
          place.line,
        )
      ];
    if (placed === undefined) return null;
    const { starts } = placed.piece.lines;
    const raw = this.line(place.line).slice(0, place.character);
    const offset = (starts[place.line - placed.line] ?? placed.piece.text.length) + raw.replace(REMOVED, '').length;
    return { placed, offset: Math.min(offset, placed.piece.text.length) };
  }

  /** The name that stands at a place or ends there. */
  nameAt(place: DocumentPlace): { readonly placed: Placed; readonly use: NameUse } | null {
    const found = this.at(place);
    const use = found?.placed.piece.names.uses.find(({ s, e }) => s <= found.offset && found.offset <= e);
    return found === null || use === undefined ? null : { placed: found.placed, use };
  }

  /** Control characters that cleaning removed at the end of a range do not belong to it. */
  #range(start: DocumentPlace, end: DocumentPlace): Range {
    const { line } = end;
    let { character } = end;
    const first = line === start.line ? start.character : 0;
    while (character > first && isRemoved(this.line(line).charAt(character - 1))) character -= 1;
    return { start, end: { line, character } };
  }

  /** The character of the line as the client has it: cleaning removes control characters. */
  #asWritten(line: number, character: number): number {
    return Math.min(character + lastAtMost(this.#removedFrom(line), character) + 1, this.line(line).length);
  }

  /** Where cleaning removed characters from a line, in characters of the cleaned line. A line may hold every name of a program. */
  #removedFrom(line: number): readonly number[] {
    const known = this.#removed.get(line);
    if (known !== undefined) return known;
    const removed = [...this.line(line).matchAll(REMOVED)].map(({ index }, before) => index - before);
    this.#removed.set(line, removed);
    return removed;
  }
}

/** A place of a finding: lines and columns from 1, in code points. */
export interface Marked {
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

function isRemoved(character: string): boolean {
  return character.search(REMOVED) >= 0;
}

/** What cleaning removes from a line. */
const REMOVED = /[\0-\x08\x0B\x0C\x0E-\x1F]/g;

/** Whether the pieces are right by themselves. If not, the parser must see the whole text. */
function standAlone(pieces: readonly Placed[]): boolean {
  const kinds = new Set<string>();
  const names = new Set<string>();
  for (const [index, { piece }] of pieces.entries()) {
    if (piece.mayGoOn) return false;
    if (index > 0 && piece.lexemes.find(({ kind }) => kind !== 'comment')?.kind === 'metadata') return false;
    if (!piece.result.ok) continue;
    const { kind } = piece.result.file;
    if (kind !== 'empty') kinds.add(kind);
    for (const { name } of piece.procedures) {
      if (names.has(name.name)) return false;
      names.add(name.name);
    }
  }
  return kinds.size < 2;
}

/** The piece of an earlier version with this text, or a new one. */
function keptOf(known: ReadonlyMap<string, Piece[]>, text: string, doubleBrackets: boolean): Piece {
  const old = known.get(text)?.pop();
  return old?.doubleBrackets === doubleBrackets ? old : new Piece(text, doubleBrackets);
}

/** Divides a source into the parts that parse by themselves. */

/** A part of a source: its first line, from 0, and its text, without the last line end. */
interface Part {
  readonly line: number;
  readonly text: string;
}

const OPENS = /^\s*(?:(func|command)\b|on\s+(event)\b)/;
const CLOSES = { func: /^\s*endfunc\b/, command: /^\s*endcommand\b/, event: /^\s*endon\b/ } as const;
/** What `endon` closes. */
const ON = /^\s*on\b/;

/**
 * Divides lines after every definition and every command block. A definition that is not closed ends before the next one that begins
 * in the first column.
 */
function split(lines: readonly string[]): readonly Part[] {
  const parts: Part[] = [];
  let from = 0;
  let open: keyof typeof CLOSES | null = null;
  let depth = 0;
  const cut = (to: number): void => {
    if (to > from) parts.push({ line: from, text: lines.slice(from, to).join('\n') });
    from = to;
    open = null;
    depth = 0;
  };
  for (const [index, line] of lines.entries()) {
    const kind = kindOf(line);
    if (kind !== null && (open === null || (!/^\s/.test(line) && kind !== 'event'))) {
      if (open !== null) cut(index);
      [open, depth] = [kind, 1];
    } else if (open === 'event' && ON.test(line)) depth += 1;
    else if (open !== null && CLOSES[open].test(line)) {
      depth -= 1;
      if (depth === 0) cut(index + 1);
    }
  }
  cut(lines.length);
  return parts;
}

function kindOf(line: string): keyof typeof CLOSES | null {
  const [, word, event] = OPENS.exec(line) ?? [];
  if (event !== undefined) return 'event';
  return word === 'func' || word === 'command' ? word : null;
}
