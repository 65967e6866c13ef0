import type { ForeseenValue } from '../../../grammar/index.ts';
import { argumentsText } from '../../wire/foreseen.ts';
import { type CallLabels, type CarriedLabel, sourcesText } from '../../wire/labels.ts';
import type { ToolDefinition } from '../define/definition.ts';
import type { Parameter } from '../define/parameters.ts';
import { matchesPattern } from './capability.ts';
import { conditionText, every, meetsCondition, some, type Truth } from './conditions.ts';
import type { FlowSink } from './flow.ts';
import type { ConditionRow, OrderRule } from './options.ts';
import type { Policy } from './policy.ts';
import { BEGINNINGS } from './rules.ts';

/** The part of a tool to which arguments are passed. */
export interface CalledTool extends Pick<ToolDefinition, 'canonicalName'> {
  readonly parameters: readonly Pick<Parameter, 'name'>[];
}

/** The calls before a call. Calls that failed or were refused are not among them. */
export interface CallsBefore {
  /** The name of one that matches the pattern; false when there is none, null when there may be one. */
  called(pattern: string, within: 'session' | 'turn'): string | false | null;
}

/** A call, as far as it is known. At the call itself, everything is. */
export interface CallQuestion {
  readonly tool: CalledTool;
  /** Null when nothing is known of the arguments. */
  readonly args: readonly ForeseenValue[] | null;
  readonly before: CallsBefore;
  /** Null without labels. */
  readonly labels: CallLabels | null;
  /** Whether a policy can name this tool: a sink ends with the name of an argument only if the whole is no tool. */
  isTool(canonicalName: string): boolean;
}

/** A rule that a call breaks, or may break. */
export interface Breach {
  readonly rule: 'when' | 'order' | 'flow';
  /** What happens to the call. */
  readonly outcome: 'refuse' | 'ask';
  /** Whether every run breaks the rule here. At the call itself it does. */
  readonly sure: boolean;
  /** The entry of the policy, as the policy writes it. */
  readonly entry: string;
  /** Name of the argument; null when the rule is not about one. */
  readonly argument: string | null;
  /** Where the labels come from for which the call is refused. */
  readonly sources: readonly CarriedLabel[];
  /** One sentence that names tool, rule, argument and sources. */
  readonly reason: string;
  /** What the policy would allow instead, as advice. */
  readonly instead: string;
}

/**
 * The rules about arguments, order and origin that a call breaks. The first one decides: what refuses stands before what asks, and what
 * is sure before what is not. The same function answers before a run, at the call, and for recorded calls.
 */
export function decideCall(policy: Policy, question: CallQuestion): readonly Breach[] {
  const breaches = [
    ...whenBreaches(policy, question),
    ...orderBreaches(policy.order, question),
    ...flowBreaches(policy, question),
  ];
  const rank = ({ outcome, sure }: Breach): number => (sure ? 0 : 2) + (outcome === 'refuse' ? 0 : 1);
  return breaches.toSorted((a, b) => rank(a) - rank(b));
}

/** Whether a policy has rules that may concern this tool. */
export function hasCallRules({ when, order, flow }: Policy, { canonicalName: name }: Pick<CalledTool, 'canonicalName'>): boolean {
  return (
    Object.keys(when).some((pattern) => matchesPattern(pattern, name)) ||
    order.some(({ tool }) => matchesPattern(tool, name)) ||
    (flow?.sinks.some(({ sink }) => matchesPattern(sink, name) || sink.startsWith(`${name}.`)) ?? false)
  );
}

/** The patterns of the calls before a call that the rules about its tool ask for. */
export function patternsBefore(
  order: readonly OrderRule[],
  { canonicalName: name }: Pick<CalledTool, 'canonicalName'>,
): string[] {
  return order.flatMap((rule) => (matchesPattern(rule.tool, name) ? [wantedBy(rule).pattern] : []));
}

function whenBreaches({ when }: Policy, { tool, args }: CallQuestion): readonly Breach[] {
  const name = tool.canonicalName;
  return Object.entries(when).flatMap(([pattern, rows]): readonly Breach[] => {
    if (!matchesPattern(pattern, name)) return [];
    const truths = rows.map((row) => meetsRow(row, tool, args));
    const met = some(truths);
    if (met === true) return [];
    const { argument, known } = firstUnmet(rows, tool, args);
    const given = known === null ? '' : `: its argument '${argument}' is ${argumentsText([known]).slice(1, -1)}`;
    return [
      {
        rule: 'when',
        outcome: 'refuse',
        sure: met === false,
        entry: pattern,
        argument,
        sources: [],
        reason: `${BEGINNINGS.when(name)}, by policy rule: when ${pattern}${given}`,
        instead: `allowed: ${rows.map(rowText).join('; or ')}`,
      },
    ];
  });
}

export function meetsRow(row: ConditionRow, tool: CalledTool, args: readonly ForeseenValue[] | null): Truth {
  return every(
    Object.entries(row).map(([name, condition]) =>
      every(argumentsNamed(tool, name, args).map((known) => meetsCondition(condition, known))),
    ),
  );
}

/** The first argument of the row that the call meets best, for which it does not meet it. */
export function firstUnmet(rows: readonly ConditionRow[], tool: CalledTool, args: readonly ForeseenValue[] | null) {
  const unmet = rows.map((row) =>
    Object.entries(row).flatMap(([argument, condition]) =>
      argumentsNamed(tool, argument, args).flatMap((known) =>
        meetsCondition(condition, known) === true ? [] : [{ argument, known }],
      ),
    ),
  );
  const left = rows.map((row, index) => ({ unmet: unmet[index] ?? [], of: Object.keys(row).length }));
  const [best] = left.toSorted((a, b) => a.unmet.length - b.unmet.length || b.of - a.of);
  return best?.unmet[0] ?? { argument: null, known: null };
}

const NIL: ForeseenValue = { value: null };

/**
 * The values of an argument, whose name may be in any letter case; nil for one that the call does not have. The arguments of a tool that
 * takes them in one map, as those of MCP servers do, are the entries of this map.
 */
export function argumentsNamed(tool: CalledTool, name: string, args: readonly ForeseenValue[] | null): readonly ForeseenValue[] {
  const places = placesOf(tool, name);
  if (args === null) return [{}];
  if (places.length > 0) return places.map((place) => args[place] ?? NIL);
  const [first] = args;
  if (!takesMap(tool) || first === undefined) return [NIL];
  if (first.entries === undefined) return [isKnown(first) ? NIL : {}];
  const named = first.entries.filter(([key]) => sameName(key, name)).map(([, value]) => value);
  return named.length === 0 ? [NIL] : named;
}

/** The places of the arguments with a name, in any letter case. */
export function placesOf({ parameters }: CalledTool, name: string): readonly number[] {
  return parameters.flatMap((parameter, place) => (sameName(parameter.name, name) ? [place] : []));
}

/** Whether all arguments of a tool stand in one map. */
export function takesMap({ parameters: [first, ...rest] }: CalledTool): boolean {
  return first !== undefined && first.name === 'arguments' && rest.length === 0;
}

function isKnown({ value, oneOf, types }: ForeseenValue): boolean {
  return value !== undefined || oneOf !== undefined || (types !== undefined && !types.includes('map'));
}

function sameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

export function rowText(row: ConditionRow): string {
  return Object.entries(row)
    .map(([name, condition]) => `${name} ${conditionText(condition)}`)
    .join(', ');
}

/** The rules of order that a call breaks, or may break. `by` says whose rules they are. */
export function orderBreaches(
  order: readonly OrderRule[],
  { tool, before }: Pick<CallQuestion, 'tool' | 'before'>,
  by = 'policy',
): readonly Breach[] {
  const name = tool.canonicalName;
  return order.flatMap((rule): readonly Breach[] => {
    if (!matchesPattern(rule.tool, name)) return [];
    const { within = 'session', else: outcome = 'refuse' } = rule;
    const { pattern, needed } = wantedBy(rule);
    const found = before.called(pattern, within);
    if (found !== null && (found !== false) === needed) return [];
    const earlier = found === null ? `${pattern} may have been` : needed ? `no ${pattern} has been` : `${found} has been`;
    const entry = `${rule.tool} ${needed ? 'needs' : 'not-after'} ${pattern}`;
    return [
      {
        rule: 'order',
        outcome,
        sure: found !== null,
        entry,
        argument: null,
        sources: [],
        reason: `${BEGINNINGS.order(name)}, by ${by} rule: order ${entry}: ${earlier} called in this ${within}`,
        instead: needed
          ? `allowed: after a call of ${pattern} that succeeds`
          : `allowed: in a ${within} without any call of ${pattern} before`,
      },
    ];
  });
}

/** The pattern of a rule, and whether a call that matches it must be there. */
function wantedBy(rule: OrderRule): { readonly pattern: string; readonly needed: boolean } {
  return rule.needs === undefined ? { pattern: rule['not-after'] ?? '', needed: false } : { pattern: rule.needs, needed: true };
}

function flowBreaches({ flow }: Policy, question: CallQuestion): readonly Breach[] {
  const { labels } = question;
  if (flow === null || labels === null) return [];
  return flow.sinks.flatMap((sink) => [...sunk(sink, question, labels)].flatMap((at) => sinkBreach(sink, question.tool, at)));
}

/** An argument that reaches a sink; null for what decides whether the call is made. */
interface Sunk {
  readonly argument: string | null;
  readonly carried: readonly CarriedLabel[];
}

/** What of a call reaches a sink. */
function* sunk({ sink, deciding }: FlowSink, { tool, isTool }: CallQuestion, labels: CallLabels): Iterable<Sunk> {
  const name = tool.canonicalName;
  const argument = sinkAt(sink, name, isTool);
  if (argument === false) return;
  const places = argument === null ? labels.args.keys() : placesOf(tool, argument).values();
  for (const place of places) {
    const parameter = tool.parameters[place]?.name ?? `${place + 1}`;
    yield { argument: parameter, carried: labels.args[place]?.all ?? [] };
  }
  if (argument !== null && takesMap(tool)) {
    const [whole] = labels.args;
    const entries = Object.entries(whole?.entries ?? {}).filter(([key]) => sameName(key, argument));
    // Of a value that is no map, every part may become the argument.
    const carried = whole?.entries === undefined ? (whole?.all ?? []) : entries.flatMap(([, each]) => each);
    yield { argument, carried };
  }
  if (deciding) yield { argument: null, carried: labels.deciding };
}

/** The name of the argument of a tool that a sink names; null for all arguments, false when the sink is not about this tool. */
export function sinkAt(sink: string, tool: string, isTool: (name: string) => boolean): string | null | false {
  if (matchesPattern(sink, tool)) return null;
  return (sinkTool(sink, isTool) === tool && argumentIn(sink, tool)) || false;
}

/** The longest name of a tool with which a sink begins, where the name of an argument follows; null when there is none. */
export function sinkTool(sink: string, isTool: (name: string) => boolean): string | null {
  for (let end = sink.length; end > 0; end = sink.lastIndexOf('.', end - 1)) {
    const name = sink.slice(0, end);
    if (isTool(name)) return name;
  }
  return null;
}

/** The name of the argument after the tool's; null when none follows. */
export function argumentIn(sink: string, tool: string): string | null {
  const argument = sink.slice(tool.length + 1);
  return argument === '' || argument.includes('.') ? null : argument;
}

function sinkBreach(sink: FlowSink, { canonicalName: name }: CalledTool, { argument, carried }: Sunk): readonly Breach[] {
  const refused = carried.filter(({ label }) => sink.refuse.includes(label));
  const sources = refused.length > 0 ? refused : carried.filter(({ label }) => sink.ask.includes(label));
  if (sources.length === 0) return [];
  const outcome = refused.length > 0 ? 'refuse' : 'ask';
  const what = argument === null ? 'what decides on this call' : `its argument '${argument}'`;
  const free = [...new Set(sources.map(({ label }) => label))].join(', ');
  return [
    {
      rule: 'flow',
      outcome,
      sure: true,
      entry: sink.entry,
      argument,
      sources,
      reason: `${BEGINNINGS.flow(name)}, by policy rule: flow ${sink.entry}: ${what} has ${sourcesText(sources)}`,
      instead: `allowed: ${argument === null ? 'a call that does not depend on' : `a value for '${argument}' without`} ${free}`,
    },
  ];
}
