import type { FinalReply } from '../../wire/call.ts';
import { type AnswerLabels, type CallLabels, type CarriedLabel, type FlowInput, labelNames } from '../../wire/labels.ts';
import type { ToolDefinition } from '../define/definition.ts';
import { capabilityText, matchesPattern } from './capability.ts';
import { type FlowRules, META_LABELS } from './flow.ts';
import type { PolicyGuard } from './guard.ts';

/** The rules about origin of some guards. */
export function flowOf(guards: readonly Pick<PolicyGuard, 'policy'>[]): readonly FlowRules[] {
  return guards.flatMap(({ policy }) => policy?.flow ?? []);
}

/** What a run begins with, as far as its labels depend on it. */
export interface GivenParts {
  readonly globals: Readonly<Record<string, unknown>>;
  readonly events: readonly { readonly name: string }[];
  /** Labels of OUTPUT and SCRATCHPAD that the author of the program may have read; {@link ANYTHING} where nobody knows. */
  readonly read: readonly string[];
  /** Labels of all that USERDATA has, besides those that rules give it. */
  readonly userdata: readonly string[];
}

const USERDATA = 'userdata';

/** In place of labels: the author of the program may have read anything. */
export const ANYTHING = '*';

/** The labels with which a run begins under rules about origin; undefined without such rules. */
export function flowInput(rules: readonly FlowRules[], { globals, events, read, userdata }: GivenParts): FlowInput | undefined {
  if (rules.length === 0) return undefined;
  const sources = rules.flatMap((each) => each.sources);
  const parts = sources.flatMap((source) => (source.from === 'userdata' ? [{ path: source.path, labels: source.labels }] : []));
  const given = [...parts, ...(userdata.length === 0 ? [] : [{ path: [], labels: userdata }])];
  const patterns = sources.flatMap((source) => (source.from === 'event' ? [source] : []));
  return {
    program: union(rules.flatMap(({ program }) => (program !== null && isRead(program, read) ? program.label : []))),
    globals: Object.hasOwn(globals, USERDATA) ? given.map((part) => ({ name: USERDATA, ...part })) : [],
    events: events.map(({ name }) =>
      union(patterns.flatMap(({ pattern, labels }) => (matchesPattern(pattern, name) ? labels : []))),
    ),
  };
}

function isRead({ when, label }: NonNullable<FlowRules['program']>, read: readonly string[]): boolean {
  return when === 'always' || read.includes(ANYTHING) || label.some((each) => read.includes(each));
}

/** The labels of one call on the host: what its arguments carry, and what its answer brings. */
export class CallOrigin {
  /** What the call carries. */
  readonly labels: CallLabels;
  readonly #rules: readonly FlowRules[];
  readonly #adds = new Set<string>();
  readonly #drops = new Set<string>();
  /** Whether a policy lets the tool's server give labels, and whether it has given none yet. */
  #isMeta = false;
  #isUnsaid = false;

  constructor(rules: readonly FlowRules[], labels: CallLabels = NOTHING) {
    this.#rules = rules;
    this.labels = labels;
  }

  /** Names of all labels that the call carries: its arguments, and what decided that it is made. */
  get carried(): readonly string[] {
    return labelNames(allOf(this.labels));
  }

  /** The tool may run: its answer brings the labels of the tool. */
  runs(tool: ToolDefinition): void {
    for (const { sources, endorse } of this.#rules) {
      for (const source of sources)
        if (isFrom(source, tool))
          if (source.labels === 'meta') this.#isMeta = this.#isUnsaid = true;
          else this.carry(source.labels);
      for (const { pattern, labels } of endorse)
        if (pattern !== ASK && matchesPattern(pattern, tool.canonicalName)) for (const label of labels) this.#drops.add(label);
    }
  }

  /** The answer brings these labels, as far as rules name them. */
  carry(labels: readonly string[]): void {
    for (const label of labels) if (this.#rules.some((rules) => rules.labels.includes(label))) this.#adds.add(label);
  }

  /** The server of the tool says that the answer has these labels. They count where a policy says `meta`. */
  carryMeta(labels: readonly string[]): void {
    this.#isUnsaid = false;
    if (this.#isMeta) this.carry(labels);
  }

  /**
   * A model has given an answer of the form that the program asked for. It does not carry on what a policy endorses for such answers, unless
   * the choice of the model or of the form carries it.
   */
  answered(): void {
    const [model, , form] = this.labels.args;
    const kept = labelNames([...(model?.all ?? []), ...(form?.all ?? [])]);
    for (const { pattern, labels } of this.#rules.flatMap(({ endorse }) => endorse))
      for (const label of pattern === ASK ? labels : [])
        if (!kept.includes(label)) {
          this.#adds.delete(label);
          this.#drops.add(label);
        }
  }

  /** What a call that the tool has made brought. */
  follow(inner: CallOrigin): void {
    for (const label of inner.#brings) this.#adds.add(label);
  }

  /** A call that the tool makes. It may pass on everything that the tool has seen, and its answer may be in the tool's. */
  nested(): CallOrigin {
    const from: readonly CarriedLabel[] = [
      ...allOf(this.labels),
      ...[...this.#brings].map((label) => ({ label, from: 'an earlier call of the tool', source: null, line: null })),
    ];
    return new CallOrigin(this.#rules, { args: EVERY.map(() => ({ all: from })), deciding: from });
  }

  /** An answer with its labels. It has none when it only carries those of the arguments. */
  labelled(reply: FinalReply): FinalReply {
    if (reply.t === 'halt' || (this.#brings.size === 0 && this.#drops.size === 0)) return reply;
    return { ...reply, labels: this.#answer() };
  }

  /** The labels of the answer. One of whose labels the server has said nothing may have all that it could say. */
  get #brings(): ReadonlySet<string> {
    return this.#isUnsaid ? new Set([...this.#adds, ...META_LABELS]) : this.#adds;
  }

  #answer(): AnswerLabels {
    const adds = this.#brings;
    return { adds: [...adds].sort(), drops: [...this.#drops].filter((label) => !adds.has(label)).sort() };
  }
}

const ASK = 'ask';

const NOTHING: CallLabels = { args: [], deciding: [] };
/** More arguments than any tool takes. */
const EVERY = Array.from({ length: 64 }, () => null);

function allOf({ args, deciding }: CallLabels): readonly CarriedLabel[] {
  return [...args.flatMap(({ all }) => all), ...deciding];
}

/** A tool, as far as labels of its results depend on it. */
export type LabelledTool = Pick<ToolDefinition, 'canonicalName' | 'capabilities'>;

/** Whether the results of a tool are of the source. */
export function isFrom(source: FlowRules['sources'][number], { canonicalName, capabilities }: LabelledTool): boolean {
  if (source.from === 'tool') return matchesPattern(source.pattern, canonicalName);
  if (source.from !== 'mcp') return false;
  const group = `tool.${source.server.toLowerCase()}.`;
  const served = ['call', 'read'].map((verb) => `mcp:${verb}:${source.server.toLowerCase()}`);
  const isServed = capabilities.some((each) => served.includes(capabilityText(each).toLowerCase()));
  return isServed && canonicalName.startsWith(group) && matchesPattern(source.pattern, canonicalName.slice(group.length));
}

function union(labels: readonly string[]): readonly string[] {
  return [...new Set(labels)].sort();
}
