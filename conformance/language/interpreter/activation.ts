/** A running procedure, event handler or series of command blocks: its variables and its statements. */
import type { Block, CallExpr, Expr, SourceFile, Stmt, Target } from '../../../grammar/index.ts';
import { errorMap } from './codes.ts';
import { RESULT } from './effects.ts';
import { pairsOf, Writer } from './elements.ts';
import { Evaluator, levelsOf, operationsIn, type Scope } from './expressions.ts';
import { type Flow, type Guard, leavesLoop, NEXT, Offered } from './flows.ts';
import { Frame } from './frame.ts';
import { type Machine, placeIn, shared } from './machine.ts';
import { Failure, type Place, PRICE } from './meter.ts';
import { join, type Labels, NONE } from './parts.ts';
import { callsOf, costOf, expressionsOf, stepsOf } from './statements.ts';
import { Together } from './together.ts';
import type { Tools } from './tools.ts';
import { isTrue, List, typeName, type Value } from './values.ts';

/** What all activations of a run share. */
export interface World {
  readonly machine: Machine;
  /** Values that no program can change. */
  readonly globals: ReadonlyMap<string, Value>;
  /** Values that variables of the same name hide. */
  readonly constants: ReadonlyMap<string, Value>;
  readonly tools: Tools;
  /** Lines for `promptuser`, or null without standard input. */
  readonly stdin: string[] | null;
  call(expr: CallExpr, args: readonly Value[], labels: readonly Labels[], depth: number, at: Place): Value;
  emit(value: Value, at: Place): Value;
  whisper(to: Value, value: Value, label: Labels, at: Place): void;
  clearEvent(remove: { readonly event: string } | { readonly named: string }): void;
}

/** Levels of depth that a block adds to the one around it. */
const BLOCK_LEVELS = 2;

/** Runs blocks. Without `result`, as for commands, a block has no value. */
export class Activation implements Scope {
  readonly #world: World;
  readonly #machine: Machine;
  readonly #evaluator: Evaluator;
  readonly #writer: Writer;
  readonly #holds: { readonly result: boolean; readonly last: boolean };
  readonly #variables = new Map<string, Value>();
  /** Depth at the start. */
  readonly #base: number;
  /** Depth of the current block. */
  #depth: number;
  /** The handler that runs, and whether it has cleared its error. */
  #handling: { cleared: boolean } | undefined;
  file: SourceFile;
  /** The labels of its variables. */
  readonly labels = new Frame();
  last: Value = null;
  /** The value of the latest statement directly in the body. */
  #result: Value = null;

  /** `holds` says whether the latest value can become the result, and whether a statement can read it as `last`. */
  constructor(world: World, file: SourceFile, base: number, holds: { readonly result: boolean; readonly last: boolean }) {
    this.#world = world;
    this.#holds = holds;
    this.#machine = world.machine;
    this.file = file;
    this.#base = base;
    this.#depth = base;
    this.#evaluator = new Evaluator(world.machine, this);
    this.#writer = new Writer(
      world.machine,
      (value) => (holds.last && value === this.last) || (holds.result && value === this.#result),
    );
  }

  get tools(): Tools {
    return this.#world.tools;
  }

  /** Makes a variable of this activation, which hides a global of the same name. */
  bind(name: string, value: Value, label: Labels = NONE): void {
    this.#variables.set(name, value);
    this.labels.variables.set(name, label);
  }

  lookup(name: string): Value {
    const scopes = [this.#variables, this.#world.globals, this.#world.constants];
    return scopes.find((scope) => scope.has(name))?.get(name) ?? null;
  }

  call(expr: CallExpr, args: readonly Value[], labels: readonly Labels[], level: number, at: Place): Value {
    return this.#world.call(expr, args, labels, this.#depth + level, at);
  }

  /** Runs a body whose first statement is already paid for when `paid`. Returns what it returns, or its latest value. */
  run(body: Block, paid: boolean): Value {
    this.#depth = this.#base;
    try {
      const flow = this.#machine.origin.running(this.labels, body, () => this.#block(body, undefined, paid));
      return flow.k === 'return' ? flow.value : this.#result;
    } catch (error) {
      throw error instanceof Offered ? error.failure : error;
    }
  }

  /** The text of an expression outside of statements: the name of an event. */
  nameOf(expr: Expr, framed: (work: () => string) => string): string {
    const at = this.#place(expr.s);
    this.#machine.meter.spend(PRICE.statement + operationsIn(expr), at);
    return framed(() => {
      this.#checkDepth([expr], at);
      const name = this.#evaluator.take(expr);
      const { origin } = this.#machine;
      origin.latest = origin.parts.deep(name, origin.latest);
      return this.#machine.text(name, at);
    });
  }

  #block(block: Block, around: Guard | undefined, paid = false): Flow {
    const { onError: handler } = block;
    const guard = handler === undefined ? around : { handler, block, depth: this.#depth, outer: around };
    for (const [index, stmt] of stepsOf(block).entries()) {
      const isPaid = paid && index === 0;
      const flow = this.#machine.origin.statement(block, stmt, () => this.#step(block, stmt, guard, isPaid));
      if ((flow.k === 'break' || flow.k === 'continue') && flow.out === block) return { k: flow.k };
      if (flow.k !== 'next') return flow;
    }
    return NEXT;
  }

  /** Executes a statement, and the handler of its error. */
  #step(block: Block, stmt: Stmt, guard: Guard | undefined, paid: boolean): Flow {
    const depth = this.#depth;
    try {
      if (!paid) this.#machine.meter.spend(costOf(stmt, this.#handling !== undefined), this.#place(stmt.s));
      return this.#statement(stmt, guard, depth === this.#base && this.#handling === undefined);
    } catch (error) {
      this.#depth = depth;
      return this.#recover(error, block, guard);
    } finally {
      this.#depth = depth;
    }
  }

  /** Runs the handler of an error, if it is the turn of one that stands in this block or around it. */
  #recover(error: unknown, block: Block, nearest: Guard | undefined): Flow {
    if (error instanceof Failure) {
      if (nearest === undefined) throw new Offered(error, undefined);
      return this.#handle(error, nearest, block);
    }
    if (error instanceof Offered && error.to?.block === block) return this.#handle(error.failure, error.to, block);
    throw error;
  }

  #handle(failure: Failure, { handler, block, depth, outer }: Guard, here: Block): Flow {
    const at = this.#place(handler.s);
    this.#machine.meter.spend(PRICE.call + PRICE.written * failure.stack_.length, at);
    this.bind('system_error', errorMap(failure));
    this.bind('system_error_message', failure.message);
    const [around, current] = [this.#handling, this.#depth];
    const handling = { cleared: false };
    this.#handling = handling;
    this.#depth = depth + BLOCK_LEVELS;
    try {
      const flow = this.#machine.origin.handling(() => this.#block(handler.body, undefined));
      if (flow.k === 'next' && handling.cleared) return NEXT;
      if (flow.k === 'break' || flow.k === 'continue') return block === here ? flow : { ...flow, out: block };
    } catch (error) {
      throw error instanceof Offered ? new Offered(error.failure, outer) : error;
    } finally {
      this.#handling = around;
      this.#depth = current;
    }
    throw new Offered(failure, outer);
  }

  #statement(stmt: Stmt, guard: Guard | undefined, top: boolean): Flow {
    const at = this.#place(stmt.s);
    // The values of a `return` in a handler are never worked out.
    this.#checkDepth(stmt.k === 'return' && this.#handling !== undefined ? [] : expressionsOf(stmt), at);
    if (stmt.k === 'together' || (stmt.k === 'for' && stmt.together))
      this.#checkDepth(
        callsOf(stmt.body).flatMap((call) => expressionsOf(call.stmt)),
        at,
        BLOCK_LEVELS,
      );
    switch (stmt.k) {
      case 'if': {
        const branch = isTrue(this.#evaluator.look(stmt.cond)) ? stmt.then : stmt.else;
        return this.#machine.origin.compound(stmt, () => {
          this.#machine.origin.decides();
          return branch === undefined ? NEXT : this.#inner(branch, guard);
        });
      }
      case 'while':
        return this.#machine.origin.compound(stmt, () => this.#while(stmt.cond, stmt.body, guard));
      case 'for':
        return this.#machine.origin.compound(stmt, () => this.#each(stmt, guard));
      case 'together': {
        const calls = this.#together();
        calls.prepare(stmt.body, () => {});
        calls.join(at);
        return NEXT;
      }
      case 'break':
      case 'continue':
        return { k: stmt.k };
      case 'return':
        if (this.#handling !== undefined) throw this.#machine.failure(12, 'return in an error handler', at);
        return { k: 'return', value: this.#returned(stmt.values) };
      case 'clear_error':
        if (this.#handling === undefined) throw this.#machine.failure(13, 'clear_error outside of a handler', at);
        this.#handling.cleared = true;
        return NEXT;
      case 'fail':
        throw this.#machine.failure(1, stmt.value === undefined ? 'fail statement executed' : this.#textOf(stmt.value, at), at);
      case 'clear_event':
        this.#world.clearEvent(stmt.event === undefined ? { named: stmt.named ?? '' } : { event: this.#textOf(stmt.event, at) });
        return NEXT;
      case 'on_error':
      case 'on_event':
        return NEXT;
      default: {
        const value = this.#effect(stmt, this.#holds.last || (top && this.#holds.result), at);
        this.last = value;
        if (top) this.#result = value;
        this.#machine.origin.valued(top);
        return NEXT;
      }
    }
  }

  /** Statements that have a value. `isHeld` says whether anything can read it afterwards. */
  #effect(stmt: Stmt, isHeld: boolean, at: Place): Value {
    const valueIn = (expr: Expr): Value => (isHeld ? this.#evaluator.take(expr) : this.#evaluator.look(expr));
    switch (stmt.k) {
      case 'set': {
        const value = this.#evaluator.take(stmt.value);
        const { latest } = this.#machine.origin;
        this.#assign(stmt.targets, value, at);
        this.#machine.origin.latest = latest;
        return value;
      }
      case 'emit':
        return this.#world.emit(valueIn(stmt.value), at);
      case 'whisper': {
        const { origin } = this.#machine;
        const to = this.#evaluator.look(stmt.handle);
        const latest = origin.parts.deep(to, origin.latest);
        const value = valueIn(stmt.value);
        this.#world.whisper(to, value, latest, at);
        origin.latest = join(latest, origin.latest);
        return value;
      }
      case 'call':
        return valueIn(stmt.call);
      case 'must': {
        const value = valueIn(stmt.cond);
        this.#machine.origin.faulty(this.#machine.origin.latest);
        if (!isTrue(value)) throw this.#machine.failure(5, `must condition evaluated to false: ${stmt.text}`, at);
        return value;
      }
      case 'promptuser':
        return this.#prompt(stmt.prompt, stmt.into, at);
      default:
        throw new Error(`this interpreter has no '${stmt.k}'`);
    }
  }

  #prompt(prompt: Expr, into: Target, at: Place): Value {
    const question = this.#textOf(prompt, at);
    if (this.#world.stdin === null) throw this.#machine.failure(26, 'no standard input', at);
    const line = this.#world.tools.line(question, this.#world.stdin, at);
    this.#write(into, line, NONE);
    this.#machine.origin.latest = NONE;
    return line;
  }

  #textOf(expr: Expr, at: Place): string {
    const value = this.#evaluator.look(expr);
    const { origin } = this.#machine;
    origin.faulty(origin.parts.deep(value, origin.latest));
    return this.#machine.text(value, at);
  }

  #returned(values: readonly Expr[]): Value {
    const [only] = values;
    const { origin } = this.#machine;
    origin.set(RESULT, NONE);
    if (values.length > 1) {
      const { args, labels } = this.#evaluator.labelled(values, (value) => this.#evaluator.take(value));
      const list = new List(args);
      origin.parts.listed(list, labels);
      return list;
    }
    if (only === undefined) return null;
    // The variables of this activation end with it, so that the caller alone holds the value.
    const isOwn = only.k === 'name' && this.#variables.has(only.name);
    const value = isOwn ? this.#evaluator.look(only) : this.#evaluator.take(only);
    origin.set(RESULT, origin.latest);
    return value;
  }

  #assign(targets: readonly Target[], value: Value, at: Place): void {
    const [only] = targets;
    const { origin } = this.#machine;
    const { latest } = origin;
    if (targets.length === 1 && only !== undefined) {
      this.#write(only, value, latest);
      return;
    }
    if (!(value instanceof List)) throw this.#machine.failure(7, `several targets need a list, not ${typeName(value)}`, at);
    const { items } = value;
    if (items.length !== targets.length) throw this.#machine.failure(36, `${targets.length} targets, ${items.length} items`, at);
    for (const [index, target] of targets.entries())
      this.#write(target, shared(items[index] ?? null), join(latest, origin.parts.of(value, index)));
  }

  #write(target: Target, value: Value, label: Labels): void {
    const { name } = target.name;
    const at = this.#place(target.name.s);
    if (!this.#variables.has(name) && this.#world.globals.has(name))
      throw this.#machine.failure(43, `'${name}' is a global and cannot be set`, at);
    const steps = this.#evaluator.steps(target);
    const { origin } = this.#machine;
    const before = origin.named(name);
    origin.writing(before, this.lookup(name), steps);
    const written = this.#writer.write(this.lookup(name), steps, value, at);
    this.bind(name, written);
    origin.written(name, before, written, steps, label);
  }

  #while(cond: Expr, body: Block, guard: Guard | undefined): Flow {
    for (;;) {
      this.#machine.meter.spend(PRICE.pass + operationsIn(cond), this.#place(cond.s));
      const isOver = !isTrue(this.#evaluator.look(cond));
      this.#machine.origin.decides();
      if (isOver) return NEXT;
      const flow = this.#inner(body, guard);
      if (leavesLoop(flow)) return flow.k === 'break' && flow.out === undefined ? NEXT : flow;
    }
  }

  #each(stmt: Stmt & { readonly k: 'for' }, guard: Guard | undefined): Flow {
    const at = this.#place(stmt.over.s);
    const over = this.#evaluator.take(stmt.over);
    const { origin } = this.#machine;
    const { latest } = origin;
    origin.decides();
    origin.faulty(latest);
    const calls = this.#together();
    for (const [key, item] of pairsOf(this.#machine, over, at)) {
      this.#machine.meter.spend(PRICE.pass, at);
      const bind = (): void => {
        if (stmt.key !== undefined) this.bind(stmt.key.name, key, origin.control());
        this.bind(stmt.item.name, shared(item), join(latest, origin.parts.of(over, key), origin.control()));
      };
      bind();
      if (stmt.together === true) {
        calls.prepare(stmt.body, bind);
        continue;
      }
      const flow = this.#inner(stmt.body, guard);
      if (leavesLoop(flow)) return flow.k === 'break' && flow.out === undefined ? NEXT : flow;
    }
    calls.join(this.#place(stmt.s));
    return NEXT;
  }

  #together(): Together {
    return new Together({
      tools: this.#world.tools,
      evaluate: ({ call, cost }) => {
        this.#machine.meter.spend(cost, this.#place(call.s));
        return this.#evaluator.toolCall(call, BLOCK_LEVELS + 1);
      },
      store: (stmt, value) => {
        const { latest } = this.#machine.origin;
        if (stmt.k === 'set') this.#assign(stmt.targets, value, this.#place(stmt.s));
        this.last = value;
        this.#machine.origin.valued(false, latest);
      },
    });
  }

  #inner(block: Block, guard: Guard | undefined): Flow {
    const depth = this.#depth;
    this.#depth = depth + BLOCK_LEVELS;
    const flow = this.#block(block, guard);
    this.#depth = depth;
    return flow;
  }

  #checkDepth(exprs: readonly Expr[], at: Place, around = 0): void {
    const levels = exprs.reduce((most, expr) => Math.max(most, around + levelsOf(expr)), 0);
    if (this.#depth + levels > this.#machine.meter.limits.evalDepth) throw this.#machine.failure(37, 'nested too deep', at);
  }

  #place(offset: number): Place {
    return placeIn(this.file, offset);
  }
}
