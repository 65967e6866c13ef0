/**
 * Follows loops: pass by pass while the next pass is certain and few steps were taken. After that, one pass represents all remaining
 * ones.
 */

import type { Block, ForStmt, WhileStmt } from '../syntax/ast.ts';
import { Evaluation } from './expressions.ts';
import { isHarmless, whyEndless } from './lookahead.ts';
import { operationsOf } from './operations.ts';
import type { Session } from './session.ts';
import { Endings, either, FREE, fuel, type Point, plus, repeated, State, type Surroundings, sum, times } from './state.ts';
import {
  type Abstract,
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

/** The functions that loops use to follow their bodies. */
export interface Follows {
  block(block: Block, start: Point, place: Surroundings): Endings;
  /** The point of an error that arises between two points. */
  raised(start: Point, end: Point): Point;
}

export class Loops {
  readonly #session: Session;
  readonly #follows: Follows;

  constructor(session: Session, follows: Follows) {
    this.#session = session;
    this.#follows = follows;
  }

  while(stmt: WhileStmt, start: Point, place: Surroundings): Endings {
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
   * The description of the variables at the beginning of this and any later pass. It keeps only facts that a further pass keeps true.
   * `follow` follows one pass, and returns the point at which the next one begins.
   */
  #settled(
    { body }: ForStmt | WhileStmt,
    start: State,
    { guard }: Surroundings,
    follow: (state: State) => Point | undefined,
  ): State {
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
  #pass(
    stmt: WhileStmt,
    start: Point,
    place: Surroundings,
    endings: Endings,
  ): { truth: boolean | undefined; next: Point | undefined } {
    const { pass, operation } = this.#session.costs.steps;
    const begin = plus(start, fuel(pass.amount + operation.amount * operationsOf(stmt.cond)));
    const evaluation = new Evaluation(this.#session, begin.state);
    const truth = truthOf(evaluation.value(stmt.cond));
    const at = { ...plus(begin, evaluation.cost), state: evaluation.state };
    if (!isHarmless(stmt.cond)) endings.add('error', this.#follows.raised({ ...begin, state: at.state }, at));
    if (truth !== true) endings.add('normal', at);
    if (truth === false) return { truth, next: undefined };
    const follow = (): Point | undefined => this.#once(stmt.body, at, place, endings);
    const condition = { kind: 'while', at: stmt.cond, expr: stmt.cond } as const;
    return { truth, next: truth === true ? follow() : this.#session.under(condition, follow) };
  }

  /** Follows the body of a loop once. Returns where the next pass begins. */
  #once(body: Block, start: Point, place: Surroundings, endings: Endings): Point | undefined {
    let next: Point | undefined;
    for (const [ending, point] of this.#follows.block(body, start, { ...place, top: false }).all()) {
      if (ending === 'normal' || ending === 'continue') next = either(next, point);
      else endings.add(ending === 'break' ? 'normal' : ending, point);
    }
    return next;
  }

  each(stmt: ForStmt, start: Point, place: Surroundings): Endings {
    const evaluation = new Evaluation(this.#session, start.state);
    const over = evaluation.value(stmt.over);
    const at = { ...plus(start, evaluation.cost), state: evaluation.state };
    const endings = new Endings();
    const iterable = only(over, LIST | MAP | TEXT | NIL);
    if (!isHarmless(stmt.over) || !iterable) endings.add('error', this.#follows.raised({ ...start, state: at.state }, at));
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
    place: Surroundings,
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
    const certain = (next ?? FREE).certain.times(count.least);
    endings.add('normal', {
      ...sum(here, { ...earlier, least, certain }),
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
