import {
  type CalledTool,
  type Condition,
  conditionFor,
  type Grant,
  type GrantedCall,
  MAGIC_TOOL,
  mayChange,
  type OrderRule,
  type PolicyGuard,
  type ReturnedBy,
} from '../tools/index.ts';
import { defined } from '../wire/defined.ts';
import { argumentsText } from '../wire/foreseen.ts';
import { STORED_VERSION } from '../wire/forms.ts';
import { labelNames } from '../wire/labels.ts';
import type { Preview, PreviewCall } from '../wire/preview.ts';
import type { Foreseen, ForeseenCall, ForeseenValue } from '../wire/sourcereports.ts';
import { foreseenLabels } from './foreseenlabels.ts';
import type { ForeseenOrder } from './foreseenorder.ts';

/** What is known of a program, and by which tools and policies. */
export interface GrantInit {
  readonly preview: Pick<Preview, 'sources' | 'calls' | 'because' | 'cost'>;
  readonly foreseen: Pick<Foreseen, 'calls'>;
  /** The calls before each call of the program, without those before the run. */
  readonly order: ForeseenOrder;
  /** The tool of a name, if there is one. */
  readonly toolOf: (name: string) => CalledTool | undefined;
  readonly guards: readonly Pick<PolicyGuard, 'policy'>[];
}

/**
 * The narrowest grant that allows everything that a program can do, and nothing that the policy refuses for certain. What changes something
 * comes first.
 */
export function grantOf({ preview, foreseen, order, toolOf, guards }: GrantInit): Grant {
  const { sources, calls, because, cost } = preview;
  const possible = calls.filter(({ name, verdict }) => name !== MAGIC_TOOL && verdict?.policy !== 'breaks');
  const numbers = new Set(possible.map(({ number }) => number));
  const granted = possible.map((call) => grantedCall(call, foreseen.calls[call.number - 1], toolOf, guards, numbers));
  const rules = orderRules(possible, foreseen.calls, order);
  return defined({
    version: STORED_VERSION,
    programs: sources,
    calls: granted.toSorted((a, b) => rank(a) - rank(b)),
    order: rules.length === 0 ? undefined : rules,
    cost: granted.some((call) => call.cost !== undefined) ? { most: cost.most, by: cost.by } : undefined,
    unknown: because === null ? undefined : [`how much is computed: ${because.message} (${because.file}:${because.line})`],
  });
}

function rank(call: GrantedCall): number {
  if (mayChange(call)) return call.tool === 'promptuser' ? 1 : 0;
  return call.effects === 'read' ? 2 : 3;
}

function grantedCall(
  call: PreviewCall,
  foreseen: ForeseenCall | undefined,
  toolOf: GrantInit['toolOf'],
  guards: GrantInit['guards'],
  numbers: ReadonlySet<number>,
): GrantedCall {
  const { number, name, args, most, limitedBy, effects, cost, file, line, elsewhere } = call;
  const tool = toolOf(name) ?? { canonicalName: name, parameters: (ASKED[name] ?? []).map((each) => ({ name: each })) };
  const when = args === null ? [] : conditionsOf(tool, args);
  const carries = foreseen === undefined ? [] : labelsOf(tool, foreseen, guards);
  const returned = args === null ? [] : returnedOf(tool, args, numbers);
  const unknown = unknownOf(call, tool, new Set(returned.map(([argument]) => argument)));
  return defined({
    number,
    tool: name,
    when: mapOf(when),
    returned: mapOf(returned),
    times: most === null || limitedBy !== null ? undefined : most,
    effects: effects ?? undefined,
    cost: cost === undefined ? undefined : { most: cost.most },
    carries: mapOf(carries),
    unknown: unknown.length === 0 ? undefined : unknown,
    at: `${file}:${line}${elsewhere ? ' and other places' : ''}`,
  });
}

/** The map of some entries; nothing for none. */
function mapOf<T>(entries: readonly (readonly [string, T])[]): Readonly<Record<string, T>> | undefined {
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** The arguments of what is no tool, by name. */
const ASKED: Readonly<Record<string, readonly string[]>> = { ask: ['model', 'prompt', 'options'], promptuser: ['text'] };

/** The arguments of a call with the names that a grant has for them. A name that two arguments share says nothing of either. */
function named(tool: CalledTool, args: readonly ForeseenValue[]): readonly (readonly [name: string, known: ForeseenValue])[] {
  const names = tool.parameters.map(({ name }) => name);
  const isOne = (name: string): boolean => names.filter((other) => other.toLowerCase() === name.toLowerCase()).length === 1;
  return names.flatMap((name, place) => (isOne(name) ? [[name, args[place] ?? NIL] as const] : []));
}

const NIL: ForeseenValue = { value: null };

function conditionsOf(tool: CalledTool, args: readonly ForeseenValue[]): readonly (readonly [string, Condition])[] {
  return named(tool, args).flatMap(([name, known]) => {
    const condition = conditionFor(known);
    return condition === undefined ? [] : [[name, condition] as const];
  });
}

/** The arguments that are answers of calls of the grant. */
function returnedOf(
  tool: CalledTool,
  args: readonly ForeseenValue[],
  numbers: ReadonlySet<number>,
): readonly (readonly [string, ReturnedBy])[] {
  return named(tool, args).flatMap(([name, { returned }]) =>
    returned === undefined || !numbers.has(returned.call) ? [] : [[name, defined(returned)] as const],
  );
}

function labelsOf(
  { parameters }: CalledTool,
  foreseen: ForeseenCall,
  guards: GrantInit['guards'],
): readonly (readonly [string, readonly string[]])[] {
  const flows = guards.flatMap(({ policy }) => policy?.flow ?? []);
  const labels = flows.map((flow) => foreseenLabels(flow, foreseen).args);
  return parameters.flatMap(({ name }, place) => {
    const carried = [...new Set(labels.flatMap((args) => labelNames(args[place]?.all ?? [])))];
    return carried.length === 0 ? [] : [[name, carried.sort()] as const];
  });
}

function unknownOf(
  { name, args, most, limitedBy, when, verdict }: PreviewCall,
  tool: CalledTool,
  returned: ReadonlySet<string>,
): readonly string[] {
  const places = when.map(({ kind, text, line }) => `${kind === 'each' ? 'for each of' : kind} ${text} (line ${line})`);
  return [
    ...(args === null
      ? ['its arguments']
      : named(tool, args).flatMap(([argument, known]) => (returned.has(argument) ? [] : partsUnknown(argument, known)))),
    ...(most === null || limitedBy !== null ? ['how often it is called'] : []),
    ...(places.length === 0 ? [] : [`whether it is called: ${places.join(', ')}`]),
    ...(verdict?.policy === 'may' ? [`whether the policy allows it: ${verdict.reason}`] : []),
    ...(name === 'ask' ? ['what the programs do that an agent writes to answer it: this grant does not bound them'] : []),
  ];
}

function partsUnknown(argument: string, known: ForeseenValue): readonly string[] {
  return isExact(known) ? [] : [`${argument} is ${argumentsText([known]).slice(1, -1)}`];
}

function isExact({ value, oneOf, items, entries }: ForeseenValue): boolean {
  if (value !== undefined || oneOf !== undefined) return true;
  return (items ?? entries?.map(([, entry]) => entry))?.every(isExact) ?? false;
}

/** Most calls of a program whose order is looked into. */
const MOST_ORDERED = 100;

/**
 * For each tool that changes something, the tools that the program has called before it, whatever happens. What follows from other rules is
 * left out.
 */
function orderRules(possible: readonly PreviewCall[], all: readonly ForeseenCall[], order: ForeseenOrder): readonly OrderRule[] {
  if (all.length > MOST_ORDERED) return [];
  const names = [...new Set(possible.map(({ name }) => name))].filter((name) => name.startsWith('tool.'));
  const before = new Map(
    names.map((tool) => {
      const own = all.filter(({ name }) => name === tool).map((call) => order.before(call));
      return [
        tool,
        names.filter((other) => other !== tool && own.every((calls) => calls.called(other, 'turn') === other)),
      ] as const;
    }),
  );
  return possible
    .filter(({ name, effects }, index) => effects === 'write' && possible.findIndex((each) => each.name === name) === index)
    .flatMap(({ name: tool }) => {
      const needed = before.get(tool) ?? [];
      const first = needed.filter((one) => !needed.some((other) => before.get(other)?.includes(one)));
      return first.map((needs): OrderRule => ({ tool, needs, within: 'turn' }));
    });
}
