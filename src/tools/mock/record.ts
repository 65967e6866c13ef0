import type { JournalEntry, JournalOutcome } from '../../wire/journal.ts';
import { checkList } from '../../wire/options.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import { isList } from '../../wire/tagged.ts';
import { costFrom } from '../define/cost.ts';
import type { ToolDefinition } from '../define/definition.ts';
import { canonicalName } from '../names.ts';
import { capabilityText } from '../policy/capability.ts';
import { keyText } from './match.ts';
import { withoutSecrets } from './secrets.ts';

/** The first line of every recording. A file without it was written by hand and must not be overwritten. */
export const RECORDING_MARK = '# Recorded by neuroscript from real calls.';

const HEAD = [
  RECORDING_MARK,
  '# Replay it with --tools. Secrets were left out by name and by form; read it before you share it.',
];

/** A recording with its counts. */
export interface Recording {
  /** A tools file in YAML. */
  readonly text: string;
  /** The number of recorded calls. */
  readonly calls: number;
  /** The number of secret values that were left out. */
  readonly redacted: number;
  /** The number of calls that ended their run and had no answer to record. */
  readonly unanswered: number;
}

interface MockStep {
  readonly [key: string]: TaggedJson;
}

interface Case {
  readonly when: Readonly<Record<string, TaggedJson>>;
  readonly steps: MockStep[];
}

/**
 * Makes a tools file from the calls of a journal, which answers the same calls with the same results. Calls with the same arguments are
 * answered in their order, each as often as it was made; one more call is an error. Calls of tools that are not among `tools` are left
 * out, because `tool.aeiou.magic` and unknown names need no mock. Secrets are left out (see `secrets.ts`): an argument with a secret may
 * then be anything, and a result has `<redacted>` in its place.
 */
export function recordTools(journal: readonly JournalEntry[], tools: readonly ToolDefinition[]): Recording {
  checkList('the journal', journal);
  checkList('the tools of a recording', tools);
  const known = new Map(tools.map((tool) => [tool.canonicalName, tool]));
  const found = new Map<ToolDefinition, Map<string, Case>>();
  const widths = new Map<ToolDefinition, number>();
  let [calls, redacted, unanswered] = [0, 0, 0];
  for (const entry of journal) {
    const tool = entry.kind === 'tool' ? known.get(canonicalName(entry.name)) : undefined;
    if (entry.kind !== 'tool' || tool === undefined) continue;
    const { args: given, outcome } = entry;
    const step = stepOf(outcome);
    if (step === null) {
      unanswered++;
      continue;
    }
    calls++;
    const width = Math.max(widths.get(tool) ?? 0, tool.parameters.length, given.length);
    widths.set(tool, width);
    const args = argNames(tool, given.length).map((name, index) => ({
      name,
      ...withoutSecrets(given[index] ?? null, name),
    }));
    const answer = withoutSecrets(step);
    redacted += answer.found + args.reduce((sum, { found: each }) => sum + each, 0);
    const when = Object.fromEntries(args.flatMap(({ name, json, found: each }) => (each > 0 ? [] : [[name, json]])));
    const cases = found.get(tool) ?? new Map<string, Case>();
    found.set(tool, cases);
    const key = keyText(when);
    const same = cases.get(key);
    // `withoutSecrets` returns a map for a map, unless the map's own name is secret, and this map has no name.
    if (same === undefined) cases.set(key, { when, steps: [answer.json as MockStep] });
    else same.steps.push(answer.json as MockStep);
  }
  const lines = [...found].flatMap(([tool, cases]) => toolLines(tool, widths.get(tool) ?? 0, [...cases.values()]));
  return { text: [...HEAD, lines.length === 0 ? 'tools: {}' : 'tools:', ...lines, ''].join('\n'), calls, redacted, unanswered };
}

/** Null for a call that ended its run. The exception is a timeout, which a mock can repeat by waiting. */
function stepOf(outcome: JournalOutcome): MockStep | null {
  if (outcome.ok) return { returns: outcome.value };
  if ('halted' in outcome) return outcome.halted.kind === 'timeout' ? { delayMs: 'never' } : null;
  return { throws: { code: outcome.code, message: outcome.message } };
}

/** The names of the parameters, and names for surplus arguments. */
function argNames(tool: ToolDefinition, given: number): readonly string[] {
  const names = tool.parameters.map(({ name }) => name);
  while (names.length < given) names.push(`surplus${names.length + 1}`);
  return names;
}

/** Writes the structure as YAML and the values as JSON, which is YAML too and has only one way to write a text. */
function toolLines(tool: ToolDefinition, width: number, cases: readonly Case[]): string[] {
  const { description, effects, capabilities, requiresTrust, requiresApproval } = tool;
  // A case that names fewer arguments, because others were secret, must not answer before one that names more.
  const ordered = [...cases].sort((a, b) => Object.keys(b.when).length - Object.keys(a.when).length);
  return [
    `  ${tool.name}:`,
    ...(description === '' ? [] : [`    description: ${json(description)}`]),
    // All arguments are optional and untyped: a refusal by the real tool is an answer too.
    `    args: ${json(argNames(tool, width).map((name) => `${name}?`))}`,
    `    effects: ${effects}`,
    ...(tool.price === null ? [] : [`    cost: ${json(costFrom(tool.price))}`]),
    ...(capabilities.length === 0 ? [] : [`    capabilities: ${json(capabilities.map(capabilityText))}`]),
    ...(requiresTrust ? ['    requiresTrust: true'] : []),
    ...(requiresApproval ? ['    requiresApproval: true'] : []),
    '    cases:',
    ...ordered.flatMap(({ when, steps }) => [
      `      - when: ${json(when)}`,
      ...answerLines(steps).map((line) => `        ${line}`),
      `        times: ${steps.length}`,
    ]),
  ];
}

function answerLines(steps: readonly MockStep[]): readonly string[] {
  const [first = {}, ...rest] = steps;
  if (rest.every((step) => keyText(step) === keyText(first)))
    return Object.entries(first).map(([key, value]) => `${key}: ${json(value)}`);
  return ['sequence:', ...steps.map((step) => `  - ${json(step)}`)];
}

/** JSON with spaces, for people. */
function json(value: TaggedJson): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(json).join(', ')}]`;
  const entries = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${json(item)}`);
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}
