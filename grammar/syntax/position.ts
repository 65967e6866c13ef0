/** Converts offsets in a source to lines and columns. */

/** Turns an offset into a 1-based line and a 1-based column in code points. */
export interface LineTable {
  /** Offset of the first character of each line; `starts[0]` is 0. */
  readonly starts: readonly number[];
  /** Offsets of the low surrogates of all characters beyond U+FFFF, ascending. Each shortens the column by one. */
  readonly astral: readonly number[];
}

export function lineTable(text: string): LineTable {
  const starts = [0];
  for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) starts.push(i + 1);
  const astral: number[] = [];
  for (const match of text.matchAll(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)) astral.push(match.index + 1);
  return { starts, astral };
}

/** A position as users see it: a 1-based line and a 1-based column in code points. */
export interface Position {
  /** From 1. */
  readonly line: number;
  /** From 1, in code points. */
  readonly column: number;
}

/** Turns an offset of the cleaned source into the position that users see. O(log n). */
export function positionAt(table: LineTable, offset: number): Position {
  const line = lastAtMost(table.starts, offset);
  const start = table.starts[line] ?? 0;
  const astralBefore = lastAtMost(table.astral, offset) - lastAtMost(table.astral, start);
  return { line: line + 1, column: offset - start - astralBefore + 1 };
}

/** The offset at a position, as {@link positionAt} gives it. */
export function offsetAt({ starts, astral }: LineTable, { line, column }: Position): number {
  const start = starts[line - 1] ?? 0;
  let offset = start + column - 1;
  for (let next = lastAtMost(astral, start) + 1; (astral[next] ?? Number.POSITIVE_INFINITY) <= offset; next++) offset++;
  return offset;
}

/** Index of the last element of an ascending list that is ≤ `value`; −1 when there is none. */
export function lastAtMost(ascending: readonly number[], value: number): number {
  let low = -1;
  let high = ascending.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? Number.POSITIVE_INFINITY) <= value) low = middle;
    else high = middle;
  }
  return low;
}

/** A half-open range `[s, e)` of UTF-16 offsets in the cleaned source. */
export interface Span {
  /** Offset of the first character. */
  readonly s: number;
  /** Offset after the last character. */
  readonly e: number;
}
