import { z } from 'zod';
import { fields, later, type Problem } from '../../files/problem.ts';
import { ConfigError } from '../../wire/errors.ts';
import { parseCapability } from './capability.ts';
import { META_LABELS } from './flow.ts';
import type { Condition, FlowOptions, OrderRule, PolicyOptions } from './options.ts';

export const MOST_LABELS = 30;

/** A name that a tool can have, and the parts of one with a star at its ends. Names of tools have at least two dots. */
const EXACT = String.raw`[Tt][Oo][Oo][Ll](\.[A-Za-z_][A-Za-z0-9_]*)+`;
const BEGINNING = String.raw`([Tt]([Oo]([Oo])?)?|[Tt][Oo][Oo][Ll](\.[A-Za-z_][A-Za-z0-9_]*)*\.?)\*`;
const ENDING = String.raw`\*[A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*(\.?\*)?`;
const TOOLS = `${EXACT}|${BEGINNING}|${ENDING}`;
const NAME = '[A-Za-z_][A-Za-z0-9_]*';

/** The schema of a policy: one for files, options and `schemas/policy.schema.json`. */
export const policyForm = later((): z.ZodType<PolicyOptions> => {
  const tools = toolsForm();
  const label = z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/, 'must be a label: small letters, digits, - and _, at most 32');
  const labels = z.array(label).min(1).meta({ id: 'labels' });
  return fields({
    context: z
      .enum(['config', 'normal', 'test'])
      .exactOptional()
      .meta({ description: 'Only config admits tools that require trust.' }),
    allow: z.array(tools).exactOptional().meta({ description: 'What may be called; nothing when absent.' }),
    deny: z.array(tools).exactOptional().meta({ description: 'Wins over allow.' }),
    grants: z
      .array(
        z
          .string()
          .check(...capability)
          .meta({ pattern: '^[^:]+:[^:]+(:.*)?$' }),
      )
      .exactOptional()
      .meta({ description: 'Capabilities, as resource:verb,verb[:scope,scope].' }),
    toolMaxCalls: z
      .record(
        pattern('[^*]*', () => 'is a pattern; a limit of calls takes the name of one tool'),
        z.int().min(0),
      )
      .exactOptional()
      .meta({ description: 'Most calls of a tool by everything that descends from one root interpreter.' }),
    when: z
      .record(tools, z.array(rowForm()).min(1))
      .exactOptional()
      .meta({ description: 'Conditions on arguments: a call must meet one row of every pattern that matches its tool.' }),
    order: z.array(orderForm(tools)).exactOptional().meta({ description: 'Rules about the calls before a call.' }),
    flow: flowForm(labels).exactOptional().meta({ description: 'Rules about where values come from.' }),
    onPolicyBreach: z
      .enum(['error', 'halt'])
      .exactOptional()
      .meta({ description: 'Whether `on error` sees a breach, or the run ends.' }),
  }).meta({ title: 'A policy file: what programs may call' });
});

export function toolsForm(): z.ZodString {
  return pattern(TOOLS, (given) => `'${given}' can match no tool; ${HOW_TO_MATCH}`).meta({
    id: 'tools',
    description: 'tool.fs.read, tool.fs.*, *.get, *mem*, *',
  });
}

const HOW_TO_MATCH =
  "whole names are matched, such as tool.kv.Get, and '*' may stand at the start and the end alone: 'tool.kv.*', '*.get', '*mem*'";

/** A text of this form, without the blanks around it. `told` says what is wrong with another one. */
export function pattern(form: string, told: (given: string) => string): z.ZodString {
  return z
    .string()
    .trim()
    .regex(new RegExp(`^(${form})$`), { error: ({ input }) => told(String(input)) });
}

const capability: [z.core.CheckFn<string>] = [
  (context) => {
    try {
      parseCapability(context.value);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      context.issues.push({ code: 'custom', message: error.message, input: context.value });
    }
  },
];

/** The schema of conditions by argument. */
export function rowForm() {
  const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
  const count = z.int().min(0);
  const type = z.enum(['nil', 'boolean', 'number', 'string', 'list', 'map', 'other', 'any']);
  const part: z.ZodType<Condition> = z.lazy(() => condition);
  const condition: z.ZodType<Condition> = z
    .union([
      scalar,
      fields({
        type: z
          .union([type, z.array(type).min(1)])
          .exactOptional()
          .meta({ description: 'A value of one of these types.' }),
        in: z.array(scalar).min(1).exactOptional().meta({ description: 'One of these values.' }),
        min: z.number().exactOptional(),
        max: z.number().exactOptional(),
        minLength: count.exactOptional().meta({ description: 'Of characters of a text, or entries of a list or map.' }),
        maxLength: count.exactOptional().meta({ description: 'Of characters of a text, or entries of a list or map.' }),
        each: part.exactOptional().meta({ description: 'A condition on each item of a list.' }),
        items: z.array(part).exactOptional().meta({ description: 'Conditions on the items of a list, one by one.' }),
        entries: z
          .record(z.string(), part)
          .exactOptional()
          .meta({ description: 'Conditions on the values of a map, by all its keys.' }),
      }).refine((parts) => Object.keys(parts).length > 0, 'must have a condition'),
    ])
    .meta({ id: 'condition' });
  const argument = pattern(NAME, (given) => `'${given}' is not a name of an argument`);
  return z
    .record(argument, condition)
    .refine((row) => Object.keys(row).length > 0, 'must have a condition; a tool whose every call is allowed needs no row')
    .meta({ description: 'Conditions by argument. In a text, * stands for any characters.' });
}

/** The schema of a rule about the calls before a call. */
export function orderForm(tools: z.ZodString): z.ZodType<OrderRule> {
  return fields({
    tool: tools,
    needs: tools.exactOptional().meta({ description: 'Must have been called before.' }),
    'not-after': tools.exactOptional().meta({ description: 'Must not have been called before.' }),
    within: z
      .enum(['session', 'turn'])
      .exactOptional()
      .meta({ description: 'Which calls count; those of the session when absent.' }),
    else: z.enum(['refuse', 'ask']).exactOptional().meta({ description: 'What happens to other calls; refused when absent.' }),
  }).refine((rule) => (rule.needs === undefined) !== (rule['not-after'] === undefined), 'must have either needs or not-after');
}

function flowForm(labels: z.ZodType<readonly string[]>): z.ZodType<FlowOptions> {
  const userdata = String.raw`userdata(\.(subject|brief|fields(\.[^.*]+)*))?`;
  const event = String.raw`event\.(\*|\*?[^*]+\*?)`;
  const server = String.raw`mcp\.${NAME}(\.(\*|${NAME}\*?|\*[A-Za-z0-9_]+\*?))?`;
  const sources = `${TOOLS}|${userdata}|${event}|${server}`;
  const source = pattern(
    sources,
    (given) =>
      `'${given}' is not a source; sources are tools such as 'tool.web.*', userdata, userdata.fields.NAME, event.NAME and mcp.SERVER.*; ${HOW_TO_MATCH}`,
  );
  const sink = pattern(
    TOOLS,
    (given) => `'${given}' can match no call; a sink is 'tool.mail.*', tool.mail.Send or tool.mail.Send.to`,
  );
  const endorsing = pattern(`ask|${TOOLS}`, (given) => `'${given}' can match no tool; ${HOW_TO_MATCH}`);
  return fields({
    labels: z
      .record(source, z.union([labels, z.literal('meta')]))
      .refine(
        (all) => Object.entries(all).every(([key, value]) => value !== 'meta' || key.startsWith('mcp.')),
        "only an MCP server can give labels of its own: 'meta' needs a source such as mcp.SERVER.*",
      )
      .exactOptional()
      .meta({ description: 'Sources and the labels of what comes from them.' }),
    sinks: z
      .record(
        sink,
        fields({ refuse: labels.exactOptional(), ask: labels.exactOptional(), deciding: z.boolean().exactOptional() }).refine(
          ({ refuse, ask }) => refuse !== undefined || ask !== undefined,
          'must have refuse or ask',
        ),
      )
      .exactOptional()
      .meta({ description: 'What may not go where.' }),
    program: fields({ label: labels, when: z.enum(['output', 'always']).exactOptional() })
      .exactOptional()
      .meta({ description: 'Labels of the program itself.' }),
    endorse: z.record(endorsing, labels).exactOptional().meta({ description: 'Labels that results of tools do not carry on.' }),
  }).superRefine((flow, context) => {
    const problem = labelProblem(flow);
    if (problem !== null) context.addIssue({ code: 'custom', path: [...problem.path], message: problem.problem });
  });
}

/** What is wrong with the labels of a policy: too many of them, or one that nothing has. */
function labelProblem({ labels = {}, sinks = {}, program, endorse = {} }: FlowOptions): Problem | null {
  const given = new Set(
    [...Object.values(labels), program?.label ?? []].flatMap((each) => (each === 'meta' ? META_LABELS : each)),
  );
  const used = [
    ...Object.entries(sinks).map(([sink, { refuse = [], ask = [] }]) => ({ path: ['sinks', sink], named: [...refuse, ...ask] })),
    ...Object.entries(endorse).map(([tool, named]) => ({ path: ['endorse', tool], named })),
  ];
  const all = new Set([...given, ...used.flatMap(({ named }) => named)]);
  if (all.size > MOST_LABELS) return { path: [], problem: `names ${all.size} labels, at most ${MOST_LABELS} are possible` };
  for (const { path, named } of used) {
    const nowhere = named.find((label) => !given.has(label));
    if (nowhere === undefined) continue;
    return { path, problem: `nothing has the label '${nowhere}'; labels of this policy are ${[...given].join(', ') || 'none'}` };
  }
  return null;
}
