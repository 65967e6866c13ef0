import type { Expr } from '../../grammar/index.ts';
import { STEP_FUEL } from '../wire/costs.ts';
import type { GuestBlock } from '../wire/protocol.ts';
import { compileBlock } from './blocks.ts';
import { type Compilers, Context, type Linkage, type UnitKind } from './context.ts';
import type { FramePlace } from './errors.ts';
import { compileExpr } from './expressions.ts';
import type { Eval, Exec, Layout, Slot } from './frame.ts';
import type { LoadedFile } from './loadedfile.ts';
import type { Machine } from './machine.ts';
import { frameBytes } from './memory.ts';
import { probedFork } from './probed.ts';
import type { Compiled, Source } from './procedure.ts';
import { Scope } from './scope.ts';
import { compileStmt } from './statements.ts';
import { compileTarget, compileTargets } from './targets.ts';
import { WORK } from './work.ts';

const CALL = STEP_FUEL.call.amount;

/** The compiler of a run without flow rules. */
export const COMPILERS: Omit<Compilers, 'together'> = {
  expr: compileExpr,
  kept: compileExpr,
  stmt: compileStmt,
  block: compileBlock,
  body: compileBlock,
  targets: compileTargets,
  target: compileTarget,
  direct: true,
};

/** What all procedures, handlers and command blocks of a run are compiled against. */
export interface CompileContext {
  readonly machine: Machine;
  readonly linkage: Linkage;
  readonly compilers: Compilers;
}

/** One block, and the place of the procedure, handler or command block that it is the body of. */
export interface Body {
  readonly place: FramePlace;
  readonly block: GuestBlock;
}

/** Compiles a procedure or event handler. The first `last` in it makes it compile again, this time keeping the values for `last`. */
export function compileUnit(run: CompileContext, source: Source, checked: boolean): Compiled {
  const { place, kind, needs, optional } = source;
  const { bodies, ...rest } = compileBodies(run, [{ place, block: source.block() }], kind, [...needs, ...optional], checked);
  const [only] = bodies;
  if (only === undefined) throw new RangeError('a unit has no body');
  return { ...rest, body: only };
}

/** Several blocks that share their variables, as the command blocks of a run do. */
export interface CompiledBodies extends Omit<Compiled, 'body'> {
  readonly bodies: readonly Exec[];
}

export function compileBodies(
  run: CompileContext,
  bodies: readonly Body[],
  kind: UnitKind,
  parameters: readonly string[],
  checked: boolean,
  keepsLast = false,
): CompiledBodies {
  const scope = new Scope();
  for (const name of parameters) scope.parameter(name);
  let sawLast = false;
  let deepest = 0;
  let entryFuel = CALL;
  const { probe } = run.machine;
  const compiled = bodies.map(({ place, block }) => {
    const context = new Context(run.machine, run.linkage, run.compilers, place.file, {
      kind,
      scope,
      keepsLast,
      checked,
    });
    const exec = run.compilers.body(context, block);
    sawLast ||= context.sawLast;
    deepest = Math.max(deepest, context.deepest);
    entryFuel += context.entryFuel;
    if (probe === null) return exec;
    return probedFork(probe, exec, probe.spot(kind === 'command' ? 'commands' : kind, place), context.entryFuel);
  });
  if (sawLast && !keepsLast) return compileBodies(run, bodies, kind, parameters, checked, true);
  const bytes = frameBytes(scope.size);
  const paced = bytes > LARGE_FRAME ? compiled.map((exec) => slowed(run.machine, exec, bytes)) : compiled;
  // A missing argument is nil even if a global has the parameter's name (P7).
  const blank: Slot[] = new Array<Slot>(scope.size).fill(undefined).fill(null, 0, parameters.length);
  return { scope, bodies: paced, blank, frameBytes: bytes, entryFuel, deepest };
}

/** Making a frame of at most this size takes no time beside the call. */
const LARGE_FRAME = 4096;

/** A body whose frame has hundreds of variables: it pays for the time of making the frame. */
function slowed(machine: Machine, exec: Exec, bytes: number): Exec {
  return (frame) => {
    machine.pay(WORK.frame, bytes);
    return exec(frame);
  };
}

/** An expression that stands alone, as the name of an event does. */
export interface CompiledExpr extends Layout {
  readonly blank: readonly Slot[];
  readonly eval: Eval;
  /** Fuel of its operations, to be paid before it is evaluated. */
  readonly fuel: number;
  readonly deepest: number;
}

export function compileAlone(run: CompileContext, file: LoadedFile, expr: Expr): CompiledExpr {
  const scope = new Scope();
  const unit = { kind: 'event', scope, keepsLast: true, checked: false } as const;
  const context = new Context(run.machine, run.linkage, run.compilers, file, unit);
  const { compiled, cost } = context.separately(() => context.expr(expr));
  return {
    scope,
    frameBytes: frameBytes(scope.size),
    blank: new Array<Slot>(scope.size).fill(undefined),
    eval: compiled,
    fuel: cost,
    deepest: context.deepest,
  };
}
