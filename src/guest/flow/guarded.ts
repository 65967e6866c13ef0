import type { Block } from '../../../grammar/index.ts';
import { ERROR_VARIABLES } from '../../../grammar/vocabulary/builtins.ts';
import { compileBlock } from '../blocks.ts';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';
import { type Exec, rareOf } from '../frame.ts';
import { Effects } from './effects.ts';
import { FIRST, type Flow, spread } from './flow.ts';
import { flowOf } from './run.ts';

/** A statement of a handler. If it had failed, another handler may have gone on behind all that follows. */
export function unguarded(flow: Flow, run: Exec): Exec {
  return (frame) => {
    const done = run(frame);
    if (flow.guards > 1) flow.pc |= flow.risk;
    return done;
  };
}

/**
 * A statement that a handler guards. Whether it fails may depend on the labels that it reads, and then so does what it sets and what the
 * handler sets: in this run, and in the run in which the other thing happens.
 */
export function guarded(flow: Flow, run: Exec, effects: Effects, handler: Block): Exec {
  // A statement that fails does not leave the loop or the procedure.
  const leaves = effects.breaks || effects.returns || effects.handles;
  return (frame) => {
    const { pc, ambient, risk } = flow;
    flow.acc = flow.risk = 0;
    let done: number;
    try {
      done = run(frame);
    } catch (thrown) {
      if (thrown instanceof Failure) {
        const fault = flow.acc | flow.pc | flow.risk;
        spread(flow, frame, effects, fault);
        const handling = flow.handlers.get(handler);
        // What the handler leaves unset, too.
        if (handling !== undefined && resumes(flow, handling)) spread(flow, frame, handling, fault);
        flow.pc = leaves ? pc | fault : pc;
        flow.ambient = ambient;
        flow.risk = risk | fault;
        flow.fault = fault;
        flow.before = leaves ? risk | fault : risk;
      }
      throw thrown;
    }
    const label = flow.risk;
    const handling = flow.handlers.get(handler);
    const leaving = handling === undefined || leaves || raises(flow, handling);
    flow.risk = leaving ? risk | label : risk;
    if (label === 0 || handling === undefined || !resumes(flow, handling)) return done;
    spread(flow, frame, effects, label);
    spread(flow, frame, handling, label);
    if (leaving) flow.pc |= label;
    return done;
  };
}

/** Whether the frame may go on after an error. Otherwise the error ends the run, and nothing shows what it left unset. */
function resumes(flow: Flow, handling: Effects): boolean {
  return handling.clearsError || raises(flow, handling);
}

/**
 * Whether what follows a guarded statement runs only if it did not fail: the handler may leave a loop, or another one may get the error.
 * An error that no handler clears ends the run, and a run that ended shows nothing more.
 */
function raises(flow: Flow, handling: Effects): boolean {
  return handling.breaks || flow.guards > 1;
}

/** Compiles a block. The body of a handler runs because of an error, and its variables carry the labels of that error. */
export function flowBlock(context: Context, block: Block): Exec {
  const flow = flowOf(context);
  if (flow.handlers.has(block)) return compileHandlerBody(context, flow, block);
  return ownGuard(context, flow, block);
}

function ownGuard(context: Context, flow: Flow, block: Block): Exec {
  const { onError } = block;
  if (onError === undefined) {
    const run = compileBlock(context, block);
    return context.guard === null ? run : within(flow, run);
  }
  flow.effects.handles = true;
  flow.handlers.set(onError.body, new Effects());
  const run = within(flow, compileBlock(context, block));
  return (frame) => {
    const { guards } = flow;
    flow.guards = guards + 1;
    // Where nothing handled an error, none happened.
    if (guards === 0) flow.risk = 0;
    try {
      return run(frame);
    } finally {
      flow.guards = guards;
    }
  };
}

/** A block whose statements are guarded. It runs only if what came before in the statement around it did not fail. */
function within(flow: Flow, run: Exec): Exec {
  return (frame) => {
    const { ambient, risk } = flow;
    flow.ambient = ambient | risk;
    flow.risk = 0;
    try {
      return run(frame);
    } finally {
      flow.ambient = ambient;
      flow.risk |= risk;
    }
  };
}

function compileHandlerBody(context: Context, flow: Flow, block: Block): Exec {
  const errors = [...ERROR_VARIABLES].map((name) => FIRST + context.scope.slot(name));
  const { compiled: run, effects } = flow.collect(() => ownGuard(context, flow, block));
  for (const place of errors) effects.places.add(place);
  flow.handlers.set(block, effects);
  return (frame) => {
    const { pc, fault, before } = flow;
    flow.pc = pc | fault;
    for (const place of errors) frame.labels[place] = pc | fault;
    const done = run(frame);
    // Whether the handler left a loop, or failed itself, depends on more than why it runs.
    if (raises(flow, effects)) flow.pc |= flow.risk;
    else {
      flow.pc = pc;
      if (rareOf(frame).cleared) flow.risk = before;
    }
    return done;
  };
}
