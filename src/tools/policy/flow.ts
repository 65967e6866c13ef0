import type { FlowOptions, ProgramLabels } from './options.ts';

/** What an MCP server can say of an answer, where the policy says `meta`: that others wrote it, and that not everybody may see it. */
export const META = { untrusted: 'untrusted', private: 'private' } as const;

/** All labels that an MCP server can give. */
export const META_LABELS: readonly string[] = Object.values(META);

/** Where labelled values come from, with `meta` for the labels that an MCP server gives itself. */
export type FlowSource =
  | { readonly from: 'tool'; readonly pattern: string; readonly labels: readonly string[] }
  /** A part of USERDATA by the names that lead to it; the whole without any. */
  | { readonly from: 'userdata'; readonly path: readonly string[]; readonly labels: readonly string[] }
  /** Payloads of events, by a pattern of their names. */
  | { readonly from: 'event'; readonly pattern: string; readonly labels: readonly string[] }
  /** Results of the tools of an MCP server, by a pattern of the names that the server gives them. */
  | { readonly from: 'mcp'; readonly server: string; readonly pattern: string; readonly labels: readonly string[] | 'meta' };

/** A rule for the arguments that `sink` names: a pattern of tools, or a tool and an argument. In small letters. */
export interface FlowSink {
  /** As the policy writes it. */
  readonly entry: string;
  readonly sink: string;
  readonly refuse: readonly string[];
  readonly ask: readonly string[];
  readonly deciding: boolean;
}

/** The labels that a result does not carry on; `ask` in place of a pattern stands for checked answers of models. */
export interface Endorsement {
  readonly pattern: string;
  readonly labels: readonly string[];
}

/** The rules of a policy about where values come from. */
export interface FlowRules {
  /** All labels that the policy names, at most {@link MOST_LABELS}, sorted. */
  readonly labels: readonly string[];
  readonly sources: readonly FlowSource[];
  readonly sinks: readonly FlowSink[];
  readonly program: Required<ProgramLabels> | null;
  readonly endorse: readonly Endorsement[];
  /** What the rules were made of. */
  readonly options: FlowOptions;
}

export function flowRules(options: FlowOptions): FlowRules {
  const { labels = {}, sinks = {}, program, endorse = {} } = options;
  const rows = Object.entries(sinks).map(([entry, { refuse = [], ask = [], deciding = false }]) => {
    return { entry, sink: entry.toLowerCase(), refuse, ask, deciding };
  });
  const sources = Object.entries(labels).map(([key, given]) => sourceOf(key, given));
  const endorsements = Object.entries(endorse).map(([pattern, taken]) => ({ pattern, labels: taken }));
  const named = [
    ...sources.flatMap((source) => (source.labels === 'meta' ? META_LABELS : source.labels)),
    ...rows.flatMap(({ refuse, ask }) => [...refuse, ...ask]),
    ...endorsements.flatMap((each) => each.labels),
    ...(program?.label ?? []),
  ];
  return Object.freeze({
    labels: [...new Set(named)].sort(),
    sources,
    sinks: rows,
    program: program === undefined ? null : { label: program.label, when: program.when ?? 'always' },
    endorse: endorsements,
    options,
  });
}

function sourceOf(key: string, labels: readonly string[] | 'meta'): FlowSource {
  const [first = '', second = '', ...rest] = key.split('.');
  if (first.toLowerCase() === 'mcp') return { from: 'mcp', server: second, pattern: rest.join('.') || '*', labels };
  // The schema admits the labels of a server for a server alone.
  const own = labels === 'meta' ? [] : labels;
  if (first === 'userdata') return { from: 'userdata', path: key.split('.').slice(1), labels: own };
  if (first === 'event') return { from: 'event', pattern: key.slice('event.'.length), labels: own };
  return { from: 'tool', pattern: key, labels: own };
}
