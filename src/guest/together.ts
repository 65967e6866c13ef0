import type { Block, ForStmt, Stmt, TogetherStmt, ToolCallExpr } from '../../grammar/index.ts';
import { STEP_FUEL } from '../wire/costs.ts';
import type { BranchEnd } from '../wire/protocol.ts';
import { callPure, probedTool } from './calls.ts';
import { decode } from './codec.ts';
import type { Context, Store } from './context.ts';
import { Failure, InternalError } from './errors.ts';
import { flowArguments } from './flow/calls.ts';
import { FIRST, type Flow, LAST, spread } from './flow/flow.ts';
import type { Label } from './flow/origins.ts';
import { passing } from './flow/passing.ts';
import { type Eval, type Exec, type Frame, NORMAL, type Slot } from './frame.ts';
import { answerLabel, branchOf, callTogether, type Branch as HostBranch } from './hostcalls.ts';
import { iterate } from './loops.ts';
import type { Machine } from './machine.ts';
import type { Spot } from './probe.ts';
import { asStatement } from './probed.ts';
import type { PureTool } from './puretool.ts';
import type { Value } from './values.ts';

// Calls that run together: all arguments are evaluated, all calls are made, all results are stored, each time in source order.
// So nothing that a program can see depends on the order in which the calls end.

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
  readonly work: HostBranch | { readonly tool: PureTool; readonly values: Value[]; readonly label: Label };
  /** The variables of the loop in the pass of this call. */
  readonly pass: Pass | null;
}

interface Pass {
  readonly item: Slot;
  readonly key: Slot;
  /** The labels of both, under flow rules. */
  readonly labels: readonly [item: Label, key: Label] | null;
}

interface LoopSlots {
  readonly item: number;
  readonly key: number | undefined;
}

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
  const outer = machine.flow;
  const compiled = outer?.collect(() => {
    for (const slot of key === undefined ? [item] : [item, key]) outer.effects.places.add(FIRST + slot);
    return compileCalls(context, stmt.body);
  });
  const calls = compiled?.compiled ?? compileCalls(context, stmt.body);
  const slots = { item, key };
  return (frame) => {
    const { flow } = machine;
    if (flow !== null) flow.acc = 0;
    const value = over(frame);
    frame.slots[hidden] = value;
    const prepared: Prepared[] = [];
    const body: Exec = (running) => {
      const pass = {
        item: running.slots[item],
        key: key === undefined ? undefined : running.slots[key],
        labels: flow === null ? null : labelsOf(running, slots),
      };
      prepare(machine, running, calls, pass, prepared);
      return NORMAL;
    };
    const loop = { machine, item, key, body, at: stmt.over.s };
    const [label, pc] = [flow?.acc ?? 0, flow?.pc ?? 0];
    flow?.decides(label);
    iterate(flow === null ? loop : passing(flow, loop, value, label), frame, value, stmt.item.name);
    frame.slots[hidden] = undefined;
    join(machine, frame, prepared, { at: stmt.s, slots, keepsLast });
    if (flow === null || compiled === undefined) return NORMAL;
    spread(flow, frame, compiled.effects, label);
    flow.pc = pc;
    return NORMAL;
  };
}

function compileCalls(context: Context, { stmts }: Block): readonly CompiledCall[] {
  if (context.keepsLast) context.machine.flow?.effects.places.add(LAST);
  return context.within(() =>
    stmts.map((stmt) => {
      const call = callOf(stmt);
      const { name, s: at } = call;
      const { compiled, cost } = context.separately(() => {
        context.spend();
        const isPure = context.machine.pure.has(name);
        const args = context.deeper(1, () => call.args.map((arg) => (isPure ? context.expr(arg) : context.kept(arg))));
        return { args, store: stmt.k === 'set' ? context.compilers.targets(context, stmt) : null };
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
      const { flow } = machine;
      if (pure === undefined) {
        const values = flow === null ? args.map((arg) => arg(frame)) : flowArguments(flow, args, frame);
        machine.at = at;
        return branchOf(machine, name, values);
      }
      if (flow !== null) flow.acc = 0;
      const values = args.map((arg) => arg(frame));
      machine.at = at;
      return { tool: pure, values, label: flow?.acc ?? 0 };
    });
    prepared.push({ call, work, pass });
  }
}

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
  const { flow } = machine;
  let next = 0;
  let failure: Failure | null = null;
  const labels = flow === null ? null : resultLabels(machine, flow, frame, prepared, ends);
  for (const [index, { call, work, pass }] of prepared.entries()) {
    if (slots !== null && pass !== null) bind(frame, slots, pass);
    machine.at = call.at;
    const end = 'fields' in work ? ends[next++] : undefined;
    if (flow !== null) flow.acc = labels?.[index] ?? 0;
    if (end !== undefined && !('value' in end) && failure !== null) continue;
    try {
      const value = 'fields' in work ? valueIn(machine, end) : callPure(machine, work.tool, work.values, call.at);
      call.store?.(frame, value);
      if (keepsLast) frame.last = value;
      if (keepsLast && flow !== null) frame.labels[LAST] = (labels?.[index] ?? 0) | flow.pc;
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
  if (pass.labels === null) return;
  [frame.labels[FIRST + item]] = pass.labels;
  if (key !== undefined) frame.labels[FIRST + key] = pass.labels[1];
}

/** The labels of the variables of a loop. */
function labelsOf({ labels }: Frame, { item, key }: LoopSlots): readonly [Label, Label] {
  return [labels[FIRST + item] ?? 0, key === undefined ? 0 : (labels[FIRST + key] ?? 0)];
}

/** The label of the result of each call. */
function resultLabels(
  machine: Machine,
  flow: Flow,
  frame: Frame,
  prepared: readonly Prepared[],
  ends: readonly BranchEnd[],
): readonly Label[] {
  let next = 0;
  const labels = prepared.map(({ call, work }) => {
    machine.at = call.at;
    return 'fields' in work ? answerLabel(machine, flow, frame, work.labels, ends[next++]?.labels, call.name) : work.label;
  });
  flow.settle(
    frame,
    labels.reduce((all, label) => all | label, 0),
  );
  return labels;
}

/** The value of a call of the host. Raises its failure. */
function valueIn(machine: Machine, end: BranchEnd | undefined): Value {
  if (end === undefined) throw new InternalError('a call that ran together with others has no end');
  if ('value' in end) return decode(machine, end.value);
  throw machine.failure(end.code, end.message, end.hint);
}
