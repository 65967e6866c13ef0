import { turnStorage } from '../../context/index.ts';
import { ATTR, type Span } from '../../telemetry/index.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { cancelledError, languageError } from '../../wire/errorinfo.ts';
import type { JournalOutcome } from '../../wire/journal.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import type { Value } from '../../wire/values.ts';
import type { ToolDefinition } from '../define/definition.ts';
import { Halt, ToolError } from '../errors.ts';
import { canonicalName, MAGIC_TOOL, toolAdvice } from '../names.ts';
import { checkArguments } from './arguments.ts';
import { type CallingRun, notify, type ToolCall } from './context.ts';
import { invoke } from './invoke.ts';
import { digestOf, valueFrom } from './large.ts';
import { encodeAs, outcomeOf, replyFor } from './outcome.ts';
import { CallMeasure } from './toolspan.ts';

/** Deepest nesting of tools that call tools. */
const MAX_DEPTH = 32;

/** Calls a tool: authorize, check the arguments, invoke, audit. Rejects with `ToolError` or `Halt`. */
export async function callTool(run: CallingRun, call: ToolCall): Promise<TaggedJson> {
  const { telemetry } = run.context;
  using measure = new CallMeasure(run.context, call);
  return await telemetry.span(measure.span, (span) => answerCall(run, call, span));
}

async function answerCall(run: CallingRun, call: ToolCall, span: Span): Promise<TaggedJson> {
  let nested = 0;
  const start = performance.now();
  try {
    const tool = authorize(run, call);
    const args = await checkArguments(tool, call.args);
    const own = tool.setsVariables ? call : { ...call, keepsVariables: true };
    const value = await invoke(run, tool, args, own, (name, values) =>
      callNested(run, own, `${call.id}.${++nested}`, name, values),
    );
    await audit(run, call, { ok: true, value }, start);
    if (run.context.telemetry.content && span.isRecording()) span.setAttribute(ATTR.toolResult, JSON.stringify(value));
    return value;
  } catch (error) {
    await audit(run, call, outcomeOf(replyFor(error)), start);
    throw error;
  }
}

/**
 * The tool of a call, if the call may be made. Throws {@link ToolError} 3 for an unknown tool and 1003 for a call that a policy
 * denies, {@link Halt} for a denial under `onPolicyBreach: 'halt'` and for a turn that has ended.
 */
function authorize({ context, quotas }: CallingRun, { name, site }: ToolCall): ToolDefinition {
  const { tools, guards, turn } = context;
  if (turn.aborted) throw new Halt(cancelledError('the turn has ended'));
  const tool = tools.lookup(name);
  if (tool === undefined) {
    const hint = toolAdvice(name, tools.names(), (only) => tools.lookup(only)?.description ?? '');
    throw new ToolError(NS_CODES.ToolNotFound, `tool '${canonicalName(name)}' not found`, hint);
  }
  for (const guard of guards) {
    const denial = guard.admit(tool, tools.isOwn(name));
    if (denial === null) continue;
    if (guard.policy?.onPolicyBreach === 'halt') quotas.end(languageError(NS_CODES.Policy, denial.reason, site));
    throw new ToolError(NS_CODES.Policy, denial.reason);
  }
  return tool;
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
  const { site, io, keepsVariables = false } = outer;
  const hold = run.holds.begin(outer.hold);
  const call: ToolCall = { id, name, args, site, io, hold, depth, completion: null, keepsVariables };
  try {
    return await valueFrom(await turnStorage.run(context.turn, () => callTool(run, call)));
  } finally {
    hold.release();
  }
}

async function audit(
  { context }: CallingRun,
  { name, args, site, depth }: ToolCall,
  outcome: JournalOutcome,
  start: number,
): Promise<void> {
  const { audit: record, turn, host } = context;
  if (record === undefined) return;
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
