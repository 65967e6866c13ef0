import { createHash } from 'node:crypto';
import { canonicalName, type PolicyGuard, type ToolDefinition, type ToolView } from '../tools/index.ts';
import { STORED_VERSION } from '../wire/forms.ts';
import type { LimitKey, LimitValues } from '../wire/limits.ts';
import type { Preview, PreviewBound, PreviewCall, PreviewVerdict } from '../wire/preview.ts';
import type { ForeseeOptions, RunInput } from '../wire/protocol.ts';
import type { Diagnostic, Foreseen, ForeseenCall } from '../wire/sourcereports.ts';
import { TURN_TOOL } from './check.ts';

/** The preview of sources, or why they cannot run. */
export type ForeseeResult =
  | { readonly ok: true; readonly preview: Preview; readonly diagnostics: readonly [] }
  /** The syntax errors. */
  | { readonly ok: false; readonly preview: null; readonly diagnostics: readonly Diagnostic[] };

/** The global variable of turns with USERDATA. */
const USERDATA = 'userdata';

const OF_TURN: PreviewVerdict = { allowed: true, reason: 'every turn has it', rule: null, approval: false };

/** The data of a run that the worker needs to foresee it. */
export function foreseeOptions(input: RunInput, tools: ToolView, guards: readonly PolicyGuard[]): ForeseeOptions {
  const { globals, constants = {}, pure = [], call, events, turn } = input;
  const known = tools.names().flatMap((name) => tools.lookup(name) ?? []);
  const admitted = (tool: ToolDefinition): boolean =>
    guards.every((guard) => guard.denial(tool, tools.isOwn(tool.canonicalName)) === null);
  return {
    values: globals,
    globals: turn && globals[USERDATA] === undefined ? [USERDATA] : [],
    constants: Object.keys(constants),
    pure,
    keeping: [TURN_TOOL.name, ...known.filter(({ setsVariables }) => !setsVariables).map(({ canonicalName: name }) => name)],
    anyConstant: known.some((tool) => tool.requiresTrust && tool.setsVariables && admitted(tool)),
    events: events.map(({ name }) => name),
    ...(call === null ? {} : { call }),
  };
}

/** The preview, with verdicts and within the limits of the run. */
export function previewOf(foreseen: Foreseen, input: RunInput, tools: ToolView, guards: readonly PolicyGuard[]): Preview {
  const { limits } = input;
  const calls = foreseen.calls.map((call, index): PreviewCall => {
    const made = previewCall(call, index + 1, limits, tools, guards);
    return input.turn && call.name === TURN_TOOL.name ? { ...made, effects: 'none', verdict: OF_TURN } : made;
  });
  const tooled = calls.filter(({ name }) => isTool(name)).reduce((sum, { most }) => sum + (most ?? limits.toolCalls), 0);
  return {
    version: STORED_VERSION,
    sources: input.sources.map(({ name, text }) => ({ name, sha256: createHash('sha256').update(text).digest('hex') })),
    calls,
    fuel: within(foreseen.fuel, limits.fuel),
    memoryBytes: within(foreseen.memoryBytes, limits.memoryBytes),
    outputBytes: within(foreseen.outputBytes, limits.outputBytes),
    scratchBytes: within(foreseen.scratchBytes, limits.scratchBytes),
    toolCalls: within(calls.some(({ name }) => name === 'ask') ? null : tooled, limits.toolCalls),
    because: foreseen.because,
  };
}

function within(most: number | null, limit: number): PreviewBound {
  return most !== null && most <= limit ? { most, by: 'program' } : { most: limit, by: 'limit' };
}

function isTool(name: string): boolean {
  return name.startsWith('tool.');
}

function previewCall(
  call: ForeseenCall,
  number: number,
  limits: LimitValues,
  tools: ToolView,
  guards: readonly PolicyGuard[],
): PreviewCall {
  if (!isTool(call.name)) return { ...call, number, effects: null, verdict: null, limitedBy: null };
  const tool = tools.lookup(call.name);
  const [most, limitedBy] = lowest(call.most, [
    ['toolCalls', limits.toolCalls],
    ['toolCallsPerTool', limits.toolCallsPerTool],
  ]);
  return { ...call, number, most, limitedBy, effects: tool?.effects ?? null, verdict: verdictOf(call.name, tool, tools, guards) };
}

type Limits = readonly (readonly [LimitKey, number])[];

function lowest(own: number | null, limits: Limits): readonly [number, LimitKey | null] {
  let [most, by]: readonly [number, LimitKey | null] = [own ?? Number.POSITIVE_INFINITY, null];
  for (const [key, limit] of limits) if (limit < most) [most, by] = [limit, key];
  return [most, by];
}

function verdictOf(
  name: string,
  tool: ToolDefinition | undefined,
  tools: ToolView,
  guards: readonly PolicyGuard[],
): PreviewVerdict {
  if (tool === undefined)
    return { allowed: false, reason: `tool '${canonicalName(name)}' not found`, rule: null, approval: false };
  const verdicts = guards.map((guard) => guard.verdict(tool, tools.isOwn(name)));
  const decides = verdicts.find(({ allowed }) => !allowed) ?? verdicts[0];
  return {
    allowed: decides?.allowed ?? true,
    reason: decides?.reason ?? 'no policy judges it',
    rule: decides?.rule ?? null,
    approval: tool.requiresApproval,
  };
}
