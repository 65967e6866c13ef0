import type { ForStmt, IfStmt, ReturnStmt, SetStmt, Stmt, WhileStmt } from '../../../grammar/index.ts';
import { STEP_FUEL } from '../../wire/costs.ts';
import type { Context } from '../context.ts';
import { type Eval, type Exec, type Frame, NORMAL, RETURN } from '../frame.ts';
import { inLoop, iterate } from '../loops.ts';
import { newList } from '../measure.ts';
import { listBytes } from '../memory.ts';
import { compileAsk, compileStmt } from '../statements.ts';
import { whileLoop } from '../steps.ts';
import { truthy, type Value } from '../values.ts';
import type { Effects } from './effects.ts';
import { evaluated, markAll } from './evaluated.ts';
import { FIRST, type Flow, LAST, OUT, spread } from './flow.ts';
import { guarded, unguarded } from './guarded.ts';
import { deepOf } from './held.ts';
import type { Label } from './origins.ts';
import { passing } from './passing.ts';
import { flowOf } from './run.ts';

/** Compiles one statement. A guarded one also says what an error in it would leave unset. */
export function flowStmt(context: Context, stmt: Stmt): Exec {
  const flow = flowOf(context);
  const { guard } = context;
  if (guard === null) return context.inHandler ? unguarded(flow, compiled(context, flow, stmt)) : compiled(context, flow, stmt);
  const { compiled: run, effects } = flow.collect(() => compiled(context, flow, stmt));
  return guarded(flow, run, effects, guard.handler.body);
}

function compiled(context: Context, flow: Flow, stmt: Stmt): Exec {
  switch (stmt.k) {
    case 'set':
      return compileSet(context, flow, stmt);
    case 'return':
      return context.inHandler ? compileStmt(context, stmt) : compileReturn(context, flow, stmt);
    case 'if':
      return compileIf(context, flow, stmt);
    case 'while':
      return compileWhile(context, flow, stmt);
    case 'for':
      return stmt.together === true ? compileStmt(context, stmt) : compileFor(context, flow, stmt);
    case 'break':
    case 'continue':
      flow.effects.breaks = true;
      return compileStmt(context, stmt);
    case 'call':
    case 'emit':
    case 'whisper':
    case 'must':
    case 'promptuser':
      return valued(context, flow, compileStmt(context, stmt), stmt.k);
    case 'ask': {
      const run = compileAsk(context, stmt, (frame, asked) => askedOf(flow, frame, asked));
      return valued(context, flow, run, stmt.k);
    }
    case 'clear_error':
      flow.effects.clearsError = true;
      return compileStmt(context, stmt);
    case 'clear_event':
      flow.effects.clears = true;
      return plain(flow, compileStmt(context, stmt), true);
    default:
      return plain(flow, compileStmt(context, stmt), false);
  }
}

/** What is asked, with the labels of each part in `args`: whom, what, and how. */
function askedOf(flow: Flow, frame: Frame, evals: readonly Eval[]): readonly Value[] {
  const labels: Label[] = [];
  const values = evaluated(flow, frame, evals, labels);
  flow.args = labels.map((all) => ({ all, entries: null }));
  return values;
}

/** A statement without a value. */
function plain(flow: Flow, run: Exec, clears: boolean): Exec {
  return (frame) => {
    flow.acc = 0;
    const done = run(frame);
    flow.risk |= flow.acc;
    if (clears) flow.cleared |= flow.acc | flow.pc | flow.ambient;
    return done;
  };
}

/** A statement whose value may be that of `last` or of the procedure. */
function valued(context: Context, flow: Flow, run: Exec, kind: Stmt['k']): Exec {
  const { top, keepsLast } = context;
  keepsValue(flow, context);
  if (kind === 'emit') flow.effects.emits = true;
  if (kind === 'whisper') flow.effects.whispers = true;
  return (frame) => {
    flow.acc = 0;
    const done = run(frame);
    const label = flow.acc | flow.pc;
    flow.risk |= flow.acc;
    if (top) frame.labels[OUT] = label;
    if (keepsLast) frame.labels[LAST] = label;
    if (kind === 'emit') flow.output |= label | flow.ambient;
    else if (kind === 'whisper') flow.scratchpad |= label | flow.ambient;
    return done;
  };
}

/** The value of a statement may become that of `last` and the result. */
function keepsValue({ effects }: Flow, { top, keepsLast }: Context): void {
  if (top) effects.places.add(OUT);
  if (keepsLast) effects.places.add(LAST);
}

function compileSet(context: Context, flow: Flow, stmt: SetStmt): Exec {
  const { top, keepsLast } = context;
  const value = context.stored(stmt.value);
  const store = context.compilers.targets(context, stmt);
  keepsValue(flow, context);
  return (frame) => {
    flow.acc = 0;
    const stored = value(frame);
    const label = flow.acc;
    flow.risk |= label;
    store(frame, stored);
    if (top) {
      frame.out = stored;
      frame.labels[OUT] = label | flow.pc;
    }
    if (keepsLast) {
      frame.last = stored;
      frame.labels[LAST] = label | flow.pc;
    }
    return NORMAL;
  };
}

function compileReturn(context: Context, flow: Flow, stmt: ReturnStmt): Exec {
  const { machine } = context;
  flow.effects.returns = true;
  const [first] = stmt.values;
  if (stmt.values.length <= 1) {
    const run = compileStmt(context, stmt);
    return (frame) => {
      flow.acc = 0;
      const done = run(frame);
      flow.risk |= flow.acc;
      frame.labels[OUT] = (first === undefined ? 0 : flow.acc) | flow.pc;
      return done;
    };
  }
  const values = stmt.values.map((value) => context.stored(value));
  context.spend(values.length);
  return (frame) => {
    flow.acc = 0;
    const labels: Label[] = [];
    const items = evaluated(flow, frame, values, labels);
    machine.at = stmt.s;
    machine.allocate(listBytes(items.length));
    const list = newList(machine, items);
    markAll(machine, flow, list, labels);
    frame.out = list;
    frame.labels[OUT] = flow.pc;
    return RETURN;
  };
}

/** What the branches may set depends on the condition, whichever of them runs. After a branch that may leave, so does all that follows. */
function compileIf(context: Context, flow: Flow, stmt: IfStmt): Exec {
  const condition = context.kept(stmt.cond);
  const { compiled, effects } = flow.collect((): readonly [Exec, Exec] => [
    context.nested(stmt.then),
    stmt.else === undefined ? (): number => NORMAL : context.nested(stmt.else),
  ]);
  const [whenTrue, whenFalse] = compiled;
  const leaves = effects.breaks || effects.returns;
  return (frame) => {
    flow.acc = 0;
    const holds = truthy(condition(frame));
    const label = flow.acc;
    flow.risk |= label;
    const { pc } = flow;
    flow.pc = pc | label;
    const done = (holds ? whenTrue : whenFalse)(frame);
    if (label !== 0) spread(flow, frame, effects, flow.pc);
    if (!leaves) flow.pc = pc;
    return done;
  };
}

function compileWhile(context: Context, flow: Flow, stmt: WhileStmt): Exec {
  const { machine } = context;
  const { compiled, effects } = flow.collect(
    () => ({ ...context.separately(() => context.kept(stmt.cond)), body: inLoop(context, stmt) }),
    true,
  );
  const { compiled: test, cost, body } = compiled;
  const condition: Eval = (frame) => {
    flow.acc = 0;
    const holds = test(frame);
    flow.decides(flow.acc);
    return holds;
  };
  const run = whileLoop(machine, condition, body, STEP_FUEL.pass.amount + cost, stmt.cond.s);
  return eitherForm(context, flow, stmt, afterLoop(flow, run, effects), effects.hidden);
}

/**
 * A loop that runs in the form without labels as long as nothing it can read carries one. A handler around it may make calls in the middle of
 * it, and so bring in labels.
 */
function eitherForm(context: Context, flow: Flow, stmt: ForStmt | WhileStmt, labelled: Exec, hidden: readonly number[]): Exec {
  const { guard, linkage } = context;
  const { unlabelled } = linkage;
  const block = { stmts: [stmt] };
  if (unlabelled === null || guard !== null || !unlabelled.isQuiet(block)) return labelled;
  const slots = unlabelled.slotsOf(context, block);
  const form = unlabelled.within(context, hidden, (inner) => compileStmt(inner, stmt));
  return (frame) => {
    if (!flow.isClear || !carriesNone(frame, slots)) return labelled(frame);
    flow.acc = 0;
    const done = form()(frame);
    if (done === RETURN) frame.labels[OUT] = 0;
    return done;
  };
}

function carriesNone(frame: Frame, slots: readonly number[]): boolean {
  const { labels } = frame;
  if (labels[LAST] !== 0 || deepOf(frame.last) !== 0) return false;
  for (const slot of slots) if (labels[FIRST + slot] !== 0 || deepOf(frame.slots[slot] ?? null) !== 0) return false;
  return true;
}

/** What a loop may set depends on all that decided about its passes. */
function afterLoop(flow: Flow, run: Exec, effects: Effects): Exec {
  return (frame) => {
    const { pc, decided } = flow;
    flow.decided = 0;
    const done = run(frame);
    if (flow.pc !== pc || flow.decided !== 0) spread(flow, frame, effects, flow.pc);
    flow.decided = decided;
    if (!effects.returns) flow.pc = pc;
    return done;
  };
}

function compileFor(context: Context, flow: Flow, stmt: ForStmt): Exec {
  const { machine, scope } = context;
  const over = context.stored(stmt.over);
  const hidden = scope.hidden();
  flow.effects.hidden.push(hidden);
  const item = scope.slot(stmt.item.name);
  const key = stmt.key === undefined ? undefined : scope.slot(stmt.key.name);
  const { compiled: body, effects } = flow.collect(() => {
    for (const slot of key === undefined ? [item] : [item, key]) flow.effects.places.add(FIRST + slot);
    return inLoop(context, stmt);
  }, true);
  const loop = { machine, item, key, at: stmt.over.s };
  const run: Exec = (frame) => {
    flow.acc = 0;
    const value = over(frame);
    const label = flow.acc;
    flow.decides(label);
    frame.slots[hidden] = value;
    const done = iterate(passing(flow, { ...loop, body }, value, label), frame, value, stmt.item.name);
    frame.slots[hidden] = undefined;
    return done;
  };
  return eitherForm(context, flow, stmt, afterLoop(flow, run, effects), [hidden, ...effects.hidden]);
}
