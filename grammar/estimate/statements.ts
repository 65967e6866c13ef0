/**
 * Follows statements along every path without running them, and keeps the lowest and the highest cost. A loop is followed pass by pass
 * while the next pass is certain and few steps were taken. After that, one pass represents all remaining ones.
 */

import type { Block, ForStmt, IfStmt, SetStmt, Stmt, TogetherStmt } from '../syntax/ast.ts';
import { clearing } from '../syntax/certainty.ts';
import { setBy } from '../syntax/walk.ts';
import { ERROR_VARIABLES } from '../vocabulary/builtins.ts';
import { Evaluation } from './expressions.ts';
import { isHarmless, RESULT } from './lookahead.ts';
import { type Follows, Loops } from './loops.ts';
import { statementOperations } from './operations.ts';
import { BLOCK_LEVELS, type Session } from './session.ts';
import { type Ending, Endings, either, FREE, fuel, type Guard, type Point, plus, State, type Surroundings } from './state.ts';
import { type Abstract, asText, elementAt, knownNumber, NOTHING, truthOf, UNKNOWN } from './values.ts';

/** Most calls of a loop that run together, with the widest limit. */
const MOST_TOGETHER = 1024;

/** Frames up to which no evaluation comes near the limit of depth, because each nests 200 levels at most. */
const SHALLOW = 20;

/** Follows the body of a unit. */
export function follow(session: Session, body: Block, start: Point, isProcedure: boolean): Endings {
  return new Follower(session).block(body, start, { guard: undefined, inHandler: false, top: isProcedure });
}

class Follower implements Follows {
  readonly #session: Session;
  readonly #loops: Loops;
  #guards = 0;

  constructor(session: Session) {
    this.#session = session;
    this.#loops = new Loops(session, this);
  }

  block(block: Block, start: Point, around: Surroundings): Endings {
    this.#session.enter(BLOCK_LEVELS);
    const endings = this.#body(block, start, around);
    this.#session.leave(BLOCK_LEVELS);
    return endings;
  }

  #body({ stmts, onError }: Block, start: Point, around: Surroundings): Endings {
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
  #guarded(stmt: Stmt, start: Point, place: Surroundings, own: Guard | undefined, endings: Endings): Point | undefined {
    // Following a statement copies the known variables a few times.
    this.#session.step(1 + (start.state.size >> 3));
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

  #statement(stmt: Stmt, before: Point, place: Surroundings): Endings {
    const { statement, operation } = this.#session.costs.steps;
    const start = plus(before, fuel(statement.amount + operation.amount * statementOperations(stmt)));
    switch (stmt.k) {
      case 'if':
        return this.#choice(stmt, start, place);
      case 'while':
        return this.#loops.while(stmt, start, place);
      case 'for':
        return stmt.together === true
          ? this.#joined(stmt, MOST_TOGETHER, start, (at, inner) => this.#loops.each(stmt, at, inner), place)
          : this.#loops.each(stmt, start, place);
      case 'together':
        return this.#joined(stmt, stmt.body.stmts.length, start, (at, inner) => this.block(stmt.body, at, inner), place);
      case 'break':
      case 'continue':
        return single(stmt.k, start);
      case 'clear_error':
        return single(place.inHandler ? 'normal' : 'error', place.inHandler ? start : this.raised(start, start));
      default:
        return this.#simple(stmt, start, place);
    }
  }

  /**
   * Follows calls that run together. All are made, and each may fail; then the handlers around get the first failure. The variables that
   * they set become unknown. Arguments see the values from before the block.
   */
  #joined(
    { body }: ForStmt | TogetherStmt,
    calls: number,
    start: Point,
    follow: (start: Point, place: Surroundings) => Endings,
    place: Surroundings,
  ): Endings {
    const endings = new Endings();
    let all: Point | undefined;
    const written = body.stmts.flatMap(setBy);
    const around = { ...place, guard: undefined, top: false, together: body };
    const inner = follow({ ...start, state: start.state.without(written) }, around);
    for (const [ending, point] of inner.all()) {
      all = either(all, point);
      if (ending !== 'error') endings.add(ending, { ...point, state: point.state.without(written) });
    }
    const end = all ?? start;
    const failed = this.raised({ ...start, state: end.state.without(written) }, end);
    endings.add('error', { ...failed, most: failed.most + this.#session.raise * (calls - 1) });
    return endings;
  }

  #simple(stmt: Stmt, start: Point, place: Surroundings): Endings {
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
      const written = setBy(stmt);
      const at = (evaluation.unstored ?? evaluation.state.without(written)).without([RESULT]);
      endings.add('error', this.raised({ ...start, state: at }, end));
    }
    return endings;
  }

  /** Follows the effects of a statement. Returns its value. */
  #effect(stmt: Stmt, evaluation: Evaluation, place: Surroundings): Abstract | undefined {
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
    if (only !== undefined && targets.length === 1) {
      // A variable without steps is set at the end, or not at all.
      if (only.steps.length === 0) evaluation.unstored = evaluation.state;
      evaluation.store(only, value);
    } else for (const [index, target] of targets.entries()) evaluation.store(target, elementAt(value, knownNumber(index)));
    return value;
  }

  /** The point of an error that arises between two points. */
  raised(start: Point, end: Point): Point {
    const { raise } = this.#session;
    const least = start.least + this.#session.costs.steps.raise.amount;
    return { ...end, state: start.state, most: end.most + raise, least, certain: start.certain };
  }

  /** Whether a statement can raise an error. False only for the simplest statements. */
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

  #choice({ cond, then, else: otherwise }: IfStmt, start: Point, place: Surroundings): Endings {
    const evaluation = new Evaluation(this.#session, start.state);
    const truth = truthOf(evaluation.value(cond));
    const at = { ...plus(start, evaluation.cost), state: evaluation.state };
    const endings = new Endings();
    if (!isHarmless(cond)) endings.add('error', this.raised({ ...start, state: at.state }, at));
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
    // If one branch never reaches its end, only the other one leads to the next statement.
    if (taken !== undefined && place.guard === undefined && !place.inHandler) {
      const [first, second] = [taken.get('normal'), other.get('normal')];
      if (first === undefined && second !== undefined) this.#session.assume({ kind: 'unless', at: cond, expr: cond });
      if (first !== undefined && second === undefined) this.#session.assume({ kind: 'if', at: cond, expr: cond });
    }
    return endings;
  }
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
