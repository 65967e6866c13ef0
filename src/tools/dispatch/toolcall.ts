import { turnStorage } from '../../context/index.ts';
import { ATTR, type Span } from '../../telemetry/index.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { defined } from '../../wire/defined.ts';
import { cancelledError, languageError } from '../../wire/errorinfo.ts';
import { knownOf } from '../../wire/foreseen.ts';
import type { JournalOutcome } from '../../wire/journal.ts';
import type { CallSite, TaggedJson } from '../../wire/protocol.ts';
import type { Value } from '../../wire/values.ts';
import type { ToolDefinition } from '../define/definition.ts';
import { Halt, PolicyError, ToolError } from '../errors.ts';
import { canonicalName, MAGIC_TOOL, toolAdvice } from '../names.ts';
import { type CallQuestion, hasCallRules, patternsBefore } from '../policy/decide.ts';
import type { Denial, PolicyGuard } from '../policy/guard.ts';
import { checkArguments } from './arguments.ts';
import { unlessOver } from './callscope.ts';
import { type CallingRun, type DispatchContext, notify, type ToolCall } from './context.ts';
import { invoke } from './invoke.ts';
import { digestOf, valueFrom } from './large.ts';
import { callDigest } from './numbers.ts';
import { encodeAs, outcomeOf, replyFor } from './outcome.ts';
import { reservedBytes } from './result.ts';
import { NeedsPerson } from './suspended.ts';
import { CallMeasure } from './toolspan.ts';

/** Deepest nesting of tools that call tools. */
const MAX_DEPTH = 32;

/** Calls a tool: authorize, check the arguments, invoke, audit. Rejects with `ToolError` or `Halt`. */
export async function callTool(run: CallingRun, call: ToolCall): Promise<TaggedJson> {
  const measure = new CallMeasure(run.context, call);
  try {
    return await run.context.telemetry.span(measure.span, (span) => answerCall(run, call, span));
  } catch (error) {
    measure.failed(error);
    throw error;
  } finally {
    measure.end();
  }
}

async function answerCall(run: CallingRun, call: ToolCall, span: Span): Promise<TaggedJson> {
  let nested = 0;
  const start = performance.now();
  try {
    const tool = authorize(run, call);
    call.origin?.runs(tool);
    const args = await unlessOver(call.io, () => checkArguments(tool, call.args));
    const own = tool.setsVariables ? call : { ...call, keepsVariables: true };
    const value = await invoke(run, tool, args, own, (name, values) =>
      callNested(run, own, `${call.id()}.${callDigest(tool.canonicalName, call.args)}.${++nested}`, name, values),
    );
    if (run.context.audit !== undefined) await audit(run, run.context.audit, call, { ok: true, value }, start);
    if (run.context.telemetry.content && span.isRecording()) span.setAttribute(ATTR.toolResult, JSON.stringify(value));
    return value;
  } catch (error) {
    if (run.context.audit !== undefined) await audit(run, run.context.audit, call, outcomeOf(replyFor(error)), start);
    throw error;
  }
}

/**
 * The tool of a call, if the call may be made. Throws {@link ToolError} 3 for an unknown tool and 1003 for a call that a policy
 * denies, {@link Halt} for a denial under `onPolicyBreach: 'halt'` and for a turn that has ended, {@link NeedsPerson} for a call of a program
 * that a person may allow.
 */
function authorize(run: CallingRun, call: ToolCall): ToolDefinition {
  const { context, history } = run;
  const { name, site, depth, completion } = call;
  // A call that is completed now was allowed when it began.
  const isAllowed = call.isAllowed === true || completion !== null;
  const { tools, guards, turn, bound } = context;
  if (turn.aborted) throw new Halt(cancelledError('the turn has ended'));
  const tool = tools.lookup(name);
  if (tool === undefined) {
    const hint = toolAdvice(name, tools.names(), (only) => tools.lookup(only)?.description ?? '');
    throw new ToolError(NS_CODES.ToolNotFound, `tool '${canonicalName(name)}' not found`, hint);
  }
  const own = tools.isOwn(name);
  let asked: Denial | null = null;
  for (const guard of guards) {
    const denial = guard.denial(tool, own, questionOf(run, call, tool, guard));
    if (denial === null) continue;
    const asks = denial.breach?.outcome === 'ask';
    if (asks && isAllowed) continue;
    if (!asks || depth > 0 || context.mayWait !== true)
      refuse(run, site, guard, denial, asks ? NOBODY_TO_ASK : denial.breach?.instead);
    asked ??= denial;
  }
  // The calls of a tool are part of the granted call of that tool.
  const misplaced = depth > 0 || bound === undefined ? [] : bound.misplaced({ tool, args: call.args }, history.at(call.seq));
  for (const { reason, instead, outcome, entry } of misplaced) {
    if (outcome === 'ask' && isAllowed) continue;
    if (outcome === 'refuse' || context.mayWait !== true)
      throw new PolicyError(`outside of the grant: ${reason}`, { rule: 'grant', entry }, instead);
    throw new NeedsPerson(`outside of the grant: ${reason}; answer true to allow this call, false to refuse it`);
  }
  if (asked !== null) throw new NeedsPerson(`${asked.reason}; answer true to allow this call, false to refuse it`);
  for (const guard of guards) {
    const denial = guard.admit(tool, own);
    if (denial !== null) refuse(run, site, guard, denial);
  }
  return tool;
}

function refuse({ quotas }: CallingRun, site: CallSite, { policy }: PolicyGuard, denial: Denial, hint?: string): never {
  const { reason, rule, entry, breach } = denial;
  if (policy?.onPolicyBreach === 'halt') quotas.end(languageError(NS_CODES.Policy, reason, site));
  const labels = breach?.sources.length ? breach.sources : undefined;
  throw new PolicyError(reason, defined({ rule, entry, argument: breach?.argument ?? undefined, labels }), hint);
}

const NOBODY_TO_ASK = 'a person could allow it, but only a turn of the host loop can wait for one, and no call of another tool';

/** What a guard has to know of a call for its rules about arguments, order and origin; null when it has none that concern the tool. */
function questionOf(
  { context, history }: CallingRun,
  { args, seq, depth, origin }: ToolCall,
  tool: ToolDefinition,
  { policy }: PolicyGuard,
): CallQuestion | null {
  // Nothing outside sees what runs in the isolate.
  if (policy === null || tool.where === 'isolate' || !hasCallRules(policy, tool)) return null;
  const isTool = (canonical: string): boolean => context.tools.lookup(canonical) !== undefined;
  return { tool, args: args.map(knownOf), before: history.at(seq, depth > 0), labels: origin?.labels ?? null, isTool };
}

/**
 * Resolves when a call may begin: the calls before it for which a policy asks have ended, and its largest result has room. Undefined when
 * it may begin at once.
 */
export function beginning(
  { context, history }: CallingRun,
  tool: ToolDefinition,
  { seq, hold, io }: Pick<ToolCall, 'seq' | 'hold' | 'io'>,
): void | Promise<void> {
  const patterns = context.bound === undefined ? [] : patternsBefore(context.bound.order, tool);
  for (const { policy } of context.guards) if (policy !== null) patterns.push(...patternsBefore(policy.order, tool));
  const reserve = () => hold.reserve(reservedBytes(tool, context.limits), io);
  // A call that waits for another one holds nothing that the other may need.
  const earlier = patterns.length === 0 ? undefined : history.ended(seq, patterns);
  return earlier === undefined ? reserve() : earlier.then(reserve);
}

/** Calls a tool on behalf of the tool that answers `outer`. */
async function callNested(
  run: CallingRun,
  outer: ToolCall,
  id: string,
  name: string,
  values: readonly unknown[],
): Promise<Value> {
  const { context, quotas } = run;
  const depth = outer.depth + 1;
  if (quotas.breach !== null) throw new Halt(quotas.breach);
  if (depth > MAX_DEPTH)
    throw new ToolError(NS_CODES.ResourceExhaustion, `tools called each other more than ${MAX_DEPTH} levels deep`);
  const tool = canonicalName(name);
  // A token is what the program asks for. If tools could ask for one, no look at a program would tell whether it can end its turn.
  if (tool === MAGIC_TOOL) throw new ToolError(NS_CODES.PreconditionFailed, `${MAGIC_TOOL} can be called only by a program`);
  quotas.countNestedCall(tool);
  const problem = `tool '${tool}' argument validation failed`;
  const args: TaggedJson[] = [];
  for (const value of values) args.push(await encodeAs(NS_CODES.ArgMismatch, problem, value, context.limits.toolBytes));
  const { site, io, seq, keepsVariables = false } = outer;
  const hold = run.holds.begin(outer.hold);
  const origin = outer.origin?.nested() ?? null;
  const call: ToolCall = { id: () => id, seq, name, args, site, io, hold, depth, completion: null, keepsVariables, origin };
  try {
    const called = context.tools.lookup(name);
    if (called !== undefined) await beginning(run, called, { seq, hold, io });
    const value = await turnStorage.run(context.turn, () => callTool(run, call));
    run.history.add(seq, tool);
    return await valueFrom(value);
  } finally {
    if (origin !== null) outer.origin?.follow(origin);
    hold.release();
  }
}

async function audit(
  { context }: CallingRun,
  record: NonNullable<DispatchContext['audit']>,
  { name, args, site, depth }: ToolCall,
  outcome: JournalOutcome,
  start: number,
): Promise<void> {
  const { turn, host } = context;
  const ms = performance.now() - start;
  const { sessionId, turnIndex } = turn;
  const entry = {
    tool: canonicalName(name),
    sessionId,
    turnIndex,
    forkId: site.fork,
    actor: host.actor?.id ?? null,
    nested: depth > 0,
    args,
    argsDigest: await digestOf(args),
    outcome,
    at: turn.now(),
    ms,
  };
  notify(context, 'audit', () => record(entry));
}
