import { type TurnRecord, type TurnVerdicts, turnVerdicts } from '../loop/index.ts';
import type { PolicyVerdict } from '../tools/index.ts';
import { ConfigError } from '../wire/errors.ts';
import { costOf, type JournalEntry, type Refusal } from '../wire/journal.ts';
import type { TaggedJson } from '../wire/protocol.ts';
import { sceneOf } from './record.ts';
import type { Texts } from './texts.ts';
import type { CallView, TurnSide, VerdictView } from './views.ts';

/** Calls of one answer. */
const MOST = 1000;
/** Origins of one refusal. */
const MOST_ORIGINS = 20;

/** The nested sessions of a turn: their ids by the number of the `ask`. */
export type NestedSids = ReadonlyMap<number, string>;

/** The calls of a turn after one of them. */
export function callViews(
  record: TurnRecord,
  texts: Texts,
  nested: NestedSids = new Map(),
  after = 0,
): Pick<TurnSide, 'journal' | 'more' | 'denied'> {
  const { turn, repeats = [], journal } = record;
  const verdicts = verdictsOf(record);
  const left = journal.filter(({ seq }) => seq > after);
  const views = left.slice(0, MOST).map((entry): CallView => {
    const { seq } = entry;
    return {
      ...callView(entry, turn, texts, (name) => `call.${seq}.${name}`),
      verdict: verdictView(verdicts?.calls.get(seq), entry.refused),
      nested: entry.kind === 'ask' ? (nested.get(seq) ?? null) : null,
      repeated: repeats.includes(seq),
    };
  });
  return { journal: views, more: left.length > views.length, denied: deniedOf(record, verdicts) };
}

/** What is known of a call by itself. `part` names the rest of a text that is cut; null where it cannot be had. */
export function callView(entry: JournalEntry, turn: number, texts: Texts, part: (name: string) => string | null): CallView {
  const { seq, outcome } = entry;
  return {
    seq,
    call: `${turn}.${seq}`,
    kind: entry.kind,
    name: nameOf(entry),
    args: argsOf(entry).map((value, index) => texts.value(value, part(`arg.${index}`))),
    result: outcome.ok ? texts.value(outcome.value, part('result')) : null,
    failed: failureOf(outcome),
    verdict: null,
    ms: entry.ms,
    cost: costOf(entry),
    begin: entry.begin,
    at: entry.at,
    nested: null,
    repeated: false,
  };
}

/** The arguments of a call; a prompt has its question, an ask its prompt and its options. */
export function argsOf(entry: JournalEntry): readonly TaggedJson[] {
  if (entry.kind === 'tool') return entry.args;
  if (entry.kind === 'prompt') return [entry.text];
  return entry.options === null ? [entry.prompt] : [entry.prompt, entry.options];
}

/** The tool of a call, or the model that it asks. */
export function nameOf(entry: JournalEntry): string {
  return entry.kind === 'tool' ? entry.name : entry.kind === 'ask' ? entry.model : 'promptuser';
}

function failureOf(outcome: JournalEntry['outcome']): CallView['failed'] {
  if (outcome.ok) return null;
  if ('halted' in outcome) {
    const { code, message, hint = null } = outcome.halted;
    return { code, message, hint, halted: true };
  }
  return { code: `NS${outcome.code}`, message: outcome.message, hint: outcome.hint ?? null, halted: false };
}

/** The verdicts on a turn; null for a record without its policies, or with policies that are none. */
function verdictsOf(record: TurnRecord): TurnVerdicts | null {
  if (sceneOf(record) === null) return null;
  try {
    return turnVerdicts(record);
  } catch (error) {
    if (error instanceof ConfigError) return null;
    throw error;
  }
}

/** The tool for which the whole turn was refused; `ACTIONS` stands for a missing approval of the program. */
function deniedOf(record: TurnRecord, verdicts: TurnVerdicts | null): TurnSide['denied'] {
  const denied = sceneOf(record)?.denied ?? null;
  if (denied === null) return null;
  const { tool, message } = denied;
  return { tool, verdict: verdictView(verdicts?.refused) ?? { ...UNSAID, allowed: false, rule: 'approval', reason: message } };
}

const UNSAID: Pick<VerdictView, 'entry' | 'argument' | 'origins'> = { entry: null, argument: null, origins: [] };

/** A verdict, with what the journal has of a refusal. */
function verdictView(verdict: PolicyVerdict | null | undefined, refused?: Refusal): VerdictView | null {
  if (verdict === undefined || verdict === null) return null;
  const { allowed, rule, entry, reason } = verdict;
  return {
    ...{ allowed, rule, reason },
    entry: entry ?? refused?.entry ?? null,
    argument: refused?.argument ?? null,
    origins: (refused?.labels ?? []).slice(0, MOST_ORIGINS),
  };
}
