import type { Block } from '../../../grammar/index.ts';
import type { Compilers, Context } from '../context.ts';
import type { Exec } from '../frame.ts';
import { flowExpr, flowKept } from './expressions.ts';
import { OUT, spread } from './flow.ts';
import { flowBlock } from './guarded.ts';
import { flowOf } from './run.ts';
import { flowStmt } from './statements.ts';
import { flowTarget, flowTargets } from './targets.ts';

/** The compiler of a run under flow rules. */
export const FLOW_COMPILERS: Omit<Compilers, 'together'> = {
  expr: flowExpr,
  kept: flowKept,
  stmt: flowStmt,
  block: flowBlock,
  body: flowBody,
  targets: flowTargets,
  target: flowTarget,
  direct: false,
};

/** The body of a procedure, a handler or a command block, with the labels of its frame. The command blocks of a run share their frame. */
function flowBody(context: Context, block: Block): Exec {
  const flow = flowOf(context);
  const { compiled: body, effects } = flow.collect(() => flowBlock(context, block));
  return (frame) => {
    const { pc, ambient } = flow;
    if (flow.entry !== null) frame.labels = flow.entry;
    flow.entry = null;
    flow.ambient = flow.deciding;
    flow.pc = 0;
    let done: number;
    try {
      done = body(frame);
    } catch (thrown) {
      // What decided that it was called led to its error, too.
      flow.pc |= pc;
      flow.ambient = ambient;
      throw thrown;
    }
    flow.result = (frame.labels[OUT] ?? 0) | flow.pc;
    // What an early exit left out depends on what decided it.
    if (flow.pc !== 0) spread(flow, frame, effects, flow.pc);
    flow.pc = pc;
    flow.ambient = ambient;
    return done;
  };
}
