import type { Block, ForStmt, Stmt, TogetherStmt, ToolCallExpr } from '../../grammar/index.ts';
import { STEP_FUEL } from '../wire/costs.ts';
import type { BranchEnd } from '../wire/protocol.ts';
import { callPure, probedTool } from './calls.ts';
import { decode } from './codec.ts';
import type { Context } from './context.ts';
import { Failure, InternalError } from './errors.ts';
import { type Eval, type Exec, type Frame, NORMAL, type Slot } from './frame.ts';
import { branchOf, callTogether, type Branch as HostBranch } from './hostcalls.ts';
import { iterate } from './loops.ts';
import type { Machine } from './machine.ts';
import type { Spot } from './probe.ts';
import { asStatement } from './probed.ts';
import type { PureTool } from './puretool.ts';
import { compileTargets, type Store } from './targets.ts';
import type { Value } from './values.ts';

// Calls that run together: all arguments are evaluated, all calls are made, all results are stored, each time in source order.
// So nothing that a program can see depends on the order in which the calls end.

/** One call of the block, compiled. */
interface CompiledCall {
  readonly name: string;
  readonly at: number;
  readonly fuel: number;
  readonly args: readonly Eval[];
  readonly pure: PureTool | undefined;
  /** Its place, in a measured run. */
  readonly spot: Spot | null;
  /** Null for a result that nobody wants. */
  readonly store: Store | null;
}

/** A call with its evaluated arguments: for the host, or for a tool inside the isolate. */
interface Prepared {
  readonly call: CompiledCall;
  readonly work: HostBranch | { readonly tool: PureTool; readonly values: Value[] };
  /** The variables of the loop in the pass of this call. */
  readonly pass: Pass | null;
}

interface Pass {
  readonly item: Slot;
  readonly key: Slot;
}

/** The slots of the variables of a loop. */
interface LoopSlots {
  readonly item: number;
  readonly key: number | undefined;
}

/** `together … endtogether`. */
export function compileTogether(context: Context, { body, s: at }: TogetherStmt): Exec {
  const calls = compileCalls(context, body);
  const { machine, keepsLast } = context;
  return (frame) => {
    const prepared: Prepared[] = [];
    prepare(machine, frame, calls, null, prepared);
    join(machine, frame, prepared, { at, slots: null, keepsLast });
    return NORMAL;
  };
}

/** `for each … in … together`: the calls of all passes run together. */
export function compileForTogether(context: Context, stmt: ForStmt): Exec {
  const { machine, scope, keepsLast } = context;
  const over = context.stored(stmt.over);
  // As in an ordinary loop, the hidden variable keeps the items from changing.
  const hidden = scope.hidden();
  const item = scope.slot(stmt.item.name);
  const key = stmt.key === undefined ? undefined : scope.slot(stmt.key.name);
  const calls = compileCalls(context, stmt.body);
  const slots = { item, key };
  return (frame) => {
    const value = over(frame);
    frame.slots[hidden] = value;
    const prepared: Prepared[] = [];
    const body: Exec = (running) => {
      const pass = { item: running.slots[item], key: key === undefined ? undefined : running.slots[key] };
      prepare(machine, running, calls, pass, prepared);
      return NORMAL;
    };
    iterate({ machine, item, key, body, at: stmt.over.s }, frame, value, stmt.item.name);
    frame.slots[hidden] = undefined;
    join(machine, frame, prepared, { at: stmt.s, slots, keepsLast });
    return NORMAL;
  };
}

function compileCalls(context: Context, { stmts }: Block): readonly CompiledCall[] {
  return context.within(() =>
    stmts.map((stmt) => {
      const call = callOf(stmt);
      const { name, s: at } = call;
      const { compiled, cost } = context.separately(() => {
        context.spend();
        const args = context.deeper(1, () => call.args.map((arg) => context.expr(arg)));
        return { args, store: stmt.k === 'set' ? compileTargets(context, stmt) : null };
      });
      const { machine, file } = context;
      const pure = machine.pure.get(name);
      return {
        ...compiled,
        name,
        at,
        fuel: STEP_FUEL.statement.amount + cost,
        pure: pure === undefined ? undefined : probedTool(machine, name, pure),
        spot: machine.probe?.spot('statement', { name: stmt.k, file, at: stmt.s }) ?? null,
      };
    }),
  );
}

/** The parser lets no other statement into such a block. */
function callOf(stmt: Stmt): ToolCallExpr {
  if (stmt.k === 'call' && stmt.call.k === 'tool') return stmt.call;
  if (stmt.k === 'set' && stmt.value.k === 'tool') return stmt.value;
  throw new InternalError(`a statement '${stmt.k}' among calls that run together`);
}

/** Pays for calls as for statements, and evaluates their arguments. */
function prepare(machine: Machine, frame: Frame, calls: readonly CompiledCall[], pass: Pass | null, prepared: Prepared[]): void {
  for (const call of calls) {
    const { name, at, fuel, args, pure, spot } = call;
    const work = asStatement(machine, spot, () => {
      machine.step(fuel, at);
      const values = args.map((arg) => arg(frame));
      machine.at = at;
      return pure === undefined ? branchOf(machine, name, values) : { tool: pure, values };
    });
    prepared.push({ call, work, pass });
  }
}

/** What the join of a block needs. */
interface Join {
  /** The place of the block. */
  readonly at: number;
  readonly slots: LoopSlots | null;
  readonly keepsLast: boolean;
}

/**
 * Makes the calls, then stores their results. A call that fails, or whose result cannot be stored, keeps no other result from being
 * stored. The first failure is raised at the end.
 */
function join(machine: Machine, frame: Frame, prepared: readonly Prepared[], { at, slots, keepsLast }: Join): void {
  const branches = prepared.flatMap(({ work }) => ('fields' in work ? [work] : []));
  const ends = branches.length === 0 ? [] : callTogether(machine, frame, branches, at);
  let next = 0;
  let failure: Failure | null = null;
  for (const { call, work, pass } of prepared) {
    if (slots !== null && pass !== null) bind(frame, slots, pass);
    machine.at = call.at;
    const end = 'fields' in work ? ends[next++] : undefined;
    if (end !== undefined && !('value' in end) && failure !== null) continue;
    try {
      const value = 'fields' in work ? valueIn(machine, end) : callPure(machine, work.tool, work.values, call.at);
      call.store?.(frame, value);
      if (keepsLast) frame.last = value;
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown;
      machine.leaveTo(frame);
      failure ??= thrown;
    }
  }
  if (failure !== null) throw failure;
}

function bind(frame: Frame, { item, key }: LoopSlots, pass: Pass): void {
  frame.slots[item] = pass.item;
  if (key !== undefined) frame.slots[key] = pass.key;
}

/** The value of a call of the host. Raises its failure. */
function valueIn(machine: Machine, end: BranchEnd | undefined): Value {
  if (end === undefined) throw new InternalError('a call that ran together with others has no end');
  if ('value' in end) return decode(machine, end.value);
  throw machine.failure(end.code, end.message, end.hint);
}
