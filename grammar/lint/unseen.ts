/** Calls that are made for their result, which nothing looks at. */
import type { Block, CallStmt, Procedure, Stmt } from '../syntax/ast.ts';
import type { Expr } from '../syntax/astexpressions.ts';
import { allIn, allOf, blocksOf, eachStatement, expressionsOf } from '../syntax/walk.ts';
import { builtinNamed } from '../vocabulary/builtins.ts';
import { type CheckedFile, type Environment, lint, type RawEdit, type Report } from './finding.ts';
import { proceduresOf, type Unit, unitsOf } from './scopes.ts';

/** Tools whose result says whether they did what they were called for, with its form, by canonical name. */
const VERDICTS: ReadonlyMap<string, string> = new Map([
  ['tool.memory.cas', 'set done = …`, and `must done[0]'],
  ['tool.scratch.putcas', 'set done = …`, and `must done[0]'],
  ['tool.policy.allow', 'set allowed = …`, and `if` it'],
]);

/** Tools that return a changed copy of their first argument. */
const COPIES: ReadonlySet<string> = new Set([
  ...'append appendinplace prepend insert removeat reverse sort sortby unique flatten'
    .split(' ')
    .map((name) => `tool.list.${name}`),
  ...'set remove merge omit pick'.split(' ').map((name) => `tool.map.${name}`),
  ...'toupper tolower trimspace trim trimprefix trimsuffix replace'.split(' ').map((name) => `tool.str.${name}`),
]);

/** Whether a call returns a changed copy of a variable, which the call does not change. */
export function copiesVariable(call: CallStmt['call']): boolean {
  return call.k === 'tool' && COPIES.has(call.name) && call.args[0]?.k === 'name';
}

/** Procedures that call each other and are looked at for the effects of the first. */
const MOST_DEPTH = 20;

/** The tools whose result says whether they did what they were called for, by canonical name. */
export function answering({ tools = [] }: Environment): ReadonlySet<string> {
  return new Set([...VERDICTS.keys(), ...tools.flatMap(({ name, answers }) => (answers ? [name] : []))]);
}

export function checkUnseen(files: readonly CheckedFile[], environment: Environment, report: Report): void {
  const checker = new UnseenChecker(files, environment, report);
  for (const unit of unitsOf(files)) checker.unit(unit);
}

class UnseenChecker {
  readonly #report: Report;
  readonly #pure: ReadonlySet<string>;
  readonly #answers: ReadonlySet<string>;
  readonly #procedures: ReadonlyMap<string, readonly Procedure[]>;
  /** Whether a call of the procedure has no effect. One that calls itself is taken to have one. */
  readonly #effectless = new Map<string, boolean>();
  #depth = 0;

  constructor(files: readonly CheckedFile[], environment: Environment, report: Report) {
    this.#report = report;
    this.#pure = new Set((environment.tools ?? []).flatMap(({ name, pure }) => (pure ? [name] : [])));
    this.#answers = answering(environment);
    this.#procedures = new Map([...(environment.procedures ?? []), ...proceduresOf(files)]);
  }

  unit({ kind, parts }: Unit): void {
    if (parts.some(({ body }) => usesLast(body))) return;
    for (const { file, body } of parts) {
      // The value of the last statement is that of a procedure without `return`.
      const last = kind === 'procedure' ? body.stmts.findLast(({ k }) => k !== 'on_error') : undefined;
      this.#block(file, body, last, false);
    }
  }

  /** `guarded`: a handler takes the errors of the block. The calls may be made for their errors. */
  #block(file: CheckedFile, block: Block, last: Stmt | undefined, guarded: boolean): void {
    const inner = guarded || block.onError !== undefined;
    for (const stmt of block.stmts) {
      if (stmt === last) continue;
      if (stmt.k === 'call') this.#call(file, stmt, inner);
      for (const nested of blocksOf(stmt)) this.#block(file, nested, last, inner);
    }
    if (block.onError !== undefined) this.#block(file, block.onError.body, last, guarded);
  }

  #call(file: CheckedFile, stmt: CallStmt, guarded: boolean): void {
    const { call } = stmt;
    const written = call.k === 'tool' ? call.written : call.name.name;
    const verdict = call.k === 'tool' ? VERDICTS.get(call.name) : undefined;
    if (verdict !== undefined) {
      const message = `nothing looks at the result of \`${written}\`, which says whether it did what it was called for`;
      this.#report(file, lint('LINT_UNSEEN_RESULT', stmt, message, `write \`${verdict}\``));
    } else if (call.k === 'tool' && this.#answers.has(call.name)) {
      const message = `\`${written}\` returns true or false, and nothing looks at it`;
      const fix = `test it: \`if ${written}(…)\`, or \`must ${written}(…)\` where false is to stop what follows`;
      this.#report(file, lint('LINT_UNSEEN_RESULT', stmt, message, fix));
    } else if (!guarded && !this.#hasEffect(call)) {
      const message = `\`${written}\` only returns a result, and nothing looks at it`;
      const name = this.#changed(call);
      const fix = name === null ? 'write `set x = …`, or delete it' : `write \`set ${name} = …\`: it changes a copy`;
      const edits: RawEdit[] = name === null ? [] : [{ s: stmt.s, e: stmt.s + 'call'.length, text: `set ${name} =` }];
      this.#report(file, lint('LINT_UNSEEN_RESULT', stmt, message, fix, edits));
    }
  }

  /** The variable of which the call returns a changed copy; null where that is not certain. */
  #changed(call: CallStmt['call']): string | null {
    const [first] = call.args;
    if (first?.k !== 'name') return null;
    if (call.k === 'tool') return copiesVariable(call) ? first.name : null;
    const [procedure, ...others] = this.#procedures.get(call.name.name) ?? [];
    const end = procedure?.body.stmts.at(-1);
    const returned = end?.k === 'return' && end.values.length === 1 ? end.values[0] : undefined;
    const parameter = procedure?.needs[0]?.name;
    return others.length === 0 && returned?.k === 'name' && returned.name === parameter ? first.name : null;
  }

  #hasEffect(expr: Expr): boolean {
    return allIn(expr).some((inner) => {
      if (inner.k === 'tool') return !this.#pure.has(inner.name);
      return inner.k === 'call' && builtinNamed(inner.name.name) === undefined && !this.#isEffectless(inner.name.name);
    });
  }

  #isEffectless(name: string): boolean {
    const known = this.#effectless.get(name);
    if (known !== undefined || this.#depth === MOST_DEPTH) return known ?? false;
    const found = this.#procedures.get(name) ?? [];
    this.#effectless.set(name, false);
    this.#depth++;
    const effectless = found.length > 0 && found.every(({ body }) => this.#onlyReturns(body));
    this.#depth--;
    this.#effectless.set(name, effectless);
    return effectless;
  }

  /** Whether a body returns a value, and does nothing that anyone else sees. */
  #onlyReturns(body: Block): boolean {
    let [returns, silent] = [false, true];
    eachStatement(body, (stmt) => {
      returns ||= stmt.k === 'return' && stmt.values.length > 0;
      silent &&= SILENT.has(stmt.k) && !expressionsOf(stmt).some((expr) => this.#hasEffect(expr));
    });
    return returns && silent;
  }
}

/** Statements without an effect outside of their procedure. */
const SILENT: ReadonlySet<Stmt['k']> = new Set([
  'set',
  'return',
  'if',
  'for',
  'while',
  'break',
  'continue',
  'call',
  'on_error',
  'clear_error',
]);

function usesLast(body: Block): boolean {
  let found = false;
  eachStatement(body, (stmt) => {
    found ||= allOf(stmt).some(({ k }) => k === 'last');
  });
  return found;
}
