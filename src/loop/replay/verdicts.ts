import type { Runtime } from '../../runtime/index.ts';
import {
  type CallQuestion,
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
import { knownOf } from '../../wire/foreseen.ts';
import { inOrder, type JournalEntry } from '../../wire/journal.ts';
import { MAGIC_TOOL } from '../magic.ts';
import { historyOf } from '../record/attempt.ts';
import { actionsOf, type FailedAttempt, type Scene, type TurnRecord } from '../record/record.ts';
import { malformation } from './check.ts';
import type { RecordedSession } from './session.ts';

/** A verdict on a tool in a recorded turn. */
export interface RecordedVerdict {
  /** Id of the session. */
  readonly sid: string;
  /** Number of the turn, from 1. */
  readonly turn: number;
  /** Number of the attempt, from 1; absent for the one that decided the turn. */
  readonly attempt?: number | undefined;
  /** Id of the call, such as `2.1`; null for a tool that ACTIONS name without a call in the journal. */
  readonly call: string | null;
  /** The tool, with what its definition requires. */
  readonly tool: JudgedTool;
  /** Whether the definition of the tool is known. Only the name of another tool can be judged. */
  readonly known: boolean;
  /** Whether the host gave the tool to the turn itself, so that `allow` need not name it. */
  readonly own: boolean;
  /** The call, as rules about arguments and order see it; absent without a call, and for a tool whose definition is not known. */
  readonly question?: CallQuestion | undefined;
  /** As recorded. The policies of the record give the rule of an allowed call. */
  readonly verdict: PolicyVerdict;
}

/**
 * The verdicts of the policies in the turns of a recorded session, in order, for each attempt: one for each call of a program, and one for
 * each tool that ACTIONS name without a call in the journal, because a program runs only when all of them are allowed. Calls of unknown
 * tools, calls that tools made, calls that took the answer of an earlier attempt, and names after the one for which a program was refused
 * have no verdict. `runtime` parses ACTIONS and has the definitions of
 * the tools; it runs nothing. `called` has the tools that were called successfully in earlier turns, and gets those of these turns. Rejects with {@link ConfigError} (`ERR_CONFIG`) for a record that is malformed.
 */
export async function recordedVerdicts(
  runtime: Runtime,
  { sid, turns }: Pick<RecordedSession, 'sid' | 'turns'>,
  called: Set<string> = new Set(),
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
  const isTool = (name: string): boolean => tools.lookup(name) !== undefined;
  const verdicts: RecordedVerdict[] = [];
  for (const record of turns) {
    const { turn } = record;
    // The record of a turn whose process died has no scene. Only its journal is read.
    const malformed = record.inputs.scene === null ? null : malformation(record);
    if (malformed !== null) throw new ConfigError(`the record of turn ${turn} cannot be judged: ${malformed}`);
    for (const { attempt, envelope, ran, journal, denied, before } of programsOf(record)) {
      const policies = new RecordedPolicies(record, denied);
      const made = new Set(journal.flatMap((entry) => (entry.kind === 'tool' ? [canonicalName(entry.name)] : [])));
      for (const name of envelope === null ? [] : await namedTools(runtime, envelope)) {
        if (made.has(name)) continue;
        const judged = toolOf(name);
        const verdict = policies.ofName(judged.tool, judged.own);
        // Of a program that did not run, only what it was denied counts.
        const counts = verdict !== null && (ran || !verdict.allowed);
        if (counts) verdicts.push({ sid, turn, attempt, call: null, ...judged, verdict });
        if (verdict?.allowed === false) break;
      }
      const history = historyOf({ attempts: before }, called);
      for (const entry of inOrder(journal)) {
        for (const tool of entry.called ?? []) history.add(entry.seq, tool);
        if (entry.kind !== 'tool') continue;
        const judged = toolOf(canonicalName(entry.name));
        const verdict = entry.from === undefined ? policies.ofCall(judged.tool, judged.own, entry) : null;
        const tool = tools.lookup(entry.name);
        const past = history.at(entry.seq);
        const question =
          tool === undefined
            ? undefined
            : { tool, args: entry.args.map(knownOf), before: past, labels: entry.flow?.call ?? null, isTool };
        const call = `${turn}.${entry.seq}`;
        if (verdict !== null) verdicts.push({ sid, turn, attempt, call, ...judged, question, verdict });
        history.end(history.begin(entry.seq, entry.name), entry.outcome.ok);
      }
    }
  }
  return verdicts;
}

interface Program extends Pick<FailedAttempt, 'journal' | 'denied'> {
  /** As in {@link RecordedVerdict}. */
  readonly attempt?: number;
  /** Null when the reply could not be read, and for a turn whose process died. */
  readonly envelope: string | null;
  /** Whether it ran; true for the turn itself. */
  readonly ran: boolean;
  /** The attempts before it. */
  readonly before: readonly FailedAttempt[];
}

/** The programs of a turn, in order. That of an interrupted attempt ran again, and a rehearsed one has made no call. */
function programsOf({ attempts = [], inputs, journal }: TurnRecord): readonly Program[] {
  const { envelope, scene } = inputs;
  const earlier = attempts.flatMap(({ end, unreadable, ...each }, index): readonly Program[] => {
    const envelope = unreadable === null ? each.envelope : null;
    const before = attempts.slice(0, index);
    return end === 'interrupted' || end === 'rehearsed'
      ? []
      : [{ ...each, attempt: index + 1, envelope, ran: end === 'failed', before }];
  });
  const program = scene === null ? null : envelope;
  return [...earlier, { envelope: program, ran: true, journal, denied: scene?.denied ?? null, before: attempts }];
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
  const denied = record.inputs.scene?.denied ?? null;
  const policies = new RecordedPolicies(record, denied);
  const judged = (name: string) =>
    [{ canonicalName: name, requiresTrust: false, capabilities: [] }, name === MAGIC_TOOL] as const;
  const calls = new Map<number, PolicyVerdict>();
  for (const entry of record.journal) {
    if (entry.kind !== 'tool') continue;
    const verdict = policies.ofCall(...judged(canonicalName(entry.name)), entry);
    if (verdict !== null) calls.set(entry.seq, verdict);
  }
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
  readonly #grants: number;
  #left: number = MATCHING.most;
  /** By the canonical names of tools. */
  readonly #verdicts = new Map<string, PolicyVerdict>();
  readonly #denied: Scene['denied'];

  constructor({ inputs: { scene } }: TurnRecord, denied: Scene['denied']) {
    this.#guards = (scene?.host?.policies ?? []).map((options) => new PolicyGuard(options === null ? null : new Policy(options)));
    const policies = this.#guards.flatMap(({ policy }) => policy ?? []);
    const patterns = policies.flatMap(({ allow, deny }) => [...allow, ...deny]);
    this.#patterns = { count: patterns.length, units: unitsOf(patterns) + this.#guards.length * MATCHING.policy };
    this.#grants = unitsOf(policies.flatMap(({ grants }) => grants.map(capabilityText)));
    this.#denied = denied;
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
 * Canonical names of the tools that ACTIONS name, in the order in which a host judges them; none if they do not parse.
 */
async function namedTools(runtime: Runtime, envelope: string): Promise<readonly string[]> {
  const text = actionsOf(envelope);
  if (text === null) return [];
  const { files } = await runtime.parse([{ name: 'ACTIONS', text }]);
  return [...new Set(files.flatMap(({ tools }) => tools.map(canonicalName)))];
}
