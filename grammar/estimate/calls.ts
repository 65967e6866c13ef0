/** The calls of the host that a program can make: one row for each place and each set of known arguments. */
import type { SourceFile, Stmt } from '../syntax/ast.ts';
import type { Expr } from '../syntax/astexpressions.ts';
import type { Span } from '../syntax/position.ts';
import { type Abstract, join } from './values.ts';

/** A condition that decides whether, or how often, a place is reached. */
export interface Condition {
  readonly kind: 'if' | 'unless' | 'while' | 'each' | 'error' | 'event' | 'procedure';
  /** The expression that decides, or the beginning of a procedure or handler. */
  readonly at: Span;
  readonly file: SourceFile;
  readonly expr?: Expr;
  readonly name?: string;
}

/** The conditions of a place, innermost first. */
export interface Path {
  readonly condition: Condition;
  readonly outer: Path | null;
}

export type CallNode = Expr | Stmt;

export interface CallRow {
  /** Canonical name of a tool, `ask` or `promptuser`. */
  readonly name: string;
  readonly node: CallNode;
  readonly file: SourceFile;
  /** Number of the place among all places. */
  readonly place: number;
  /** Null where nothing is known, not even their number. */
  readonly args: readonly Abstract[] | null;
  /** Whether the row covers calls at other places too. */
  readonly elsewhere: boolean;
  /** The conditions that held on the way to the call; outermost first. */
  readonly when: readonly Condition[];
}

/** Most rows of one place, and of a program. A place with more gets one row for all further calls, in which nothing is exact. */
const MOST_OF_PLACE = 24;
const MOST_ROWS = 1000;

const MOST_CONDITIONS = 8;

/** The rows of one program. Rows only get wider, so a row covers all calls that were counted for it. */
export class CallTable {
  readonly rows: CallRow[] = [];
  readonly #signature: (args: CallRow['args']) => string;
  readonly #places = new Map<CallNode, { readonly place: number; readonly rows: Map<string, number> }>();
  readonly #byName = new Map<string, number>();

  /** `signature` is equal for arguments of which the same is known. */
  constructor(signature: (args: CallRow['args']) => string) {
    this.#signature = signature;
  }

  place(node: CallNode): number {
    return this.#placeOf(node).place;
  }

  row(call: Omit<CallRow, 'place' | 'when' | 'elsewhere'>, path: Path | null): number {
    const { place, rows } = this.#placeOf(call.node);
    const signature = this.#signature(call.args);
    const when = conditionsOf(path);
    const known = rows.get(signature);
    // With equal signatures, the row still describes its arguments.
    if (known !== undefined) return this.#widen(known, null, when);
    const further = rows.size >= MOST_OF_PLACE ? rows.get('') : undefined;
    if (further !== undefined) return this.#widen(further, call, when);
    if (this.rows.length >= MOST_ROWS) return this.#further({ ...call, place, when, elsewhere: true });
    const row = this.rows.push({ ...call, place, when, elsewhere: false }) - 1;
    rows.set(rows.size >= MOST_OF_PLACE ? '' : signature, row);
    return row;
  }

  #placeOf(node: CallNode) {
    let known = this.#places.get(node);
    if (known === undefined) {
      known = { place: this.#places.size, rows: new Map() };
      this.#places.set(node, known);
    }
    return known;
  }

  /** The one row for all calls of a name beyond {@link MOST_ROWS}. */
  #further(row: CallRow): number {
    const known = this.#byName.get(row.name);
    if (known !== undefined) return this.#widen(known, row, row.when);
    const made = this.rows.push(row) - 1;
    this.#byName.set(row.name, made);
    return made;
  }

  /** Lets a row cover another call as well. */
  #widen(index: number, call: Pick<CallRow, 'args'> | null, when: readonly Condition[]): number {
    const row = this.rows[index];
    if (row === undefined) throw new RangeError('there is no such row');
    const common = row.when.filter((one) => when.some((other) => isSame(one, other)));
    const args = call === null ? row.args : joined(row.args, call.args);
    if (args !== row.args || common.length < row.when.length) this.rows[index] = { ...row, args, when: common };
    return index;
  }
}

function joined(a: CallRow['args'], b: CallRow['args']): CallRow['args'] {
  if (a === null || b === null || a.length !== b.length) return null;
  return a.map((arg, at) => join(arg, b[at] ?? arg));
}

function conditionsOf(path: Path | null): readonly Condition[] {
  const conditions: Condition[] = [];
  for (let at = path; at !== null && conditions.length < MOST_CONDITIONS; at = at.outer)
    if (!conditions.some((one) => isSame(one, at.condition))) conditions.push(at.condition);
  return conditions.reverse();
}

function isSame(a: Condition, b: Condition): boolean {
  return a.kind === b.kind && a.at.s === b.at.s && a.at.e === b.at.e && a.file === b.file;
}
