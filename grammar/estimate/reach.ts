/** All calls that a part of a program can reach, without following it. Used for parts that are too large or recursive. */
import type { Block, Procedure, SourceFile, Stmt } from '../syntax/ast.ts';
import type { Expr } from '../syntax/astexpressions.ts';
import { bodiesOf, eachExpression, eachStatement, expressionsOf } from '../syntax/walk.ts';
import { builtinNamed } from '../vocabulary/builtins.ts';
import type { CallNode, CallTable } from './calls.ts';
import { Tally } from './tally.ts';
import { literal } from './values.ts';

export interface Defined {
  readonly procedure: Procedure;
  readonly file: SourceFile;
}

/** The calls of the host and of procedures in one body. */
interface Direct {
  readonly sites: readonly { readonly name: string; readonly node: CallNode; readonly args: readonly Expr[] | null }[];
  readonly procedures: ReadonlySet<string>;
}

/** Most bodies that are visited in all. Afterwards every answer is the whole program. */
const MOST_VISITS = 20_000;

export class Reach {
  readonly #files: readonly SourceFile[];
  readonly #procedures: ReadonlyMap<string, Defined>;
  readonly #pure: ReadonlySet<string>;
  readonly #calls: CallTable;
  readonly #direct = new Map<Block, Direct>();
  readonly #from = new Map<Block, Tally>();
  #everything: Tally | undefined;
  #visits = 0;

  constructor(
    files: readonly SourceFile[],
    procedures: ReadonlyMap<string, Defined>,
    pure: ReadonlySet<string>,
    calls: CallTable,
  ) {
    this.#files = files;
    this.#procedures = procedures;
    this.#pure = pure;
    this.#calls = calls;
  }

  /** Every call that the whole program has, any number of times. */
  get everything(): Tally {
    if (this.#everything === undefined) {
      let tally = Tally.none;
      for (const file of this.#files) {
        for (const body of bodiesOf(file)) tally = tally.plus(this.#sites(body, file));
        for (const { event } of file.events) tally = tally.plus(this.#rows(directOf([], [event], this.#pure), file));
      }
      this.#everything = tally;
    }
    return this.#everything;
  }

  /** Every call that a procedure and those it calls have, any number of times. */
  of({ procedure, file }: Defined): Tally {
    const known = this.#from.get(procedure.body);
    if (known !== undefined) return known;
    const seen = new Map<Block, SourceFile>([[procedure.body, file]]);
    let tally = Tally.none;
    for (const [body, own] of seen) {
      if (++this.#visits > MOST_VISITS) return this.everything;
      tally = tally.or(this.#sites(body, own));
      for (const name of this.#directOf(body).procedures) {
        const called = this.#procedures.get(name);
        if (called !== undefined) seen.set(called.procedure.body, called.file);
      }
    }
    this.#from.set(procedure.body, tally);
    return tally;
  }

  /** All procedures, each after those that it calls, unless they call each other. */
  calleesFirst(): readonly Defined[] {
    const waiting = this.#files.flatMap((file) => file.procedures.map((procedure) => ({ procedure, file }))).reverse();
    const begun = new Set<Procedure>();
    const ended = new Map<Procedure, Defined>();
    for (let next = waiting.at(-1); next !== undefined; next = waiting.at(-1)) {
      if (begun.has(next.procedure)) {
        ended.set(next.procedure, next);
        waiting.pop();
        continue;
      }
      begun.add(next.procedure);
      for (const name of this.#directOf(next.procedure.body).procedures) {
        const called = this.#procedures.get(name);
        if (called !== undefined && !begun.has(called.procedure)) waiting.push(called);
      }
    }
    return [...ended.values()];
  }

  #sites(body: Block, file: SourceFile): Tally {
    return this.#rows(this.#directOf(body), file);
  }

  #rows({ sites }: Direct, file: SourceFile): Tally {
    let tally = Tally.none;
    for (const { name, node, args } of sites) {
      const row = this.#calls.row({ name, node, file, args: args?.map(literal) ?? null }, null);
      tally = tally.or(Tally.of(row, Number.POSITIVE_INFINITY));
    }
    return tally;
  }

  #directOf(body: Block): Direct {
    let known = this.#direct.get(body);
    if (known === undefined) {
      const statements: Stmt[] = [];
      eachStatement(body, (stmt) => statements.push(stmt));
      known = directOf(statements, [], this.#pure);
      this.#direct.set(body, known);
    }
    return known;
  }
}

function directOf(statements: readonly Stmt[], expressions: readonly Expr[], pure: ReadonlySet<string>): Direct {
  const sites: Direct['sites'][number][] = [];
  const procedures = new Set<string>();
  const visit = (expr: Expr): void => {
    if (expr.k === 'tool' && !pure.has(expr.name)) sites.push({ name: expr.name, node: expr, args: expr.args });
    if (expr.k === 'call' && builtinNamed(expr.name.name) === undefined) procedures.add(expr.name.name);
  };
  for (const stmt of statements) {
    if (stmt.k === 'ask') sites.push({ name: 'ask', node: stmt, args: null });
    if (stmt.k === 'promptuser') sites.push({ name: 'promptuser', node: stmt, args: null });
    for (const root of expressionsOf(stmt)) eachExpression(root, visit);
  }
  for (const root of expressions) eachExpression(root, visit);
  return { sites, procedures };
}
