import { createHash } from 'node:crypto';
import {
  type Breach,
  type CallQuestion,
  callDepth,
  canonicalName,
  decideCall,
  type Grant,
  type PastCalls,
  type Policy,
  PolicyGuard,
  type ToolDefinition,
  type ToolRegistry,
  type ToolView,
} from '../tools/index.ts';
import { defined } from '../wire/defined.ts';
import { STORED_VERSION } from '../wire/forms.ts';
import type { LimitKey, LimitValues } from '../wire/limits.ts';
import type { Preview, PreviewBound, PreviewCall, PreviewVerdict } from '../wire/preview.ts';
import type { ForeseeOptions, RunInput, Source } from '../wire/protocol.ts';
import type { BrokenCall, CheckReport, Diagnostic, Foreseen, ForeseenCall, LintFinding } from '../wire/sourcereports.ts';
import { TURN_TOOL } from './check.ts';
import type { SandboxPort } from './context.ts';
import { foreseenCost, foreseenCosts } from './foreseencosts.ts';
import { foreseenLabels } from './foreseenlabels.ts';
import { ForeseenOrder } from './foreseenorder.ts';

/** The preview of sources and the grant that allows just what they can do, or why they cannot run. */
export type ForeseeResult =
  /** What the sources can do, and the grant for just that. */
  | { readonly ok: true; readonly preview: Preview; readonly grant: Grant; readonly diagnostics: readonly [] }
  /** The syntax errors. */
  | { readonly ok: false; readonly preview: null; readonly grant: null; readonly diagnostics: readonly Diagnostic[] };

/** The global variable of turns with USERDATA. */
export const USERDATA = 'userdata';

const OF_TURN: PreviewVerdict = {
  allowed: true,
  reason: 'every turn has it',
  rule: null,
  approval: false,
  policy: 'keeps',
  path: [],
};

/** The words without which no program goes on after a call that failed. */
const CATCHES = /\bon\s+error\b|\btogether\b/i;

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

/** The preview, with verdicts and within the limits of the run. `past` has the calls before the run; null when they are not known. */
export function previewOf(
  foreseen: Foreseen,
  input: RunInput,
  tools: ToolView,
  guards: readonly PolicyGuard[],
  past: PastCalls | null,
): Preview {
  const { limits, sources } = input;
  const order = orderOf(foreseen, sources, past);
  const calls = foreseen.calls.map((call, index): PreviewCall => {
    const decidedBy = deciding(call, foreseen.calls);
    const made = defined({ ...previewCall(call, index + 1, limits, tools, guards, order), decidedBy });
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
    cost: foreseenCosts(calls, limits.cost),
    because: foreseen.because,
  };
}

/** The calls before each foreseen call. */
export function orderOf({ calls }: Foreseen, sources: readonly Source[], past: PastCalls | null): ForeseenOrder {
  const catches = sources.some(({ text }) => CATCHES.test(text));
  return new ForeseenOrder({ calls, files: sources.map(({ name }) => name), past, catches });
}

/** The report with the calls that the policy refuses for certain because of their arguments or their order. */
export async function withBrokenRules(
  report: CheckReport,
  sources: readonly Source[],
  { sandbox, registry, limits }: { readonly sandbox: SandboxPort; readonly registry: ToolRegistry; readonly limits: LimitValues },
  policy: Policy,
): Promise<CheckReport> {
  if (report.diagnostics.length > 0 || !hasSureRules(policy)) return report;
  const [tools, guard] = [registry.forFork('check'), new PolicyGuard(policy)];
  const keeping = tools.names().filter((name) => tools.lookup(name)?.setsVariables === false);
  // Nothing is known of the variables that the program finds, and any event may be delivered.
  const options = { values: {}, globals: [], constants: [], pure: tools.pureNames([guard]), keeping, anyConstant: true };
  const { foreseen } = await sandbox.foresee(sources, limits.sourceBytes, options, callDepth());
  if (foreseen === null) return report;
  const files = sources.map(({ name }) => name);
  const broken = brokenCalls(foreseen, sources, tools, [guard], null).map(brokenFinding);
  const findings = [...report.findings, ...broken];
  return { ...report, findings: findings.toSorted((a, b) => files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line) };
}

/** The calls that policies refuse for certain because of their arguments or their order. `past` is as for {@link previewOf}. */
export function brokenCalls(
  foreseen: Foreseen,
  sources: readonly Source[],
  tools: ToolView,
  guards: readonly PolicyGuard[],
  past: PastCalls | null,
): readonly BrokenCall[] {
  const order = orderOf(foreseen, sources, past);
  return foreseen.calls.flatMap((call): readonly BrokenCall[] => {
    const { name, file, line, column } = call;
    const tool = tools.lookup(name);
    // A check of the names has found the tools that are denied as such.
    if (tool === undefined || guards.some((guard) => guard.denial(tool, tools.isOwn(name)) !== null)) return [];
    const { policy, reason } = verdictOf(call, tool, tools, guards, order);
    return policy === 'breaks' ? [{ name, file, line, column, reason }] : [];
  });
}

/** A call that a policy refuses for certain, as a finding. */
export function brokenFinding({ name, file, line, column, reason }: BrokenCall): LintFinding {
  const end = { endLine: line, endColumn: column + name.length };
  const place = { code: 'LINT_DENIED_TOOL', severity: 'error', file, line, column, ...end } as const;
  return { ...place, message: `\`${name}\` cannot be called: ${reason}`, fix: { message: '', edits: [] }, tool: name };
}

/** Whether a policy has rules by which a call may be refused for certain before it is made. */
export function hasSureRules({ when, order }: Policy): boolean {
  return order.length > 0 || Object.keys(when).length > 0;
}

/** Numbers of the calls whose results decide whether or how often a call is made. */
function deciding({ origins }: ForeseenCall, calls: readonly ForeseenCall[]): readonly number[] | undefined {
  const places = new Set(origins?.deciding.map(({ from, file, line }) => `${from} ${file} ${line}`));
  const numbers = calls.flatMap(({ name, file, line }, index) => (places.has(`${name} ${file} ${line}`) ? [index + 1] : []));
  return numbers.length === 0 ? undefined : numbers;
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
  order: ForeseenOrder,
): PreviewCall {
  const { origins: _, ...shown } = call;
  if (!isTool(call.name)) return { ...shown, number, effects: null, verdict: null, limitedBy: null };
  const tool = tools.lookup(call.name);
  const [most, limitedBy] = lowest(call.most, [
    ['toolCalls', limits.toolCalls],
    ['toolCallsPerTool', limits.toolCallsPerTool],
  ]);
  const verdict = verdictOf(call, tool, tools, guards, order);
  const cost = foreseenCost(call, most, tool);
  return { ...shown, number, most, limitedBy, effects: tool?.effects ?? null, verdict, ...(cost === null ? {} : { cost }) };
}

type Limits = readonly (readonly [LimitKey, number])[];

function lowest(own: number | null, limits: Limits): readonly [number, LimitKey | null] {
  let [most, by]: readonly [number, LimitKey | null] = [own ?? Number.POSITIVE_INFINITY, null];
  for (const [key, limit] of limits) if (limit < most) [most, by] = [limit, key];
  return [most, by];
}

function verdictOf(
  call: ForeseenCall,
  tool: ToolDefinition | undefined,
  tools: ToolView,
  guards: readonly PolicyGuard[],
  order: ForeseenOrder,
): PreviewVerdict {
  const { name, args } = call;
  const unbroken = { policy: 'keeps', path: [] } as const;
  const broken = { policy: 'breaks', path: [] } as const;
  if (tool === undefined) {
    const reason = `tool '${canonicalName(name)}' not found`;
    return { allowed: false, reason, rule: null, approval: false, ...broken };
  }
  const approval = tool.requiresApproval;
  const verdicts = guards.map((guard) => guard.verdict(tool, tools.isOwn(name)));
  const denial = verdicts.find(({ allowed }) => !allowed);
  if (denial !== undefined) return { allowed: false, reason: denial.reason, rule: denial.rule, approval, ...broken };
  const isTool = (other: string): boolean => tools.lookup(other) !== undefined;
  const before = order.before(call);
  const breaches = guards.flatMap(({ policy }) => {
    if (policy === null) return [];
    const labels = policy.flow === null ? null : foreseenLabels(policy.flow, call);
    const question: CallQuestion = { tool, args, before, labels, isTool };
    // A foreseen value may come from these places, and need not.
    return decideCall(policy, question).map((each) => (each.rule === 'flow' ? { ...each, sure: false } : each));
  });
  const breach = breaches.find(({ sure, outcome }) => sure && outcome === 'refuse') ?? breaches[0];
  if (breach !== undefined) return { ...foreseenBreach(breach, call), approval };
  const [first] = verdicts;
  return { allowed: true, reason: first?.reason ?? 'no policy judges it', rule: first?.rule ?? null, approval, ...unbroken };
}

function foreseenBreach(
  { rule, outcome, sure, reason, sources: [source], argument }: Breach,
  { name, file, line }: ForeseenCall,
): Omit<PreviewVerdict, 'approval'> {
  const breaks = sure && outcome === 'refuse';
  const sink = { what: argument === null ? name : `${name}.${argument}`, file, line };
  const path = source === undefined ? [] : [{ what: source.from, file: source.source, line: source.line }, sink];
  const may = outcome === 'ask' ? 'a person is asked' : 'it may be refused';
  const said = breaks ? reason : `${sure || outcome === 'refuse' ? may : 'a person may be asked'}: ${reason}`;
  return { allowed: !breaks, reason: said, rule, policy: breaks ? 'breaks' : 'may', path };
}
