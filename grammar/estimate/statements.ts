/**
 * Follows statements without running them, along every way, and keeps the lowest and the highest cost. A loop is followed pass
 * by pass while the next pass is certain and few steps were taken. After that, one pass represents all remaining ones.
 */

import type { Block, ErrorHandler, ForStmt, IfStmt, SetStmt, Stmt, TogetherStmt, WhileStmt } from '../syntax/ast.ts';
import { clearing } from '../syntax/certainty.ts';
import { targetsOf } from '../syntax/walk.ts';
import { ERROR_VARIABLES } from '../vocabulary/builtins.ts';
import { Evaluation } from './expressions.ts';
import { isHarmless, RESULT, whyEndless } from './lookahead.ts';
import { operationsOf, statementOperations } from './operations.ts';
import { BLOCK_LEVELS, type Session } from './session.ts';
import { type Ending, Endings, either, FREE, fuel, type Point, plus, repeated, State, sum, times } from './state.ts';
import {
  type Abstract,
  asText,
  elementAt,
  elementOf,
  isWithin,
  knownNumber,
  knownText,
  LIST,
  MAP,
  may,
  NIL,
  NOTHING,
  numberWithin,
  only,
  TEXT,
  truthOf,
  UNKNOWN,
  widened,
} from './values.ts';

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
  /** The block whose calls run together. No result is stored before all of them were made. */
  readonly together?: Block;
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
    const { path } = this.#session;
    let here: Point | undefined = start;
    for (const stmt of stmts) {
      if (stmt.k === 'on_error' || stmt.k === 'on_event') continue;
      if (here === undefined) break;
      here = this.#guarded(stmt, here, place, own, endings);
      // Without a handler, execution goes on only if the statement did not fail.
      if (stmt.k === 'must' && place.guard === undefined && !place.inHandler)
        this.#session.assume({ kind: 'if', at: stmt.cond, expr: stmt.cond });
    }
    this.#session.path = path;
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
      ...FREE,
      least: call.amount + written.amount,
      most: call.amount + written.amount * frames,
      bytes: 40_000 + 8192 * frames,
    };
    const start = plus({ ...point, state: point.state.without(ERROR_VARIABLES) }, publish);
    const place = { guard: undefined, inHandler: true, top: false };
    const endings = new Endings();
    const cleared = clearing(guard.handler);
    const handled = this.#session.under({ kind: 'error', at: guard.handler }, () => this.block(guard.handler.body, start, place));
    for (const [ending, at] of handled.all()) {
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
    const start = plus(before, fuel(statement.amount + operation.amount * statementOperations(stmt)));
    switch (stmt.k) {
      case 'if':
        return this.#choice(stmt, start, place);
      case 'while':
        return this.#loop(stmt, start, place);
      case 'for':
        return stmt.together === true
          ? this.#joined(stmt, MOST_TOGETHER, start, (at, inner) => this.#each(stmt, at, inner), place)
          : this.#each(stmt, start, place);
      case 'together':
        return this.#joined(stmt, stmt.body.stmts.length, start, (at, inner) => this.block(stmt.body, at, inner), place);
      case 'break':
      case 'continue':
        return single(stmt.k, start);
      case 'clear_error':
        return single(place.inHandler ? 'normal' : 'error', place.inHandler ? start : this.#raised(start, start));
      default:
        return this.#simple(stmt, start, place);
    }
  }

  /**
   * Calls that run together: all are made, and each may fail. Then the first failure is raised, for the handlers around. Nothing is said of the variables
   * that they set: an argument sees the value from before the block.
   */
  #joined(
    { body }: ForStmt | TogetherStmt,
    calls: number,
    start: Point,
    follow: (start: Point, place: Place) => Endings,
    place: Place,
  ): Endings {
    const endings = new Endings();
    let all: Point | undefined;
    const written = body.stmts.flatMap((stmt) => targetsOf(stmt).map(({ name }) => name.name));
    const around = { ...place, guard: undefined, top: false, together: body };
    const inner = follow({ ...start, state: start.state.without(written) }, around);
    for (const [ending, point] of inner.all()) {
      all = either(all, point);
      if (ending !== 'error') endings.add(ending, { ...point, state: point.state.without(written) });
    }
    const end = all ?? start;
    const failed = this.#raised({ ...start, state: end.state.without(written) }, end);
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
        return place.together !== undefined ? this.#later(stmt, evaluation, place.together) : this.#assignment(stmt, evaluation);
      case 'call':
        return place.together !== undefined && stmt.call.k === 'tool'
          ? evaluation.together(stmt.call)
          : evaluation.value(stmt.call);
      case 'emit': {
        const value = evaluation.value(stmt.value);
        evaluation.emit(value, stmt.value);
        return value;
      }
      case 'whisper': {
        const handle = evaluation.value(stmt.handle);
        const value = evaluation.value(stmt.value);
        evaluation.whisper(handle, value, stmt);
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
        const model = asText(evaluation.value(stmt.model));
        const prompt = evaluation.value(stmt.prompt);
        const given = stmt.with === undefined ? NOTHING : evaluation.value(stmt.with);
        const answer = evaluation.host('ask', stmt, [model, prompt, given], 'the answer of `ask` may have any size');
        if (stmt.into !== undefined) evaluation.store(stmt.into, answer);
        return answer;
      }
      case 'promptuser': {
        const line = evaluation.host(
          'promptuser',
          stmt,
          [asText(evaluation.value(stmt.prompt))],
          'the line read by `promptuser` may have any size',
        );
        evaluation.store(stmt.into, line);
        return line;
      }
      default:
        return undefined;
    }
  }

  /** A call among others, whose result is stored when all have ended. */
  #later({ targets, value: expr }: SetStmt, evaluation: Evaluation, body: Block): Abstract {
    const value = expr.k === 'tool' ? evaluation.together(expr) : evaluation.value(expr);
    // The arguments of later calls are evaluated before the places of earlier results.
    if (targets.some(({ steps }) => steps.length > 0) && this.#session.changes.of(body, undefined).any)
      evaluation.state = State.any;
    for (const target of targets) evaluation.store(target, UNKNOWN);
    evaluation.state = evaluation.state.without(targets.map(({ name }) => name.name));
    return value;
  }

  #assignment({ targets, value: expr }: SetStmt, evaluation: Evaluation): Abstract {
    const value = evaluation.value(expr);
    const [only] = targets;
    if (only !== undefined && targets.length === 1) evaluation.store(only, value);
    else for (const [index, target] of targets.entries()) evaluation.store(target, elementAt(value, knownNumber(index)));
    return value;
  }

  /** The point of an error that arises between two points. */
  #raised(start: Point, end: Point): Point {
    const { raise } = this.#session;
    const least = start.least + this.#session.costs.steps.raise.amount;
    return { ...end, state: start.state, most: end.most + raise, least };
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
    const branch = (kind: 'if' | 'unless', body: Block): Endings => {
      const follow = (): Endings => this.block(body, at, inner);
      return truth === undefined ? this.#session.under({ kind, at: cond, expr: cond }, follow) : follow();
    };
    const taken = truth === false ? undefined : branch('if', then);
    if (taken !== undefined) addAll(endings, taken);
    if (truth === true) return endings;
    const other = otherwise === undefined ? single('normal', at) : branch('unless', otherwise);
    addAll(endings, other);
    // Where one branch never comes to its end, what follows happens after the other one.
    if (taken !== undefined && place.guard === undefined && !place.inHandler) {
      const [first, second] = [taken.get('normal'), other.get('normal')];
      if (first === undefined && second !== undefined) this.#session.assume({ kind: 'unless', at: cond, expr: cond });
      if (first !== undefined && second === undefined) this.#session.assume({ kind: 'if', at: cond, expr: cond });
    }
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
    if (here === undefined) return endings;
    const most = this.#session.unbounded(whyEndless(stmt.cond, certain), stmt.cond);
    endings.add('stopped', { ...here, most: here.most + most });
    const state = this.#settled(
      stmt,
      here.state,
      place,
      (at) => this.#pass(stmt, { ...FREE, state: at }, place, new Endings()).next,
    );
    const inner = new Endings();
    const { next } = this.#pass(stmt, { ...FREE, state }, place, inner);
    const others = next === undefined ? FREE : repeated(next, Number.POSITIVE_INFINITY);
    const before = sum(sum(here, others), { ...FREE, most });
    for (const [ending, point] of inner.all()) endings.add(ending, { ...sum(before, point), state: point.state });
    if (next !== undefined) endings.add('stopped', { ...before, state });
    return endings;
  }

  /**
   * What is known of the variables at the beginning of this and any later pass: of variables that change, what a further pass keeps
   * true. `follow` follows one pass, and gives the point at which the next one begins.
   */
  #settled({ body }: ForStmt | WhileStmt, start: State, { guard }: Place, follow: (state: State) => Point | undefined): State {
    const { names, any } = this.#session.changes.of(body, guard?.handler);
    if (any) return State.any;
    const unknown = start.without(names);
    let state = start;
    for (const describe of [widened, (before: Abstract, after: Abstract) => (isWithin(after, before) ? before : UNKNOWN)]) {
      if (!this.#session.exact) return unknown;
      const next = follow(state)?.state;
      if (next === undefined) return state;
      state = state.map(names, (before, name) => describe(before, next.get(name)));
    }
    const next = this.#session.exact ? follow(state)?.state : undefined;
    return next !== undefined && [...names].every((name) => isWithin(next.get(name), state.get(name))) ? state : unknown;
  }

  /** Follows one pass of a `while`. Returns whether the condition holds, and where the next pass begins. */
  #pass(stmt: WhileStmt, start: Point, place: Place, endings: Endings): { truth: boolean | undefined; next: Point | undefined } {
    const { pass, operation } = this.#session.costs.steps;
    const begin = plus(start, fuel(pass.amount + operation.amount * operationsOf(stmt.cond)));
    const evaluation = new Evaluation(this.#session, begin.state);
    const truth = truthOf(evaluation.value(stmt.cond));
    const at = { ...plus(begin, evaluation.cost), state: evaluation.state };
    if (!isHarmless(stmt.cond)) endings.add('error', this.#raised({ ...begin, state: at.state }, at));
    if (truth !== true) endings.add('normal', at);
    if (truth === false) return { truth, next: undefined };
    const follow = (): Point | undefined => this.#once(stmt.body, at, place, endings);
    const condition = { kind: 'while', at: stmt.cond, expr: stmt.cond } as const;
    return { truth, next: truth === true ? follow() : this.#session.under(condition, follow) };
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
    const fixed = over.least === over.most && over.most <= MOST_PASSES;
    let here: Point | undefined = at;
    let done = 0;
    while (here !== undefined && fixed && done < over.most && this.#session.exact) {
      here = this.#once(stmt.body, this.#bound(stmt, here, passOf(over, done)), place, endings);
      done++;
    }
    if (here === undefined) return endings;
    if (fixed && done === over.most) endings.add('normal', here);
    else this.#passes(stmt, here, over, { least: over.least - done, most: over.most - done }, place, endings);
    return endings;
  }

  /** Follows one pass that represents all remaining passes. */
  #passes(
    stmt: ForStmt,
    here: Point,
    over: Abstract,
    count: { readonly least: number; readonly most: number },
    place: Place,
    endings: Endings,
  ): void {
    const any = passOf(over);
    const begin = (at: State): Point => this.#bound(stmt, { ...FREE, state: at }, any);
    const state = this.#settled(stmt, here.state, place, (at) => this.#once(stmt.body, begin(at), place, new Endings()));
    const unknown = count.most === Number.POSITIVE_INFINITY;
    const most = unknown ? this.#session.unbounded('the number of items is not known', stmt.over) : 0;
    const inner = new Endings();
    const next = this.#session.under({ kind: 'each', at: stmt.over, expr: stmt.over }, () =>
      this.#once(stmt.body, begin(state), place, inner),
    );
    const spent = repeated(next ?? FREE, count.most);
    const earlier = { ...spent, most: spent.most + most };
    for (const [ending, point] of inner.all()) endings.add(ending, { ...sum(sum(here, point), earlier), state: point.state });
    if (next === undefined && count.least > 0) return;
    const least = times(next?.least ?? 0, count.least);
    endings.add('normal', {
      ...sum(here, { ...earlier, least }),
      state: next === undefined ? here.state : here.state.join(next.state),
    });
  }

  /** The point at which a pass begins, with its fuel charged and its variables set. */
  #bound(stmt: ForStmt, at: Point, { key, item }: Pass): Point {
    const own = at.state.with(stmt.item.name, item);
    const state: State = stmt.key === undefined ? own : own.with(stmt.key.name, key);
    return { ...plus(at, { ...fuel(this.#session.costs.steps.pass.amount), bytes: 20 }), state };
  }
}

/** The variables of a pass. */
interface Pass {
  readonly key: Abstract;
  readonly item: Abstract;
}

/** The pass of this number over a value; without a number, any pass. */
function passOf(over: Abstract, index?: number): Pass {
  if (!may(over, LIST | MAP | TEXT)) return { key: NOTHING, item: NOTHING };
  const counted = only(over, LIST | TEXT | NIL);
  if (index === undefined) return { key: counted ? numberWithin(0, over.most) : UNKNOWN, item: elementOf(over) };
  const entry = over.types === MAP ? [...(over.fields ?? [])][index] : undefined;
  if (entry !== undefined) return { key: knownText(entry[0]), item: entry[1] };
  return { key: counted ? knownNumber(index) : UNKNOWN, item: elementAt(over, knownNumber(index)) };
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
