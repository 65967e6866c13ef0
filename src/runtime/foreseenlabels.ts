import { type FlowRules, type FlowSource, META_LABELS, matchesPattern } from '../tools/index.ts';
import type { CallLabels, CarriedLabel } from '../wire/labels.ts';
import type { ForeseenCall, ForeseenOrigin } from '../wire/sourcereports.ts';

/** Groups of tools that keep what a program gives them: what they return may have any label, from this run or from an earlier one. */
const STORAGE = ['tool.memory.*', 'tool.scratch.*', 'tool.capsule.*'];

/**
 * The labels that the arguments of a foreseen call may carry. What the program says (`program` of the policy) is only known where every
 * program has these labels.
 */
export function foreseenLabels(flow: FlowRules, { args, origins }: ForeseenCall): CallLabels {
  const always = flow.program?.when === 'always' ? labelled(flow.program.label, { from: 'program', file: null, line: null }) : [];
  // Where nothing is known of its sources, a call may have all labels.
  const any = labelled(flow.labels, { from: 'elsewhere', file: null, line: null });
  const of = (sources: readonly ForeseenOrigin[]) => [...always, ...sources.flatMap((source) => labelsOf(flow, source))];
  if (origins === undefined) return { args: (args ?? []).map(() => ({ all: any })), deciding: any };
  return { args: origins.args.map((sources) => ({ all: of(sources) })), deciding: of(origins.deciding) };
}

function labelsOf(flow: FlowRules, origin: ForeseenOrigin): readonly CarriedLabel[] {
  const { from } = origin;
  const stored = STORAGE.some((pattern) => matchesPattern(pattern, from)) ? flow.labels : [];
  const own = flow.sources.flatMap((source) => (isFrom(source, from) ? labelsGiven(source) : []));
  return labelled([...new Set([...own, ...stored])], { from, file: origin.file, line: origin.line });
}

/** A server that gives labels itself may give all that it can. */
function labelsGiven({ labels }: FlowSource): readonly string[] {
  return labels === 'meta' ? META_LABELS : labels;
}

/** Whether what came in at `from` may be of the source. */
function isFrom(source: FlowSource, from: string): boolean {
  switch (source.from) {
    case 'tool':
      return from.startsWith('tool.') && matchesPattern(source.pattern, from);
    case 'mcp': {
      const group = `tool.${source.server.toLowerCase()}.`;
      return from.startsWith(group) && matchesPattern(source.pattern, from.slice(group.length));
    }
    case 'userdata': {
      const [first, ...path] = from.split('.');
      return first === 'userdata' && isOnPath(path, source.path);
    }
    case 'event': {
      const name = from.startsWith('event ') ? from.slice('event '.length) : null;
      return name !== null && (name === '*' || matchesPattern(source.pattern, name));
    }
  }
}

/** Whether a part of USERDATA has the other one, or is within it. */
function isOnPath(one: readonly string[], other: readonly string[]): boolean {
  return other.every((name, index) => one[index] === undefined || one[index] === name);
}

function labelled(
  labels: readonly string[],
  { from, file, line }: { readonly from: string; readonly file: string | null; readonly line: number | null },
): readonly CarriedLabel[] {
  return labels.map((label) => ({ label, from, source: file, line }));
}
