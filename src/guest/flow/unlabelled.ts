import type { Block, Expr } from '../../../grammar/index.ts';
import { allOf, eachStatement, setBy } from '../../../grammar/syntax/walk.ts';
import { ERROR_VARIABLES } from '../../../grammar/vocabulary/builtins.ts';
import { type Body, COMPILERS, type CompileContext, compileUnit } from '../compile.ts';
import { type Compilers, Context, type Linkage, type Unlabelled } from '../context.ts';
import type { Machine } from '../machine.ts';
import { type Compiled, Procedure, type Source } from '../procedure.ts';
import { Scope } from '../scope.ts';
import type { Flow } from './flow.ts';
import type { Label } from './origins.ts';

/** What is to know of code to say whether labels may come up in it. */
interface Survey {
  /** Variables that it reads or sets. */
  readonly names: ReadonlySet<string>;
  /** Procedures that it calls, and tools. */
  readonly calls: ReadonlySet<string>;
  readonly tools: ReadonlySet<string>;
  /** Whether it asks somebody, or reads variables that its text does not name. */
  readonly asks: boolean;
}

/**
 * The form of a program that keeps no labels. Labels come in with the answers of calls, and with what a run is given. Code that makes no such
 * call, and that starts where nothing it can read carries a label, only makes values without labels. So it runs in this form, as fast as
 * without flow rules.
 */
export class UnlabelledForm implements Unlabelled, CompileContext, Linkage {
  readonly machine: Machine;
  readonly linkage: Linkage = this;
  readonly compilers: Compilers = { ...COMPILERS, together: null };
  readonly unlabelled = null;
  readonly #flow: Flow;
  readonly #program: CompileContext;
  readonly #forms = new Map<Procedure, Procedure | null>();
  readonly #surveys = new Map<Procedure, Survey>();
  /** What the program has paid for, in one of the forms: without and with checks of the evaluation depth. */
  readonly #paid = [new Set<Source>(), new Set<Source>()] as const;

  constructor(flow: Flow, program: CompileContext) {
    this.machine = program.machine;
    this.#flow = flow;
    this.#program = program;
  }

  procedure(name: string): Procedure | undefined {
    const labelled = this.#program.linkage.procedure(name);
    return labelled === undefined ? undefined : (this.of(labelled) ?? labelled);
  }

  similar(name: string): string | undefined {
    return this.#program.linkage.similar(name);
  }

  clearEvent(name: string): void {
    this.#program.linkage.clearEvent(name);
  }

  clearNamed(handler: string): void {
    this.#program.linkage.clearNamed(handler);
  }

  of(procedure: Procedure): Procedure | null {
    const known = this.#forms.get(procedure);
    if (known !== undefined) return known;
    const form = this.#isQuiet(this.#surveyed(procedure))
      ? new Procedure(procedure.source, (source, checked) => this.compile(this, source, checked))
      : null;
    this.#forms.set(procedure, form);
    return form;
  }

  /** What runs for the host: this form, if nothing carries a label. */
  forHost(procedure: Procedure, label: Label): Procedure | null {
    return label === 0 && this.#flow.isClear ? this.of(procedure) : null;
  }

  /** The form of the command blocks, whose first variables have these labels. */
  forCommands(bodies: readonly Body[], labels: readonly Label[]): CompileContext {
    const isClear = this.#flow.isClear && labels.every((label) => label === 0);
    return isClear && bodies.every(({ block }) => this.isQuiet(block)) ? this : this.#program;
  }

  isQuiet(block: Block): boolean {
    return this.#isQuiet(surveyOf(block));
  }

  /** Compiles one form of a procedure. The program pays for the first form only. */
  compile(run: CompileContext, source: Source, checked: boolean): Compiled {
    const paid = this.#paid[checked ? 1 : 0];
    if (paid.has(source)) return this.#unpaid(run.compilers, (compilers) => compileUnit({ ...run, compilers }, source, checked));
    paid.add(source);
    return compileUnit(run, source, checked);
  }

  slotsOf({ scope }: Context, block: Block): readonly number[] {
    return [...surveyOf(block).names].flatMap((name) => scope.find(name) ?? []);
  }

  within<T>(around: Context, hidden: readonly number[], compile: (context: Context) => T): () => T {
    const { kind, keepsLast, checked, file, machine, depth, loops, inHandler, top } = around;
    let made: { readonly compiled: T } | undefined;
    return () => {
      made ??= this.#unpaid(this.compilers, (compilers) => {
        const scope = new SameScope(around.scope, hidden);
        const context = new Context(machine, this, compilers, file, { kind, scope, keepsLast, checked });
        Object.assign(context, { depth, loops, inHandler, top, entering: false });
        return { compiled: compile(context) };
      });
      return made.compiled;
    };
  }

  /** Compiles without pay: what is counted starts anew with each expression. */
  #unpaid<T>(compilers: Compilers, compile: (compilers: Compilers) => T): T {
    const { machine } = this;
    const { compiled } = machine;
    const free = (part: Compilers['expr']) => (context: Context, expr: Expr) => {
      machine.compiled = 0;
      return part(context, expr);
    };
    machine.compiled = 0;
    const made = compile({ ...compilers, expr: free(compilers.expr), kept: free(compilers.kept) });
    machine.compiled = compiled;
    return made;
  }

  #surveyed(procedure: Procedure): Survey {
    const survey = this.#surveys.get(procedure) ?? surveyOf(procedure.source.block());
    this.#surveys.set(procedure, survey);
    return survey;
  }

  #isQuiet(survey: Survey): boolean {
    const reached = new Set<Survey>([survey]);
    for (const { names, calls, tools, asks } of reached) {
      if (asks || some(names, (name) => this.#flow.labelled.has(name)) || some(tools, (name) => !this.machine.pure.has(name)))
        return false;
      for (const name of calls) {
        const procedure = this.#program.linkage.procedure(name);
        if (procedure !== undefined) reached.add(this.#surveyed(procedure));
      }
    }
    return true;
  }
}

/** The variables of code that was compiled before in another form. */
class SameScope extends Scope {
  readonly #of: Scope;
  readonly #hidden: readonly number[];
  #next = 0;

  constructor(of: Scope, hidden: readonly number[]) {
    super();
    this.#of = of;
    this.#hidden = hidden;
  }

  override slot(name: string): number {
    return this.#of.slot(name);
  }

  override hidden(): number {
    return this.#hidden[this.#next++] ?? this.#of.hidden();
  }
}

function surveyOf(block: Block): Survey {
  const names = new Set(ERROR_VARIABLES);
  const calls = new Set<string>();
  const tools = new Set<string>();
  let asks = false;
  const look = (expr: Expr): void => {
    if (expr.k === 'name') names.add(expr.name);
    else if (expr.k === 'call') calls.add(expr.name.name);
    else if (expr.k === 'tool') tools.add(expr.name);
    else if (expr.k === 'eval') asks = true;
  };
  eachStatement(block, (stmt) => {
    for (const expr of allOf(stmt)) look(expr);
    for (const name of setBy(stmt)) names.add(name);
    asks ||= stmt.k === 'ask' || stmt.k === 'promptuser' || stmt.k === 'together' || (stmt.k === 'for' && stmt.together === true);
  });
  return { names, calls, tools, asks };
}

function some(names: ReadonlySet<string>, holds: (name: string) => boolean): boolean {
  for (const name of names) if (holds(name)) return true;
  return false;
}
