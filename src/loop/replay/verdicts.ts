import { EnvelopeError, parseEnvelope } from '../../aeiou/index.ts';
import type { Runtime } from '../../runtime/index.ts';
import {
  canonicalName,
  capabilityText,
  type JudgedTool,
  Policy,
  PolicyGuard,
  type PolicyVerdict,
  ruleOf,
} from '../../tools/index.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { ConfigError } from '../../wire/errors.ts';
import type { JournalEntry } from '../../wire/journal.ts';
import { MAGIC_TOOL } from '../magic.ts';
import type { TurnRecord } from '../record/record.ts';
import { malformation } from './check.ts';
import type { RecordedSession } from './session.ts';

/** A verdict on a tool in a recorded turn. */
export interface RecordedVerdict {
  /** Id of the session. */
  readonly sid: string;
  /** Number of the turn, from 1. */
  readonly turn: number;
  /** Id of the call, such as `2.1`; null for a tool that ACTIONS name without a call in the journal. */
  readonly call: string | null;
  /** The tool, with what its definition requires. */
  readonly tool: JudgedTool;
  /** Whether the definition of the tool is known. Only the name of another tool can be judged. */
  readonly known: boolean;
  /** Whether the host gave the tool to the turn itself, so that `allow` need not name it. */
  readonly own: boolean;
  /** As recorded. The policies of the record give the rule of an allowed call. */
  readonly verdict: PolicyVerdict;
}

/**
 * The verdicts of the policies in the turns of a recorded session, in order: one for each call of a program, and one for each tool that
 * ACTIONS name without a call in the journal, because a turn begins only when all of them are allowed. Calls of unknown tools, calls that
 * tools made, and names after the one for which a turn was refused have no verdict. `runtime` parses ACTIONS and has the definitions of
 * the tools; it runs nothing. Rejects with {@link ConfigError} (`ERR_CONFIG`) for a record that is malformed.
 */
export async function recordedVerdicts(
  runtime: Runtime,
  { sid, turns }: Pick<RecordedSession, 'sid' | 'turns'>,
): Promise<readonly RecordedVerdict[]> {
  const { tools } = runtime.interpreter().fork();
  const unknown = new Map<string, JudgedTool>();
  const toolOf = (name: string): Pick<RecordedVerdict, 'tool' | 'known' | 'own'> => {
    const found = tools.lookup(name);
    const tool = found ?? unknown.get(name) ?? { canonicalName: name, requiresTrust: false, capabilities: [] };
    if (found === undefined) unknown.set(name, tool);
    const own = name === MAGIC_TOOL;
    return { tool, known: own || found !== undefined, own };
  };
  const verdicts: RecordedVerdict[] = [];
  for (const record of turns) {
    const { turn, journal } = record;
    // The record of a turn whose process died has no scene. Only its journal is read.
    const malformed = record.inputs.scene === null ? null : malformation(record);
    if (malformed !== null) throw new ConfigError(`the record of turn ${turn} cannot be judged: ${malformed}`);
    const policies = new RecordedPolicies(record);
    const calls = journal.filter((entry) => entry.kind === 'tool');
    const called = new Set(calls.map(({ name }) => canonicalName(name)));
    for (const name of await namedTools(runtime, record)) {
      if (called.has(name)) continue;
      const judged = toolOf(name);
      const verdict = policies.ofName(judged.tool, judged.own);
      if (verdict !== null) verdicts.push({ sid, turn, call: null, ...judged, verdict });
      if (verdict?.allowed === false) break;
    }
    for (const entry of calls) {
      const judged = toolOf(canonicalName(entry.name));
      const verdict = policies.ofCall(judged.tool, judged.own, entry);
      if (verdict !== null) verdicts.push({ sid, turn, call: `${turn}.${entry.seq}`, ...judged, verdict });
    }
  }
  return verdicts;
}

/** The verdicts of the policies in one recorded turn, as far as names decide them. */
export interface TurnVerdicts {
  /** On calls of tools, by their numbers. A call of an unknown tool has no verdict. */
  readonly calls: ReadonlyMap<number, PolicyVerdict>;
  /** On the tool for which the turn was refused; null when it was not refused, or because an approval was missing. */
  readonly refused: PolicyVerdict | null;
}

/**
 * The verdicts in the record of a turn, which must not be malformed. They come from the record alone: no tool is known, and nothing is
 * parsed.
 */
export function turnVerdicts(record: TurnRecord): TurnVerdicts {
  const policies = new RecordedPolicies(record);
  const judged = (name: string) =>
    [{ canonicalName: name, requiresTrust: false, capabilities: [] }, name === MAGIC_TOOL] as const;
  const calls = new Map<number, PolicyVerdict>();
  for (const entry of record.journal) {
    if (entry.kind !== 'tool') continue;
    const verdict = policies.ofCall(...judged(canonicalName(entry.name)), entry);
    if (verdict !== null) calls.set(entry.seq, verdict);
  }
  const denied = record.inputs.scene?.denied ?? null;
  const refused = denied === null ? null : policies.ofName(...judged(canonicalName(denied.tool)));
  return { calls, refused };
}

/**
 * Bounds the comparison of patterns with names for one turn: `most` UTF-16 units, of which each comparison costs `each` more. The author
 * of a record chooses the number of both, and the time grows with their product.
 */
const MATCHING = { most: 100_000_000, each: 100, policy: 1000 } as const;

/** The policies of one recorded turn, and their recorded verdicts. */
class RecordedPolicies {
  readonly #guards: readonly PolicyGuard[];
  /** The patterns of all policies, and their units with those that the policies count for. */
  readonly #patterns: { readonly count: number; readonly units: number };
  /** The units of the grants of all policies. */
  readonly #grants: number;
  #left: number = MATCHING.most;
  /** By the canonical names of tools. */
  readonly #verdicts = new Map<string, PolicyVerdict>();
  readonly #denied: { readonly tool: string; readonly message: string } | null;

  constructor({ inputs: { scene } }: TurnRecord) {
    this.#guards = (scene?.host?.policies ?? []).map((options) => new PolicyGuard(options === null ? null : new Policy(options)));
    const policies = this.#guards.flatMap(({ policy }) => policy ?? []);
    const patterns = policies.flatMap(({ allow, deny }) => [...allow, ...deny]);
    this.#patterns = { count: patterns.length, units: unitsOf(patterns) + this.#guards.length * MATCHING.policy };
    this.#grants = unitsOf(policies.flatMap(({ grants }) => grants.map(capabilityText)));
    this.#denied = scene?.denied ?? null;
  }

  /** The verdict on a tool before the turn began; null for a tool that the host did not know, which it does not deny. */
  ofName(tool: JudgedTool, own: boolean): PolicyVerdict | null {
    const name = tool.canonicalName;
    const denied = this.#denied;
    if (denied !== null && canonicalName(denied.tool) === name) return denialOf(name, denied.message);
    const verdict = this.#ofPolicies(tool, own);
    return verdict.allowed ? verdict : null;
  }

  /**
   * The verdict on a call; null for an unknown tool. An error with another code, or of the tool itself, means that the call was admitted.
   */
  ofCall(tool: JudgedTool, own: boolean, { outcome }: JournalEntry): PolicyVerdict | null {
    const name = tool.canonicalName;
    const failure = failureOf(outcome);
    if (failure?.code === NS_CODES.ToolNotFound && failure.message === `tool '${name}' not found`) return null;
    const denial = failure?.code === NS_CODES.Policy ? denialOf(name, failure.message) : null;
    if (denial !== null) return denial;
    const verdict = this.#ofPolicies(tool, own);
    return verdict.allowed ? verdict : { tool: name, allowed: true, rule: 'allow', entry: null, reason: 'the call was made' };
  }

  /** The first denial, or the verdict of the first policy. */
  #ofPolicies(tool: JudgedTool, own: boolean): PolicyVerdict {
    const name = tool.canonicalName;
    const known = this.#verdicts.get(name);
    if (known !== undefined) return known;
    const verdict = this.#judge(tool, own);
    this.#verdicts.set(name, verdict);
    return verdict;
  }

  #judge(tool: JudgedTool, own: boolean): PolicyVerdict {
    const passed = (reason: string) => ({ tool: tool.canonicalName, allowed: true, rule: 'allow', entry: null, reason }) as const;
    const { count, units } = this.#patterns;
    // A glob of a grant is compared with each character that a tool requires.
    const required = unitsOf(tool.capabilities.map(capabilityText));
    this.#left -= units + count * (tool.canonicalName.length + MATCHING.each) + this.#grants * (1 + required);
    if (this.#left < 0) return passed('the recorded policies have too many patterns to be matched with all names of the turn');
    const verdicts = this.#guards.map((guard) => guard.verdict(tool, own));
    return verdicts.find(({ allowed }) => !allowed) ?? verdicts[0] ?? passed('no policy is recorded');
  }
}

function unitsOf(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0);
}

/** A recorded denial; null for a message that no policy wrote. */
function denialOf(tool: string, reason: string): PolicyVerdict | null {
  const rule = ruleOf(tool, reason);
  return rule === null ? null : { tool, allowed: false, rule, entry: null, reason };
}

function failureOf(outcome: JournalEntry['outcome']): { readonly code: number | null; readonly message: string } | null {
  if (outcome.ok) return null;
  return 'halted' in outcome ? { code: outcome.halted.nsCode, message: outcome.halted.message } : outcome;
}

/**
 * Canonical names of the tools that ACTIONS name, in the order in which a host judges them; none if the record has no program that
 * parses.
 */
async function namedTools(runtime: Runtime, { inputs: { envelope, scene } }: TurnRecord): Promise<readonly string[]> {
  const text = actionsOf(envelope);
  if (text === null || scene === null) return [];
  const { files } = await runtime.parse([{ name: 'ACTIONS', text }]);
  return [...new Set(files.flatMap(({ tools }) => tools.map(canonicalName)))];
}

function actionsOf(envelope: string): string | null {
  try {
    return parseEnvelope(new TextEncoder().encode(envelope)).actions;
  } catch (error) {
    if (error instanceof EnvelopeError) return null;
    throw error;
  }
}
