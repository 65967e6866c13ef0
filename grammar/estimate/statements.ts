/**
 * Follows statements without running them, along every way, and keeps the lowest and the highest cost. A loop is followed pass
 * by pass while the next pass is certain and few steps were taken. After that, one pass represents all remaining ones.
 */

import type { Block, ErrorHandler, ForStmt, IfStmt, SetStmt, Stmt, TogetherStmt, WhileStmt } from '../syntax/ast.ts';
import { clearing } from '../syntax/certainty.ts';
import { loopNames, targetsOf } from '../syntax/walk.ts';
import { ERROR_VARIABLES } from '../vocabulary/builtins.ts';
import { Evaluation } from './expressions.ts';
import { changedIn, isHarmless, RESULT, whyEndless } from './lookahead.ts';
import { operationsOf, statementOperations } from './operations.ts';
import { BLOCK_LEVELS, type Session } from './session.ts';
import { type Ending, Endings, either, FREE, type Point, plus, type State } from './state.ts';
import { type Abstract, elementOf, LIST, MAP, may, NIL, NOTHING, only, TEXT, truthOf, UNKNOWN } from './values.ts';

/** Most passes of one loop that are followed one by one. */
const MOST_PASSES = 10_000;

/** Most calls of a loop that run together, with the widest limit. */
const MOST_TOGETHER = 1024;

/** Frames up to which no evaluation comes near the limit of depth, because each nests 200 levels at most. */
const SHALLOW = 20;

/** An `on error` block that guards a place. */
interface Guard {
  readonly id: number;
  readonly handler: ErrorHandler;
}

/** What surrounds a block. */
interface Place {
  /** The handler that runs first on an error. */
  readonly guard: Guard | undefined;
  readonly inHandler: boolean;
  /** Whether this is the top level of a procedure, whose last value may become the result. */
  readonly top: boolean;
}

/** Follows the body of a unit. */
export function follow(session: Session, body: Block, start: Point, isProcedure: boolean): Endings {
  return new Follower(session).block(body, start, { guard: undefined, inHandler: false, top: isProcedure });
}

class Follower {
  readonly #session: Session;
  #guards = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  block(block: Block, start: Point, around: Place): Endings {
    this.#session.enter(BLOCK_LEVELS);
    const endings = this.#body(block, start, around);
    this.#session.leave(BLOCK_LEVELS);
    return endings;
  }

  #body({ stmts, onError }: Block, start: Point, around: Place): Endings {
    const own = onError === undefined ? undefined : { id: ++this.#guards, handler: onError };
    const place = { ...around, guard: own ?? around.guard };
    const endings = new Endings();
    let here: Point | undefined = start;
    for (const stmt of stmts) {
      if (stmt.k === 'on_error' || stmt.k === 'on_event') continue;
      if (here === undefined) break;
      here = this.#guarded(stmt, here, place, own, endings);
    }
    if (here !== undefined) endings.add('normal', here);
    return endings;
  }

  /** Follows one statement of a block, and the handlers of its errors. Returns where execution continues. */
  #guarded(stmt: Stmt, start: Point, place: Place, own: Guard | undefined, endings: Endings): Point | undefined {
    // Following a statement copies the known variables a few times.
    this.#session.step(1 + (start.state.size >> 5));
    let next: Point | undefined;
    const take = (ending: Ending, point: Point, handled: boolean): void => {
      const guard = handled ? undefined : guardFor(ending, place.guard, own);
      if (ending === 'normal') next = either(next, point);
      else if (guard !== undefined) {
        for (const [after, at] of this.#handle(guard, point, guard === own).all()) take(after, at, true);
      } else if (own !== undefined && ending === `far break ${own.id}`) endings.add('break', point);
      else if (own !== undefined && ending === `far continue ${own.id}`) endings.add('continue', point);
      else endings.add(ending, point);
    };
    for (const [ending, point] of this.#statement(stmt, start, place).all()) take(ending, point, false);
    return next;
  }

  /** Follows a handler of an error. */
  #handle(guard: Guard, point: Point, isOwn: boolean): Endings {
    const { call, written } = this.#session.costs.steps;
    const frames = this.#session.mostFrames;
    const publish = {
      least: call.amount + written.amount,
      most: call.amount + written.amount * frames,
      bytes: 40_000 + 8192 * frames,
    };
    const start = plus({ ...point, state: point.state.without(ERROR_VARIABLES) }, publish);
    const place = { guard: undefined, inHandler: true, top: false };
    const endings = new Endings();
    const cleared = clearing(guard.handler);
    for (const [ending, at] of this.block(guard.handler.body, start, place).all()) {
      if (ending === 'normal') {
        if (cleared !== 'never') endings.add('normal', at);
        if (cleared !== 'always') endings.add(`offered ${guard.id}`, at);
      } else if (ending === 'error' || ending.startsWith('offered')) endings.add(`offered ${guard.id}`, at);
      else if (isOwn || (ending !== 'break' && ending !== 'continue')) endings.add(ending, at);
      else endings.add(`far ${ending} ${guard.id}`, at);
    }
    return endings;
  }

  #statement(stmt: Stmt, before: Point, place: Place): Endings {
    const { statement, operation } = this.#session.costs.steps;
    const fuel = statement.amount + operation.amount * statementOperations(stmt);
    const start = plus(before, { least: fuel, most: fuel, bytes: 0 });
    switch (stmt.k) {
      case 'if':
        return this.#choice(stmt, start, place);
      case 'while':
        return this.#loop(stmt, start, place);
      case 'for':
        return stmt.together === true
          ? this.#joined(stmt, MOST_TOGETHER, start, this.#each(stmt, start, unguarded(place)))
          : this.#each(stmt, start, place);
      case 'together':
        return this.#joined(stmt, stmt.body.stmts.length, start, this.block(stmt.body, start, unguarded(place)));
      case 'break':
      case 'continue':
        return single(stmt.k, start);
      case 'clear_error':
        return single(place.inHandler ? 'normal' : 'error', place.inHandler ? start : this.#raised(start, start));
      default:
        return this.#simple(stmt, start, place);
    }
  }

  /** Calls that run together: all are made, and each may fail. Then the first failure is raised. */
  #joined({ body }: ForStmt | TogetherStmt, calls: number, start: Point, inner: Endings): Endings {
    const endings = new Endings();
    let all: Point | undefined;
    for (const [ending, point] of inner.all()) {
      all = either(all, point);
      if (ending !== 'error') endings.add(ending, point);
    }
    const end = all ?? start;
    const state = end.state.without(body.stmts.flatMap((stmt) => targetsOf(stmt).map(({ name }) => name.name)));
    const failed = this.#raised({ ...start, state }, end);
    endings.add('error', { ...failed, most: failed.most + this.#session.raise * (calls - 1) });
    return endings;
  }

  #simple(stmt: Stmt, start: Point, place: Place): Endings {
    const evaluation = new Evaluation(this.#session, start.state);
    const endings = new Endings();
    const value = this.#effect(stmt, evaluation, place);
    const valued = value !== undefined && place.top && stmt.k !== 'return';
    const state = valued ? evaluation.state.with(RESULT, value) : evaluation.state;
    const end = { ...plus(start, evaluation.cost), state };
    const failing = stmt.k === 'fail' || (stmt.k === 'return' && place.inHandler);
    if (stmt.k === 'return' && !failing) endings.add('return', { ...end, state: state.with(RESULT, value ?? NOTHING) });
    else if (!failing) endings.add('normal', end);
    if (failing || this.#canFail(stmt, value)) {
      const written = targetsOf(stmt).map(({ name }) => name.name);
      const at = evaluation.state.without([...written, RESULT]);
      endings.add('error', this.#raised({ ...start, state: at }, end));
    }
    return endings;
  }

  /** Follows the effects of a statement. Returns its value. */
  #effect(stmt: Stmt, evaluation: Evaluation, place: Place): Abstract | undefined {
    switch (stmt.k) {
      case 'set':
        return this.#assignment(stmt, evaluation);
      case 'call':
        return evaluation.value(stmt.call);
      case 'emit': {
        const value = evaluation.value(stmt.value);
        evaluation.emitted(value, stmt.value);
        return value;
      }
      case 'whisper': {
        const handle = evaluation.value(stmt.handle);
        const value = evaluation.value(stmt.value);
        evaluation.emitted(handle, stmt.handle);
        evaluation.emitted(value, stmt.value);
        return value;
      }
      case 'must':
        return evaluation.value(stmt.cond);
      case 'return': {
        if (place.inHandler) return undefined;
        const values = stmt.values.map((value) => evaluation.value(value));
        return values.length > 1 ? evaluation.list(values) : values[0];
      }
      case 'fail':
        if (stmt.value !== undefined) evaluation.shown(evaluation.value(stmt.value), stmt.value);
        return undefined;
      case 'clear_event':
        if (stmt.event !== undefined) evaluation.shown(evaluation.value(stmt.event), stmt.event);
        return undefined;
      case 'ask': {
        const values = [stmt.model, stmt.prompt, ...(stmt.with === undefined ? [] : [stmt.with])].map((part) =>
          evaluation.value(part),
        );
        const answer = evaluation.host(values, stmt, 'the answer of `ask` may have any size');
        if (stmt.into !== undefined) evaluation.store(stmt.into, answer);
        return answer;
      }
      case 'promptuser': {
        const line = evaluation.host([evaluation.value(stmt.prompt)], stmt, 'the line read by `promptuser` may have any size');
        evaluation.store(stmt.into, line);
        return line;
      }
      default:
        return undefined;
    }
  }

  #assignment({ targets, value: expr }: SetStmt, evaluation: Evaluation): Abstract {
    const value = evaluation.value(expr);
    const [only] = targets;
    if (only !== undefined && targets.length === 1) evaluation.store(only, value);
    else for (const target of targets) evaluation.store(target, elementOf(value));
    return value;
  }

  /** The point of an error that arises between two points. */
  #raised(start: Point, end: Point): Point {
    const { raise } = this.#session;
    return { ...start, most: end.most + raise, least: start.least + this.#session.costs.steps.raise.amount, bytes: end.bytes };
  }

  /** Whether a statement can raise an error. Only for the simplest statements is it known that they cannot. */
  #canFail(stmt: Stmt, value: Abstract | undefined): boolean {
    if (this.#session.mostFrames > SHALLOW) return true;
    const printable = value !== undefined && value.nodes < 400;
    switch (stmt.k) {
      case 'set':
        return (
          !isHarmless(stmt.value) ||
          stmt.targets.some(({ name, steps }) => steps.length > 0 || this.#session.globalNames.has(name.name)) ||
          stmt.targets.length > 1
        );
      case 'emit':
        return !isHarmless(stmt.value) || !printable;
      case 'return':
        return !stmt.values.every(isHarmless);
      default:
        return true;
    }
  }

  #choice({ cond, then, else: otherwise }: IfStmt, start: Point, place: Place): Endings {
    const evaluation = new Evaluation(this.#session, start.state);
    const truth = truthOf(evaluation.value(cond));
    const at = { ...plus(start, evaluation.cost), state: evaluation.state };
    const endings = new Endings();
    if (!isHarmless(cond)) endings.add('error', this.#raised({ ...start, state: at.state }, at));
    const inner = { ...place, top: false };
    if (truth !== false) addAll(endings, this.block(then, at, inner));
    if (truth === true) return endings;
    if (otherwise === undefined) endings.add('normal', at);
    else addAll(endings, this.block(otherwise, at, inner));
    return endings;
  }

  #loop(stmt: WhileStmt, start: Point, place: Place): Endings {
    const endings = new Endings();
    let here: Point | undefined = start;
    let certain = true;
    for (let pass = 0; here !== undefined; pass++) {
      const { truth, next } = this.#pass(stmt, here, place, endings);
      if (next === undefined) return endings;
      here = next;
      certain = truth === true;
      if (!certain || pass >= MOST_PASSES || !this.#session.exact) break;
    }
    const most = this.#session.unbounded(whyEndless(stmt.cond, certain), stmt.cond);
    endings.add('stopped', { ...here, most: here.most + most });
    const state = here.state.without(changedIn(stmt.body, place.guard?.handler));
    this.#pass(stmt, { ...here, state, most: here.most + most }, place, endings);
    return endings;
  }

  /** Follows one pass of a `while`. Returns whether the condition holds, and where the next pass begins. */
  #pass(stmt: WhileStmt, start: Point, place: Place, endings: Endings): { truth: boolean | undefined; next: Point | undefined } {
    const { pass, operation } = this.#session.costs.steps;
    const fuel = pass.amount + operation.amount * operationsOf(stmt.cond);
    const begin = plus(start, { least: fuel, most: fuel, bytes: 0 });
    const evaluation = new Evaluation(this.#session, begin.state);
    const truth = truthOf(evaluation.value(stmt.cond));
    const at = { ...plus(begin, evaluation.cost), state: evaluation.state };
    if (!isHarmless(stmt.cond)) endings.add('error', this.#raised({ ...begin, state: at.state }, at));
    if (truth !== true) endings.add('normal', at);
    return { truth, next: truth === false ? undefined : this.#once(stmt.body, at, place, endings) };
  }

  /** Follows the body of a loop once. Returns where the next pass begins. */
  #once(body: Block, start: Point, place: Place, endings: Endings): Point | undefined {
    let next: Point | undefined;
    for (const [ending, point] of this.block(body, start, { ...place, top: false }).all()) {
      if (ending === 'normal' || ending === 'continue') next = either(next, point);
      else endings.add(ending === 'break' ? 'normal' : ending, point);
    }
    return next;
  }

  #each(stmt: ForStmt, start: Point, place: Place): Endings {
    const evaluation = new Evaluation(this.#session, start.state);
    const over = evaluation.value(stmt.over);
    const at = { ...plus(start, evaluation.cost), state: evaluation.state };
    const endings = new Endings();
    const iterable = only(over, LIST | MAP | TEXT | NIL);
    if (!isHarmless(stmt.over) || !iterable) endings.add('error', this.#raised({ ...start, state: at.state }, at));
    const item = itemOf(over);
    const fixed = over.least === over.most && over.most <= MOST_PASSES;
    let here: Point | undefined = at;
    let done = 0;
    while (here !== undefined && fixed && done < over.most && this.#session.exact) {
      here = this.#once(stmt.body, this.#bound(stmt, here, over.items?.[done] ?? item), place, endings);
      done++;
    }
    if (here === undefined) return endings;
    if (fixed && done === over.most) endings.add('normal', here);
    else this.#passes(stmt, here, item, { least: over.least - done, most: over.most - done }, place, endings);
    return endings;
  }

  /** Follows one pass that represents all remaining passes. */
  #passes(
    stmt: ForStmt,
    here: Point,
    item: Abstract,
    count: { readonly least: number; readonly most: number },
    place: Place,
    endings: Endings,
  ): void {
    const state = here.state.without([...changedIn(stmt.body, place.guard?.handler), ...loopNames(stmt)]);
    const most =
      count.most === Number.POSITIVE_INFINITY ? this.#session.unbounded('the number of items is not known', stmt.over) : 0;
    const inner = new Endings();
    const next = this.#once(stmt.body, this.#bound(stmt, { ...FREE, state }, item), place, inner);
    const spent = { most: next?.most ?? 0, bytes: next?.bytes ?? 0 };
    const earlier = { least: 0, most: times(spent.most, count.most) + most, bytes: times(spent.bytes, count.most) };
    for (const [ending, point] of inner.all()) {
      const at = plus(here, { least: point.least, most: point.most, bytes: point.bytes });
      endings.add(ending, { ...plus(at, earlier), state: point.state });
    }
    if (next === undefined && count.least > 0) return;
    endings.add('normal', {
      ...plus(here, { ...earlier, least: times(next?.least ?? 0, count.least) }),
      state: here.state.join(state),
    });
  }

  /** The point at which a pass begins, with its fuel charged and its variables set. */
  #bound(stmt: ForStmt, at: Point, item: Abstract): Point {
    const fuel = this.#session.costs.steps.pass.amount;
    const { key } = stmt;
    const own = at.state.with(stmt.item.name, item);
    const state: State = key === undefined ? own : own.with(key.name, UNKNOWN);
    return { ...plus(at, { least: fuel, most: fuel, bytes: 20 }), state };
  }
}

function itemOf(over: Abstract): Abstract {
  return may(over, LIST | MAP | TEXT) ? elementOf(over) : NOTHING;
}

/** Errors leave calls that run together when all have ended; then the handlers of the place around run. */
function unguarded(place: Place): Place {
  return { ...place, guard: undefined, top: false };
}

/** A product in which 0 times infinity is 0. */
function times(amount: number, count: number): number {
  return amount === 0 || count === 0 ? 0 : amount * count;
}

/** The handler that runs on an error here, if there is one. */
function guardFor(ending: Ending, nearest: Guard | undefined, own: Guard | undefined): Guard | undefined {
  if (ending === 'error') return nearest;
  return ending.startsWith('offered') && own !== undefined && ending !== `offered ${own.id}` ? own : undefined;
}

function single(ending: Ending, point: Point): Endings {
  const endings = new Endings();
  endings.add(ending, point);
  return endings;
}

function addAll(endings: Endings, more: Endings): void {
  for (const [ending, point] of more.all()) endings.add(ending, point);
}
