/**
 * Where the arguments of calls come from: follows a program without values, with the sources of every variable. What is assigned under a
 * condition has the sources of the condition, and so has what such code may have left unset.
 */
import type { Block, EventHandler, Procedure, SourceFile, Stmt, Target } from '../syntax/ast.ts';
import type { AccessStep, Expr } from '../syntax/astexpressions.ts';
import { builtinNamed, ERROR_VARIABLES } from '../vocabulary/builtins.ts';
import type { CallNode } from './calls.ts';
import {
  type CallOrigins,
  keyOf,
  listOf,
  othersOf,
  Scope,
  type SourceNode,
  sumOf,
  type ToolKinds,
  TooMany,
  textOf,
  USERDATA,
} from './scope.ts';
import {
  allOf,
  CLEAN,
  extended,
  isCovered,
  joined,
  meeting,
  ofParts,
  partAt,
  type Sources,
  type Taint,
  type Variables,
} from './taint.ts';

/** Most steps for one program. Beyond it nothing is known of its calls. */
const MOST_STEPS = 200_000;
/** Most repetitions of a loop until nothing new comes in. Each adds a source to some variable. */
const MOST_PASSES = 200;

export class Origins {
  readonly sources: SourceNode[] = [];
  readonly calls = new Map<CallNode, CallOrigins>();
  readonly #kinds: ToolKinds;
  readonly #procedures = new Map<string, { readonly procedure: Procedure; readonly file: SourceFile }>();
  readonly #numbers = new Map<string | CallNode, Sources>();
  /** Results of procedures by their arguments. */
  readonly #results = new Map<string, Taint>();
  readonly #following = new Set<Procedure>();
  #file: SourceFile;
  /** Sources that decide whether the current place is reached. */
  #control: Sources = 0n;
  /** Sources that decided on an end after which the rest is not reached: of the run, of the procedure, of the pass of a loop. */
  #exits = { failed: 0n, all: 0n, loop: 0n };
  /** All sources so far. */
  #seen: Sources = 0n;
  #returned: Taint = CLEAN;
  /** Blocks around the current place whose errors are handled, and the sources since the outermost of their statements began. */
  #guards = 0;
  #since: Sources = 0n;
  #steps = 0;

  constructor(files: readonly SourceFile[], kinds: ToolKinds) {
    this.#kinds = kinds;
    const [first] = files;
    if (first === undefined) throw new TooMany();
    this.#file = first;
    for (const file of files)
      for (const procedure of file.procedures) this.#procedures.set(procedure.name.name, { procedure, file });
    let variables: Variables = new Map();
    for (const file of files) {
      this.#file = file;
      for (const { body } of file.commands) variables = this.#block(body, variables);
    }
    for (const file of files) {
      this.#file = file;
      for (const event of file.events) this.#event(event);
      // The host may call a procedure, with values that are its own.
      for (const procedure of file.procedures) this.#procedure(procedure, file, []);
    }
  }

  #event({ event, as, body }: EventHandler): void {
    const name = event.k === 'str' ? event.v : '*';
    const taint = { own: this.#source(`event ${name}`, event) };
    this.#fresh(() => this.#block(body, as === undefined ? new Map() : new Map([[as.name, taint]])));
  }

  /** Follows something that begins without conditions. */
  #fresh(follow: () => void): void {
    const before = { control: this.#control, exits: this.#exits };
    this.#control = 0n;
    this.#exits = { failed: 0n, all: 0n, loop: 0n };
    follow();
    this.#control = before.control;
    this.#exits = before.exits;
  }

  /** The set of one source. A source of the same text at another place is another one. */
  #source(from: string, node: CallNode, key: string | CallNode = node): Sources {
    let bit = this.#numbers.get(key);
    if (bit === undefined) {
      bit = 1n << BigInt(this.sources.push({ from, file: this.#file, node }) - 1);
      this.#numbers.set(key, bit);
    }
    this.#seen |= bit;
    this.#since |= bit;
    return bit;
  }

  get #here(): Sources {
    const { failed, all, loop } = this.#exits;
    // Where errors are handled, a place is reached because nothing before it failed.
    return this.#control | failed | all | loop | (this.#guards > 0 ? this.#since : 0n);
  }

  #step(): void {
    if (++this.#steps > MOST_STEPS) throw new TooMany();
  }

  #block({ stmts, onError }: Block, start: Variables): Variables {
    if (onError === undefined) return this.#statements(stmts, start);
    // After the handler, the statement after the one that failed is next.
    let handled: Variables = new Map();
    for (let pass = 0; pass < MOST_PASSES; pass++) {
      let between = start;
      if (++this.#guards === 1) this.#since = 0n;
      const end = this.#statements(stmts, start, (at) => {
        const after = pass === 0 ? at : meeting(at, handled);
        between = meeting(between, after);
        if (this.#guards === 1) this.#since = 0n;
        return after;
      });
      this.#guards--;
      // Any statement may have failed, for a reason that has any source so far.
      const caught = new Map(between);
      for (const name of ERROR_VARIABLES) caught.set(name, { own: this.#seen });
      const next = this.#under(this.#seen, () => this.#block(onError.body, caught));
      if (pass > 0 && isCovered(next, handled)) return end;
      handled = meeting(handled, next);
    }
    throw new TooMany();
  }

  /** `each` gets the variables after each statement, and returns those with which the next one begins. */
  #statements(stmts: readonly Stmt[], start: Variables, each: (at: Variables) => Variables = (at) => at): Variables {
    let here = start;
    for (const stmt of stmts) {
      this.#step();
      here = each(this.#statement(stmt, here));
    }
    return here;
  }

  #under<T>(sources: Sources, follow: () => T): T {
    const before = this.#control;
    this.#control |= sources;
    const result = follow();
    this.#control = before;
    return result;
  }

  #statement(stmt: Stmt, before: Variables): Variables {
    const scope = new Scope(before);
    switch (stmt.k) {
      case 'set': {
        const value = this.#value(stmt.value, scope);
        const [only, ...others] = stmt.targets;
        if (only !== undefined && others.length === 0) this.#store(only, value, scope);
        else for (const [index, target] of stmt.targets.entries()) this.#store(target, partAt(value, `${index}`), scope);
        return scope.variables;
      }
      case 'if': {
        const condition = allOf(this.#value(stmt.cond, scope));
        return this.#under(condition, () => {
          const then = this.#block(stmt.then, scope.variables);
          const other = stmt.else === undefined ? scope.variables : this.#block(stmt.else, scope.variables);
          return meeting(then, other);
        });
      }
      case 'while':
        return this.#loop(before, (at) => {
          const pass = new Scope(at);
          const condition = allOf(this.#value(stmt.cond, pass));
          return this.#under(condition, () => this.#block(stmt.body, pass.variables));
        });
      case 'for': {
        const over = this.#value(stmt.over, scope);
        const count = over.parts === undefined ? allOf(over) : over.own;
        const item = [...(over.parts?.values() ?? [])].reduce(joined, { own: count });
        return this.#loop(scope.variables, (at) =>
          this.#under(count, () => {
            const pass = new Map(at).set(stmt.item.name, extended(item, this.#here));
            if (stmt.key !== undefined) pass.set(stmt.key.name, { own: count | this.#here });
            return this.#block(stmt.body, pass);
          }),
        );
      }
      case 'together':
        return this.#block(stmt.body, before);
      case 'break':
      case 'continue':
        this.#exits = { ...this.#exits, loop: this.#here };
        return before;
      case 'return': {
        const values = stmt.values.map((value) => this.#value(value, scope));
        const value = values.length > 1 ? listOf(values) : (values[0] ?? CLEAN);
        this.#returned = joined(this.#returned, extended(value, this.#here));
        this.#exits = { ...this.#exits, all: this.#here };
        return scope.variables;
      }
      case 'fail':
      case 'must': {
        const condition = stmt.k === 'must' ? stmt.cond : stmt.value;
        const decides = condition === undefined ? 0n : allOf(this.#value(condition, scope));
        this.#exits = { ...this.#exits, failed: this.#here | (stmt.k === 'must' ? decides : 0n) };
        return scope.variables;
      }
      case 'ask': {
        const args = [stmt.model, stmt.prompt, ...(stmt.with === undefined ? [] : [stmt.with])];
        const answer = this.#called('ask', stmt, args, scope);
        if (stmt.into !== undefined) this.#store(stmt.into, answer, scope);
        return scope.variables;
      }
      case 'promptuser':
        this.#called('promptuser', stmt, [stmt.prompt], scope);
        // A person answers.
        this.#store(stmt.into, CLEAN, scope);
        return scope.variables;
      default:
        for (const expr of othersOf(stmt)) scope.last = this.#value(expr, scope);
        return scope.variables;
    }
  }

  /** Follows a loop until another pass brings nothing new. */
  #loop(start: Variables, pass: (at: Variables) => Variables): Variables {
    const outer = this.#exits.loop;
    let here = start;
    for (let count = 0; count < MOST_PASSES; count++) {
      const exits = this.#exits;
      const next = meeting(here, pass(here));
      const isSettled = isCovered(next, here) && sumOf(exits) === sumOf(this.#exits);
      here = next;
      if (!isSettled) continue;
      this.#exits = { ...this.#exits, loop: outer };
      return here;
    }
    throw new TooMany();
  }

  #store({ name, steps }: Target, given: Taint, scope: Scope): void {
    const value = extended(given, this.#here);
    const [step, ...deeper] = steps;
    if (step === undefined) {
      scope.set(name.name, value);
      return;
    }
    const base = scope.get(name.name);
    const key = deeper.length === 0 ? keyOf(step) : null;
    let own = base.own | this.#here;
    for (const each of steps) if (each.k === 'index') own |= allOf(this.#value(each.index, scope));
    const isApart = key !== null && (base.parts !== undefined || base.own === 0n);
    scope.set(name.name, isApart ? ofParts(new Map(base.parts).set(key, value), own) : { own: own | allOf(base) | allOf(value) });
  }

  #value(expr: Expr, scope: Scope): Taint {
    this.#step();
    const taint = this.#valueOf(expr, scope);
    this.#since |= allOf(taint);
    return taint;
  }

  #valueOf(expr: Expr, scope: Scope): Taint {
    switch (expr.k) {
      case 'name':
        return scope.has(expr.name) || expr.name !== USERDATA ? scope.get(expr.name) : this.#userdata(expr, []);
      case 'last':
        return { own: this.#seen };
      case 'list':
        return listOf(expr.items.map((item) => this.#value(item, scope)));
      case 'map': {
        let own = 0n;
        const parts = new Map<string, Taint>();
        for (const [key, value] of expr.entries) {
          const taint = this.#value(value, scope);
          own |= allOf(this.#value(key, scope));
          if (key.k === 'str') parts.set(key.v, taint);
          else own |= allOf(taint);
        }
        return ofParts(parts, own);
      }
      case 'group':
        return this.#value(expr.of, scope);
      case 'access':
        return this.#access(expr.base, expr.steps, scope);
      case 'call':
        return this.#call(expr.name.name, expr.args, scope);
      case 'tool': {
        if (this.#kinds.pure.has(expr.name)) return { own: this.#all(expr.args, scope) };
        return this.#called(expr.name, expr, expr.args, scope);
      }
      case 'binary': {
        let own = allOf(this.#value(expr.first, scope));
        // What stands on the right of `and` and `or` may not be reached.
        for (const { right } of expr.rest) own |= allOf(this.#under(own, () => this.#value(right, scope)));
        return { own };
      }
      case 'template':
        return {
          own: this.#all(
            expr.parts.filter((part) => typeof part !== 'string'),
            scope,
          ),
        };
      case 'text':
      case 'unary':
        return { own: allOf(this.#value(expr.of, scope)) };
      case 'eval':
        // The text may name any variable.
        return { own: allOf(this.#value(expr.of, scope)) | (expr.of.k === 'str' && !expr.of.v.includes('{{') ? 0n : scope.all) };
      case 'power':
        return { own: this.#all([expr.base, expr.exponent], scope) };
      default:
        return CLEAN;
    }
  }

  #all(exprs: readonly Expr[], scope: Scope): Sources {
    return exprs.reduce((all, expr) => all | allOf(this.#value(expr, scope)), 0n);
  }

  #access(base: Expr, steps: readonly AccessStep[], scope: Scope): Taint {
    let value: Taint;
    let left = steps;
    if (base.k === 'name' && base.name === USERDATA && !scope.has(USERDATA)) {
      const path: string[] = [];
      for (const step of steps) {
        const key = keyOf(step);
        if (key === null) break;
        path.push(key);
      }
      value = this.#userdata(base, path);
      left = steps.slice(path.length);
    } else value = this.#value(base, scope);
    for (const step of left) {
      const index = step.k === 'index' ? allOf(this.#value(step.index, scope)) : 0n;
      value = extended(partAt(value, keyOf(step)), index);
    }
    return value;
  }

  #userdata(node: Expr, path: readonly string[]): Taint {
    const from = ['userdata', ...path].join('.');
    return { own: this.#source(from, node, from) };
  }

  /** A call of the host. The result may have whatever was passed. */
  #called(name: string, node: CallNode, exprs: readonly Expr[], scope: Scope): Taint {
    const args = exprs.map((expr) => allOf(this.#value(expr, scope)));
    const known = this.calls.get(node);
    const deciding = this.#here | (this.#guards > 0 ? this.#seen : 0n) | (known?.deciding ?? 0n);
    this.calls.set(node, { args: args.map((arg, index) => arg | (known?.args[index] ?? 0n)), deciding });
    const own = args.reduce((all, arg) => all | arg, this.#source(name, node));
    if (!this.#kinds.keeping.has(name)) scope.spread(own);
    return { own };
  }

  #call(name: string, exprs: readonly Expr[], scope: Scope): Taint {
    const args = exprs.map((expr) => this.#value(expr, scope));
    const defined = builtinNamed(name) === undefined ? this.#procedures.get(name) : undefined;
    if (defined === undefined) return { own: args.reduce((all, arg) => all | allOf(arg), 0n) };
    return this.#procedure(defined.procedure, defined.file, args);
  }

  #procedure(procedure: Procedure, file: SourceFile, args: readonly Taint[]): Taint {
    const all = args.reduce((sum, arg) => sum | allOf(arg), this.#here);
    if (this.#following.has(procedure)) return { own: all | this.#seen };
    const key = `${file.name} ${procedure.name.s} ${this.#here} ${this.#guards > 0 ? this.#seen : ''} ${args.map(textOf).join()}`;
    const known = this.#results.get(key);
    if (known !== undefined) return known;
    const parameters = [...procedure.needs, ...procedure.optional];
    const caller = { file: this.#file, control: this.#control, exits: this.#exits, returned: this.#returned };
    this.#following.add(procedure);
    this.#control = this.#here;
    this.#exits = { ...this.#exits, all: 0n, loop: 0n };
    this.#returned = CLEAN;
    this.#file = file;
    this.#block(procedure.body, new Map(parameters.map(({ name }, index) => [name, args[index] ?? CLEAN])));
    const result = this.#returned;
    this.#following.delete(procedure);
    this.#file = caller.file;
    this.#control = caller.control;
    this.#exits = { ...caller.exits, failed: this.#exits.failed };
    this.#returned = caller.returned;
    this.#results.set(key, result);
    return result;
  }
}
