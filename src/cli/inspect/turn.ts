import { z } from 'zod';
import { FIRST_ISSUE, mapOf } from '../../files/check.ts';
import {
  type Decision,
  malformation,
  PUBLIC_TURN,
  RECORD,
  readRecord,
  StoreError,
  sealFaults,
  type TurnRecord,
} from '../../loop/index.ts';
import { amount, clip, counted, quantity, usageParts } from '../../report/index.ts';
import { defaultLimits, findLimit } from '../../wire/limits.ts';
import { type Artefact, type Flaw, type Found, isObject, jsonOf, type Kind, tallied, tally, timeOf, unreadable } from './kind.ts';

/** Fields in which other versions may differ: more reasons, measures or kinds of errors. */
const TOLERANT = {
  reason: z.string().nullable(),
  usage: mapOf(z.number()),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
};
const SHOWN = PUBLIC_TURN.omit({ agent: true }).extend(TOLERANT);
const RECORDED = RECORD.omit({ agent: true }).extend(TOLERANT);

/** The facts about a turn. */
export interface TurnFacts {
  readonly sid: string;
  readonly turn: number;
  readonly decision: Decision;
  readonly reason: string | null;
  readonly kid: string | null;
  readonly jti: string | null;
  readonly outputBytes: number;
  readonly scratchBytes: number;
  readonly candidates: number;
  readonly lints: Readonly<Record<string, number>>;
  readonly usage: Readonly<Record<string, number>>;
  readonly error: { readonly code: string; readonly message: string } | null;
  /** Null for the output of `turn --json` and `loop --json`, which cannot be replayed. */
  readonly record: RecordFacts | null;
}

/** The facts that only a record has. */
export interface RecordFacts {
  readonly version: number;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly latencyMs: number;
  readonly overridden: string | null;
  readonly outputComplete: boolean;
  readonly envelopeBytes: number;
  readonly limits: Readonly<Record<string, number>>;
  /** Counts by tool; prompts and asks by their kind. */
  readonly calls: Readonly<Record<string, number>>;
  /** `whole`: every part is unchanged since it was sealed. A seal is not a signature. */
  readonly seal: 'whole' | 'broken' | 'none';
  readonly faults: readonly { readonly part: string; readonly problem: string }[];
  /** Why it cannot be replayed; null for a record of the right form. */
  readonly notExecutable: string | null;
}

/** A turn as JSON: the record of one, or what `turn --json` printed. */
export const TURN: Kind = {
  kind: 'turn',
  what: 'a turn',
  recognize({ text }: Artefact): Found | string {
    if (text === null || !/^\s*\{/.test(text)) return 'it is no JSON object';
    if (!text.includes('"decision"') || !text.includes('"sid"')) return "it has no 'sid' and 'decision'";
    const value = jsonOf(text);
    if (!isObject(value)) return 'it is no JSON object, or nests too deep, or has too many values';
    if (!('turn' in value) || !('decision' in value) || !('sid' in value)) return "its top has no 'sid', 'turn' and 'decision'";
    const isRecord = 'inputs' in value;
    const facts = isRecord ? recordFacts(value) : publicFacts(value);
    const title = isRecord ? 'the record of a turn' : 'a turn, as "neuroscript turn --json" prints it';
    if ('message' in facts) return unreadable(title, facts, { turn: null });
    return {
      title,
      sure: 'certain',
      error: sealFlaw(facts)[0] ?? null,
      facts: { turn: facts },
      lines: turnLines(facts),
      next: isRecord
        ? 'A record alone is executed again where its session is: "neuroscript replay" takes stores and files of "sessions export".'
        : null,
    };
  },
};

/** Reads the output of `turn --json`; a flaw for another form. */
export function publicFacts(value: unknown): TurnFacts | Flaw {
  const { data, error } = SHOWN.safeParse(value, FIRST_ISSUE);
  return data === undefined ? malformed(error) : { ...shownFacts(data), record: null };
}

/** Reads a record and checks its seal; `prev` is the hash of the record before, undefined when unknown. */
export function recordFacts(value: unknown, prev?: string | null): TurnFacts | Flaw {
  const { data, error } = RECORDED.safeParse(value, FIRST_ISSUE);
  if (data === undefined) return malformed(error);
  try {
    const record = readRecord(JSON.stringify(value), 'the record');
    return { ...shownFacts(data), record: { ...recordedFacts(data), ...sealOf(record, prev), notExecutable: why(record) } };
  } catch (thrown) {
    if (!(thrown instanceof StoreError)) throw thrown;
    return { code: thrown.code, message: thrown.message, line: null };
  }
}

function malformed(error: z.ZodError): Flaw {
  const [issue] = error.issues;
  return { code: 'ERR_STORE', message: `it is malformed: ${issue?.path.join('.')}: ${issue?.message}`, line: null };
}

function shownFacts(shown: z.infer<typeof SHOWN>): Omit<TurnFacts, 'record'> {
  const { sid, turn, decision, reason, kid, jti, output, scratchpad, candidates, lints, usage, error } = shown;
  return {
    ...{ sid, turn, decision, reason, kid, jti },
    outputBytes: Buffer.byteLength(output),
    scratchBytes: Buffer.byteLength(scratchpad),
    candidates: candidates.length,
    lints: tally(lints.map(({ code }) => code)),
    usage,
    error: error === null ? null : { code: error.code, message: error.message },
  };
}

function recordedFacts(record: z.infer<typeof RECORDED>): Omit<RecordFacts, 'seal' | 'faults' | 'notExecutable'> {
  const { version, startedAt, latencyMs, overridden, outputComplete, inputs, journal } = record;
  return {
    ...{ version, latencyMs, overridden, outputComplete },
    startedAt: timeOf(startedAt),
    envelopeBytes: Buffer.byteLength(inputs.envelope),
    limits: inputs.limits,
    calls: tally(journal.map(({ kind, name }) => (kind === 'tool' ? (name ?? '?') : kind))),
  };
}

function sealOf(record: TurnRecord, prev: string | null | undefined): Pick<RecordFacts, 'seal' | 'faults'> {
  if (record.seal === null) return { seal: 'none', faults: [] };
  const faults = sealFaults(record, prev === undefined ? record.seal.prev : prev);
  return { seal: faults.length === 0 ? 'whole' : 'broken', faults };
}

function why(record: TurnRecord): string | null {
  if (record.version === 1) return 'an older version recorded it, without all of its inputs';
  return record.inputs.scene === null ? 'its inputs are not in the record' : malformation(record);
}

/** The first part that changed since it was sealed, if any. */
export function sealFlaw({ turn, record }: TurnFacts): readonly Flaw[] {
  const [fault] = record?.faults ?? [];
  if (fault === undefined) return [];
  return [
    { code: 'ERR_STORE', message: `the record of turn ${turn} was changed: ${fault.part} was ${fault.problem}`, line: null },
  ];
}

/** A turn as lines. */
export function turnLines(facts: TurnFacts): readonly string[] {
  const { sid, turn, decision, reason, kid, outputBytes, scratchBytes, candidates, lints, usage, error, record } = facts;
  const sizes = `OUTPUT ${amount('bytes', outputBytes)}, SCRATCHPAD ${amount('bytes', scratchBytes)}`;
  return [
    clip(`session ${sid}, turn ${turn}: ${decision}${reason === null ? '' : ` ${reason}`}`, 200),
    ...(record === null ? [] : recordLines(record)),
    `${sizes}; ${counted(candidates, 'token')}${kid === null ? '' : `, chosen one signed with ${kid}`}`,
    clip(`used ${usageParts(usage, record?.limits).join(', ') || 'nothing'}`, 300),
    ...(Object.keys(lints).length === 0 ? [] : [clip(tallied(lints), 200)]),
    ...(error === null ? [] : [clip(`failed: ${error.message} (${error.code})`, 300)]),
  ];
}

function recordLines(record: RecordFacts): readonly string[] {
  const { version, startedAt, overridden, outputComplete, calls, limits, seal, faults, notExecutable } = record;
  return [
    `record of version ${version}, started ${startedAt}; ${SEALS[seal]}`,
    ...faults.slice(0, 10).map(({ part, problem }) => clip(`  ${part} was ${problem}`, 200)),
    ...(overridden === null ? [] : [`its token asked for ${overridden}`]),
    ...(outputComplete ? [] : ['OUTPUT may lack its end: the worker was killed']),
    clip(`calls: ${tallied(calls) || 'none'}`, 500),
    clip(`limits: ${unusual(limits)}`, 500),
    ...(notExecutable === null ? [] : [clip(`cannot be executed again: ${notExecutable}`, 300)]),
  ];
}

const SEALS: Readonly<Record<RecordFacts['seal'], string>> = {
  whole: 'its seal fits (which is no signature)',
  broken: 'its seal does NOT fit',
  none: 'no seal',
};

/** Limits that differ from the defaults of a turn. */
function unusual(limits: Readonly<Record<string, number>>): string {
  const usual = new Map<string, number>(Object.entries(defaultLimits('turn')));
  const parts = Object.entries(limits).filter(([key, value]) => usual.get(key) !== value);
  if (parts.length === 0) return 'those of every turn';
  return `those of every turn, but ${parts.map(([key, value]) => `${key} ${quantity(findLimit(key)?.unit ?? 'count', value)}`).join(', ')}`;
}
