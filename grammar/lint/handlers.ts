/** Handlers that clear an error although the rest of their block must not run after it. */
import type { Block, ErrorHandler, Procedure, Stmt } from '../syntax/ast.ts';
import type { Expr } from '../syntax/astexpressions.ts';
import { constantTruth } from '../syntax/certainty.ts';
import { allIn, allOf, blocksOf, eachStatement, expressionsOf, namesIn, setBy } from '../syntax/walk.ts';
import { builtinNamed } from '../vocabulary/builtins.ts';
import { type CheckedFile, type Environment, lint, type RawEdit, type Report } from './finding.ts';
import { eachRead, TAKES_NIL } from './nil.ts';
import { proceduresOf } from './scopes.ts';

/** Checks the handlers of all files. Returns those that have a finding. */
export function checkHandlers(files: readonly CheckedFile[], environment: Environment, report: Report): Set<ErrorHandler> {
  const procedures = new Map([...(environment.procedures ?? []), ...proceduresOf(files)]);
  const found = new Set<ErrorHandler>();
  for (const file of files) {
    const { procedures: own, events, commands } = file.file;
    for (const { body, needs, optional } of own)
      new HandlerChecker(
        file,
        body,
        [...needs, ...optional].map(({ name }) => name),
        procedures,
        found,
        report,
      ).check();
    for (const { body } of [...events, ...commands]) new HandlerChecker(file, body, [], procedures, found, report).check();
  }
  return found;
}

const LEAVES: ReadonlySet<Stmt['k']> = new Set(['continue', 'break', 'fail', 'return']);

/** Whether a handler clears its error and comes to its end. */
export function goesOn({ body }: ErrorHandler): boolean {
  return body.stmts.some(({ k }) => k === 'clear_error') && !leaves(body);
}

function leaves({ stmts }: Block): boolean {
  return stmts.some(({ k }) => LEAVES.has(k));
}

type Loop = 'for' | 'while' | null;

class HandlerChecker {
  readonly #file: CheckedFile;
  readonly #body: Block;
  readonly #procedures: ReadonlyMap<string, readonly Procedure[]>;
  readonly #found: Set<ErrorHandler>;
  readonly #report: Report;
  /** Where each variable is set first. */
  readonly #first = new Map<string, number>();
  /** Variables that decide how long a loop runs. */
  readonly #steps = new Set<string>();
  readonly #refusing = new Map<string, boolean>();

  constructor(
    file: CheckedFile,
    body: Block,
    parameters: readonly string[],
    procedures: ReadonlyMap<string, readonly Procedure[]>,
    found: Set<ErrorHandler>,
    report: Report,
  ) {
    this.#file = file;
    this.#body = body;
    this.#procedures = procedures;
    this.#found = found;
    this.#report = report;
    for (const name of parameters) this.#first.set(name, -1);
    eachStatement(body, (stmt) => {
      for (const name of setBy(stmt)) this.#first.set(name, Math.min(stmt.s, this.#first.get(name) ?? stmt.s));
      if (stmt.k === 'while') for (const name of namesIn(allIn(stmt.cond))) this.#steps.add(name);
    });
  }

  check(): void {
    this.#block(this.#body, null);
  }

  #block(block: Block, loop: Loop): void {
    const { onError } = block;
    if (onError !== undefined && goesOn(onError)) {
      const flags = new Set<string>();
      eachStatement(onError.body, (stmt) => {
        for (const name of setBy(stmt)) flags.add(name);
      });
      const guard = this.#guardIn(block, new After(null, false), { flags, from: onError.s }, loop !== null);
      if (guard !== undefined) {
        this.#found.add(onError);
        this.#report(this.#file, finding(this.#file, guard, onError, loop));
      }
    }
    if (onError !== undefined) this.#block(onError.body, null);
    for (const stmt of block.stmts)
      for (const inner of blocksOf(stmt)) this.#block(inner, stmt.k === 'for' || stmt.k === 'while' ? stmt.k : loop);
  }

  /**
   * The first statement that is there to stop what follows it: a `must`, a `fail`, a call before another one or before its success is
   * reported, or a call whose result is needed. What follows a nested block follows its statements. Blocks with a handler of their own are
   * left out, and so is what a variable of the handler decides.
   */
  #guardIn(block: Block, outer: After, handler: Handler, inLoop: boolean): Stmt | undefined {
    let found: Stmt | undefined;
    let after = outer;
    // From the end to the beginning, so that each statement is looked at once.
    for (const stmt of block.stmts.toReversed()) {
      if (stmt.k === 'on_error') continue;
      if (this.#isToStop(stmt, after, handler, inLoop)) found = stmt;
      const loops = stmt.k === 'for' || stmt.k === 'while';
      for (const inner of blocksOf(stmt).toReversed())
        if (inner.onError === undefined) found = this.#guardIn(inner, new After(after, loops), handler, inLoop || loops) ?? found;
      if (stmt.k === 'if' && isAware(stmt, handler.flags) && blocksOf(stmt).some(leaves)) after = new After(null, false);
      else after.add(stmt, handler.flags);
    }
    return found;
  }

  #isToStop(stmt: Stmt, after: After, { flags, from }: Handler, inLoop: boolean): boolean {
    if (stmt.k === 'must' || stmt.k === 'fail') return after.any;
    if (stmt.k === 'call' && after.call) return true;
    const call = stmt.k === 'call' ? stmt.call : stmt.k === 'set' ? stmt.value : null;
    // A handler below a statement guards it too, but is rarely meant for it.
    if (call === null || stmt.s < from || !this.#refuses(call)) return false;
    const names = setBy(stmt);
    if (names.some((name) => flags.has(name) || (this.#first.get(name) ?? stmt.s) < stmt.s)) return false;
    const reads = names.map((name) => after.read(name));
    if (reads.every((read) => read === undefined)) return after.call || after.reports(call, this.#steps);
    // In a loop such a read is a LINT_KEPT_VALUE.
    return !inLoop && reads.includes('needed') && allIn(call).some(({ k }) => k === 'tool');
  }

  /** Whether an expression calls a tool, or a procedure that may refuse. */
  #refuses(expr: Expr): boolean {
    return allIn(expr).some(
      (each) =>
        each.k === 'tool' ||
        (each.k === 'call' && builtinNamed(each.name.name) === undefined && this.#isRefusing(each.name.name)),
    );
  }

  #isRefusing(name: string): boolean {
    const known = this.#refusing.get(name);
    if (known !== undefined) return known;
    let refusing = !this.#procedures.has(name);
    for (const { body } of this.#procedures.get(name) ?? [])
      eachStatement(body, (stmt) => {
        refusing ||= stmt.k === 'must' || stmt.k === 'fail' || stmt.k === 'ask';
        refusing ||= allOf(stmt).some(
          (expr) => expr.k === 'tool' || (expr.k === 'call' && builtinNamed(expr.name.name) === undefined),
        );
      });
    this.#refusing.set(name, refusing);
    return refusing;
  }
}

interface Handler {
  /** Variables that it sets. */
  readonly flags: ReadonlySet<string>;
  /** Where it begins. */
  readonly from: number;
}

interface Count {
  readonly target: string;
  readonly of: ReadonlySet<string>;
}

/** What follows a statement. */
class After {
  /** Any statement. */
  any: boolean;
  /** A call whose result nobody reads. */
  call: boolean;
  /** A text without variables, or a return of a value that is true. */
  #constant: boolean;
  readonly #outer: After | null;
  /** Variables that are emitted. */
  readonly #emitted = new Set<string>();
  readonly #counts: Count[] = [];
  /** How each variable is read first: where nil decides, or where it fails. */
  readonly #reads = new Map<string, 'decides' | 'needed' | 'other' | 'set'>();

  /** `always`: whether every pass of the inner block comes to what follows the outer statement. */
  constructor(outer: After | null, always: boolean) {
    this.#outer = outer;
    this.any = outer?.any ?? false;
    this.call = outer?.call ?? false;
    this.#constant = outer !== null && always ? outer.#constant : false;
  }

  /** Adds a statement in front. */
  add(stmt: Stmt, flags: ReadonlySet<string>): void {
    this.#read(stmt);
    if (stmt.k === 'call') this.call = true;
    if (stmt.k !== 'call' && isAware(stmt, flags)) return;
    this.any = true;
    this.#effects(stmt, flags);
  }

  #effects(stmt: Stmt, flags: ReadonlySet<string>): void {
    if (isAware(stmt, flags)) return;
    if (stmt.k === 'emit') {
      if (!allIn(stmt.value).some(({ k }) => VARYING.has(k))) this.#constant = true;
      for (const name of namesIn(allIn(stmt.value))) this.#emitted.add(name);
    } else if (stmt.k === 'return') this.#constant ||= stmt.values.some((value) => constantTruth(value) === true);
    else if (stmt.k === 'set')
      for (const target of setBy(stmt)) {
        const of = namesIn(allIn(stmt.value));
        if (of.delete(target)) this.#counts.push({ target, of });
      }
    for (const inner of blocksOf(stmt)) for (const each of inner.stmts) this.#effects(each, flags);
  }

  #read(stmt: Stmt): void {
    const reads = new Map<string, 'decides' | 'needed' | 'other' | 'set'>();
    const note = (each: Stmt): void => {
      const decides = each.k === 'if' || each.k === 'while' || each.k === 'must';
      for (const expr of expressionsOf(each))
        eachRead(expr, TAKES_NIL.has(each.k), ({ name }, nil) => {
          const how = decides ? 'decides' : nil ? 'other' : 'needed';
          if (!reads.has(name) || (reads.get(name) === 'other' && how !== 'other')) reads.set(name, how);
        });
      for (const name of setBy(each)) if (!reads.has(name)) reads.set(name, 'set');
      for (const inner of blocksOf(each)) for (const next of inner.stmts) note(next);
    };
    note(stmt);
    for (const [name, how] of reads) if (how !== 'other' || !this.#reads.has(name)) this.#reads.set(name, how);
  }

  /** How what follows reads a variable; undefined where it does not. */
  read(name: string): 'decides' | 'needed' | 'other' | undefined {
    const how = this.#reads.get(name) ?? this.#outer?.read(name);
    return how === 'set' ? undefined : how;
  }

  /** Whether what follows reports or counts a success of the call. */
  reports(call: Expr, steps: ReadonlySet<string>): boolean {
    return this.#constant || this.#tells(namesIn(allIn(call)), steps);
  }

  #outerTells(names: ReadonlySet<string>, steps: ReadonlySet<string>): boolean {
    const outer = this.#outer;
    return outer === null ? false : outer.#tells(names, steps);
  }

  #tells(names: ReadonlySet<string>, steps: ReadonlySet<string>): boolean {
    return (
      !names.isDisjointFrom(this.#emitted) ||
      this.#counts.some(
        ({ target, of }) => !steps.has(target) && !names.has(target) && (of.size === 0 || !of.isDisjointFrom(names)),
      ) ||
      this.#outerTells(names, steps)
    );
  }
}

/** Whether a statement itself looks at a variable that the handler sets. */
function isAware(stmt: Stmt, flags: ReadonlySet<string>): boolean {
  return flags.size > 0 && !namesIn(allOf(stmt)).isDisjointFrom(flags);
}

const VARYING: ReadonlySet<Expr['k']> = new Set(['name', 'call', 'tool', 'last', 'eval']);

function finding(file: CheckedFile, guard: Stmt, { body }: ErrorHandler, loop: Loop) {
  const what = guard.k === 'call' || guard.k === 'set' ? 'this call' : `this \`${guard.k}\``;
  const message = `when ${what} fails, what follows it runs nevertheless: the handler of its block clears the error and goes on`;
  const { fix, edits } = leaving(file, body, loop);
  return lint('LINT_GOES_ON', guard, message, fix, edits);
}

/** How a handler leaves the pass of its loop. In a `while` it may have to end the loop: the next pass may repeat the error. */
export function leaving(
  file: CheckedFile,
  handler: Block,
  loop: Loop,
): { readonly fix: string; readonly edits: readonly RawEdit[] } {
  if (loop === 'for') return { fix: 'end the handler with `continue`', edits: continuing(file, handler) };
  const fix =
    loop === 'while'
      ? 'end the handler with `break`, or with `continue` if the next pass does not repeat the error'
      : 'end the handler with `fail "why"`, or put what must not run into a block of its own';
  return { fix, edits: [] };
}

/** `continue` on a line of its own below the last statement of a handler. */
function continuing({ text }: CheckedFile, { stmts }: Block): readonly RawEdit[] {
  const last = stmts.at(-1);
  if (last === undefined) return [];
  const line = text.lastIndexOf('\n', last.s) + 1;
  const end = text.indexOf('\n', last.e);
  const indent = text.slice(line, last.s).trim() === '' ? text.slice(line, last.s) : '';
  return end < 0 ? [] : [{ s: end, e: end, text: `\n${indent}continue` }];
}
