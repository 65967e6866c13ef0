/** Variables of a loop that may have the value of the pass before. */
import type { Block, ErrorHandler, ForStmt, Stmt, WhileStmt } from '../syntax/ast.ts';
import type { Expr, Name } from '../syntax/astexpressions.ts';
import { statementCanFail } from '../syntax/certainty.ts';
import type { Span } from '../syntax/position.ts';
import { allOf, blocksOf, eachStatement, expressionsOf, setBy, targetsOf } from '../syntax/walk.ts';
import { type CheckedFile, lint, type RawEdit, type Report } from './finding.ts';
import { goesOn, leaving } from './handlers.ts';
import { eachRead, TAKES_NIL } from './nil.ts';
import { type Unit, unitsOf } from './scopes.ts';

/** Checks the loops of all files. `reported`: handlers that have a finding already; each gets one. */
export function checkKept(files: readonly CheckedFile[], reported: Set<ErrorHandler>, report: Report): void {
  for (const unit of unitsOf(files)) new KeptChecker(unit, reported, report).check();
}

type Loop = ForStmt | WhileStmt;

interface Place extends Span {
  readonly file: CheckedFile;
  readonly statement: Span;
}

interface Mended {
  readonly fix: string;
  readonly edits: readonly RawEdit[];
}

const NO_GLOBALS: ReadonlySet<string> = new Set();
/** Characters of the longest loop that is looked at. */
const LONGEST = 50_000;
/** Most variables that are copied for the ways through the loops of a unit. Programs of people copy some hundred. */
const MOST_COPIED = 4_000_000;

class KeptChecker {
  readonly #unit: Unit;
  readonly #reported: Set<ErrorHandler>;
  readonly #report: Report;
  /** Where each variable of the unit is set. */
  readonly #writes = new Map<string, Place[]>();
  /** Where it is read. */
  readonly #reads = new Map<string, Place[]>();
  readonly #found = new Set<number>();
  #left = MOST_COPIED;

  constructor(unit: Unit, reported: Set<ErrorHandler>, report: Report) {
    this.#unit = unit;
    this.#reported = reported;
    this.#report = report;
  }

  check(): void {
    for (const { file, body } of this.#unit.parts)
      eachStatement(body, (stmt) => {
        const note = (places: Map<string, Place[]>, { name, s, e }: Name): void => {
          const place = { s, e, file, statement: stmt };
          const known = places.get(name);
          if (known === undefined) places.set(name, [place]);
          else known.push(place);
        };
        for (const { name, steps } of targetsOf(stmt)) {
          note(this.#writes, name);
          if (steps.length > 0) note(this.#reads, name);
        }
        for (const expr of allOf(stmt)) if (expr.k === 'name') note(this.#reads, expr);
      });
    for (const { file, body } of this.#unit.parts) {
      this.#found.clear();
      this.#block(file, body, null);
    }
  }

  /** Checks the loops in a block, the inner ones first. */
  #block(file: CheckedFile, block: Block, around: ErrorHandler | null): void {
    const handler = handlerOf(block, around);
    for (const stmt of block.stmts) {
      for (const inner of blocksOf(stmt)) this.#block(file, inner, handler);
      if (stmt.k === 'for' || stmt.k === 'while') this.#loop(file, stmt, handler);
    }
    if (block.onError !== undefined) this.#block(file, block.onError.body, null);
  }

  #loop(file: CheckedFile, loop: Loop, around: ErrorHandler | null): void {
    if (loop.e - loop.s > LONGEST || this.#left <= 0) return;
    const pass = new Pass(loop, around);
    this.#left -= pass.copied;
    for (const [name, { s, e, handler }] of pass.kept()) {
      const readAfter = this.#isReadAfter(file, loop, name);
      const known = handler === null ? readAfter || this.#isSetOutside(file, loop, name) : this.#reported.has(handler);
      if (known || this.#found.has(s)) continue;
      this.#found.add(s);
      if (handler !== null) this.#reported.add(handler);
      const why =
        handler === null
          ? 'not every way through the loop sets it'
          : 'the statement that sets it may fail, and the handler of its block goes on';
      const { fix, edits } = this.#mended(file, loop, name, handler, pass.strict.has(name) || readAfter);
      this.#report(
        file,
        lint('LINT_KEPT_VALUE', { s, e }, `\`${name}\` may have the value of the pass before: ${why}`, fix, edits),
      );
    }
  }

  /** `strict`: the program needs a value where the variable would be nil. */
  #mended(file: CheckedFile, loop: Loop, name: string, handler: ErrorHandler | null, strict: boolean): Mended {
    if (handler !== null && loop.s < handler.s && handler.e <= loop.e) return leaving(file, handler.body, loop.k);
    if (!strict)
      return {
        fix: `set it at the beginning of the loop: \`set ${name} = nil\``,
        edits: beginning(file, loop.body, name),
      };
    const fix =
      handler === null
        ? 'set it on the other ways too, such as in an `else`'
        : 'put a handler that ends with `continue` into the loop';
    return { fix, edits: [] };
  }

  /** Whether the first place behind the loop that names the variable reads it. */
  #isReadAfter(file: CheckedFile, loop: Loop, name: string): boolean {
    const after = (places: ReadonlyMap<string, readonly Place[]>): Place | undefined =>
      places.get(name)?.find((place) => (place.file === file ? place.s >= loop.e : this.#isLater(place.file, file)));
    const [read, write] = [after(this.#reads), after(this.#writes)];
    if (read === undefined || write === undefined) return read !== undefined;
    // `set x = x + 1` reads first.
    return read.file === write.file ? read.s < write.statement.e : this.#isLater(write.file, read.file);
  }

  #isLater(file: CheckedFile, than: CheckedFile): boolean {
    const files = this.#unit.parts.map((part) => part.file);
    return files.indexOf(file) > files.indexOf(than);
  }

  #isSetOutside(file: CheckedFile, loop: Loop, name: string): boolean {
    if (this.#unit.parameters.some((parameter) => parameter.name === name)) return true;
    return (this.#writes.get(name) ?? []).some((place) => place.file !== file || place.s < loop.s || place.s >= loop.e);
  }
}

/** `set x = nil` above the first statement of a loop. */
function beginning({ text }: CheckedFile, { stmts: [first] }: Block, name: string): readonly RawEdit[] {
  if (first === undefined) return [];
  const indent = text.slice(text.lastIndexOf('\n', first.s) + 1, first.s);
  return indent.trim() === '' ? [{ s: first.s, e: first.s, text: `set ${name} = nil\n${indent}` }] : [];
}

/** The handler that clears an error of a block and lets the program go on behind the statement that failed; null without one. */
function handlerOf({ onError }: Block, around: ErrorHandler | null): ErrorHandler | null {
  if (onError === undefined) return around;
  return goesOn(onError) ? onError : null;
}

/** What is known of the variables at one place of a pass. */
class State {
  /** Those that are set on every way to this place. */
  readonly set: Set<string>;
  /** Those that are set on some way, each with the handler behind which it may not be. */
  readonly may: Map<string, ErrorHandler | null>;

  constructor(set: Iterable<string>, may: Iterable<readonly [string, ErrorHandler | null]>) {
    this.set = new Set(set);
    this.may = new Map(may);
  }

  /** Becomes what is known where these ways meet. */
  meet(ways: readonly State[]): void {
    const [first, ...others] = ways;
    this.set.clear();
    for (const name of first?.set ?? []) if (others.every(({ set }) => set.has(name))) this.set.add(name);
    for (const { may } of ways) for (const [name, handler] of may) if (!this.may.has(name)) this.may.set(name, handler);
  }
}

interface Kept extends Span {
  readonly handler: ErrorHandler | null;
}

/** One pass of a loop, statement by statement. */
class Pass {
  readonly #kept = new Map<string, Kept>();
  /** Variables that are meant to keep their value: they are read where nothing of the pass has set them, or before it sets them again. */
  readonly #carried = new Set<string>();
  /** What is known at each `break` of the loops around a statement. */
  readonly #breaks: State[][] = [];
  readonly #sets = new Map<ErrorHandler, ReadonlySet<string>>();
  /** Variables that are read, where the pass may not have set them, by what cannot take nil. */
  readonly strict = new Set<string>();
  /** The number of variables that were copied. */
  copied = 0;

  constructor(loop: Loop, around: ErrorHandler | null) {
    const state = new State([], []);
    if (loop.k === 'while') this.#reads(loop.cond, state, true);
    this.#body(loop, state, around);
  }

  /** The first read of each variable that may have the value of the pass before. */
  kept(): readonly (readonly [name: string, kept: Kept])[] {
    return [...this.#kept].filter(([name]) => !this.#carried.has(name));
  }

  /** Returns whether the program never goes on behind the block. */
  #block(block: Block, state: State, around: ErrorHandler | null): boolean {
    const handler = handlerOf(block, around);
    return block.stmts.some((stmt) => this.#statement(stmt, state, handler));
  }

  #body(loop: Loop, state: State, around: ErrorHandler | null): void {
    if (loop.k === 'for') for (const name of setBy(loop)) state.set.add(name);
    this.#breaks.push([]);
    const ended = this.#block(loop.body, state, around);
    const breaks = this.#breaks.pop() ?? [];
    state.meet(ended ? breaks : [...breaks, this.#copy(state)]);
  }

  /** Returns whether the program never goes on behind the statement. */
  #statement(stmt: Stmt, state: State, handler: ErrorHandler | null): boolean {
    for (const expr of expressionsOf(stmt)) this.#reads(expr, state, TAKES_NIL.has(stmt.k));
    for (const { name, steps } of targetsOf(stmt)) {
      if (steps.length > 0) this.#read(name.name, name, state, false);
      else this.#write(name.name, stmt, state, handler);
    }
    switch (stmt.k) {
      case 'if': {
        const [then, otherwise] = [this.#copy(state), this.#copy(state)];
        const ends = [
          this.#block(stmt.then, then, handler),
          stmt.else !== undefined && this.#block(stmt.else, otherwise, handler),
        ];
        const ways = [then, otherwise].filter((_, index) => ends[index] !== true);
        state.meet(ways);
        return ways.length === 0;
      }
      case 'for': {
        const inner = this.#copy(state);
        this.#body(stmt, inner, handler);
        state.meet([this.#copy(state), inner]);
        return false;
      }
      case 'while':
        // Most have a first pass.
        this.#body(stmt, state, handler);
        return false;
      case 'together':
        return this.#block(stmt.body, state, handler);
      case 'break':
        this.#breaks.at(-1)?.push(this.#copy(state));
        return true;
      case 'continue':
      case 'return':
        return true;
      case 'fail':
        return handler === null;
      default:
        return false;
    }
  }

  #copy({ set, may }: State): State {
    this.copied += set.size + may.size + 1;
    return new State(set, may);
  }

  #write(name: string, stmt: Stmt, state: State, handler: ErrorHandler | null): void {
    // No line of a user is left: then the program has nothing to go on with.
    const lost =
      handler !== null && stmt.k !== 'promptuser' && statementCanFail(stmt, NO_GLOBALS) && !this.#setsIn(handler).has(name);
    // What is set behind a read is for the next pass, unless it is a call's result under the same name.
    const kept = this.#kept.get(name);
    if (kept !== undefined && (kept.handler === null || !lost)) this.#carried.add(name);
    state.may.set(name, lost ? handler : null);
    if (!lost) state.set.add(name);
  }

  /** `nil`: whether nil does as the value of the expression. */
  #reads(expr: Expr, state: State, nil: boolean): void {
    eachRead(expr, nil, (read, takes) => this.#read(read.name, read, state, takes));
  }

  #read(name: string, { s, e }: Span, { set, may }: State, nil: boolean): void {
    if (set.has(name)) return;
    if (!nil) this.strict.add(name);
    const handler = may.get(name);
    if (handler === undefined) this.#carried.add(name);
    else if (!this.#kept.has(name)) this.#kept.set(name, { s, e, handler });
  }

  /** The variables that a handler sets. */
  #setsIn(handler: ErrorHandler): ReadonlySet<string> {
    const names = this.#sets.get(handler) ?? new Set(targetsIn(handler));
    this.#sets.set(handler, names);
    return names;
  }
}

function targetsIn({ body }: ErrorHandler): readonly string[] {
  const names: string[] = [];
  eachStatement(body, (stmt) => names.push(...targetsOf(stmt).map(({ name }) => name.name)));
  return names;
}
