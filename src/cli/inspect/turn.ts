import type { z } from 'zod';
import { FIRST_ISSUE } from '../../files/check.ts';
import { malformation, PUBLIC_TURN, RECORD, readRecord, StoreError, sealFaults, type TurnRecord } from '../../loop/index.ts';
import { clip, type RecordSummary, type TurnSummary, timeText, turnLines } from '../../report/index.ts';
import { isRecord } from '../../wire/unknown.ts';
import { type Artefact, type Flaw, type Found, jsonOf, type Kind, tally, unreadable } from './kind.ts';

/** A turn as JSON: the record of one, or what `turn --json` printed. */
export const TURN: Kind = {
  kind: 'turn',
  what: 'a turn',
  recognize({ text }: Artefact): Found | string {
    if (text === null || !/^\s*\{/.test(text)) return 'it is no JSON object';
    if (!text.includes('"decision"') || !text.includes('"sid"')) return "it has no 'sid' and 'decision'";
    const value = jsonOf(text);
    if (!isRecord(value)) return 'it is no JSON object, or nests too deep, or has too many values';
    if (!('turn' in value) || !('decision' in value) || !('sid' in value)) return "its top has no 'sid', 'turn' and 'decision'";
    const recorded = 'inputs' in value;
    const facts = recorded ? recordFacts(value) : publicFacts(value);
    const title = recorded ? 'the record of a turn' : 'a turn, as "neuroscript turn --json" prints it';
    if ('message' in facts) return unreadable(title, facts, { turn: null });
    return {
      title,
      sure: 'certain',
      error: sealFlaw(facts)[0] ?? null,
      facts: { turn: facts },
      lines: [`session ${clip(facts.sid, 200)}`, ...turnLines(facts)],
      next: recorded
        ? 'A record alone is executed again where its session is: "neuroscript replay" takes stores and files of "sessions export".'
        : null,
    };
  },
};

/** Reads the output of `turn --json`; a flaw for another form. */
export function publicFacts(value: unknown): TurnSummary | Flaw {
  const { data, error } = PUBLIC_TURN.safeParse(value, FIRST_ISSUE);
  return data === undefined ? malformed(error) : { ...shownFacts(data), record: null };
}

/** Reads a record and checks its seal; `prev` is the hash of the record before, undefined when unknown. */
export function recordFacts(value: unknown, prev?: string | null): TurnSummary | Flaw {
  const { data, error } = RECORD.safeParse(value, FIRST_ISSUE);
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

function shownFacts(shown: z.infer<typeof PUBLIC_TURN>): Omit<TurnSummary, 'record'> {
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

function recordedFacts(record: z.infer<typeof RECORD>): Omit<RecordSummary, 'seal' | 'faults' | 'notExecutable'> {
  const { version, startedAt, latencyMs, overridden, outputComplete, inputs, journal } = record;
  return {
    ...{ version, latencyMs, overridden, outputComplete },
    startedAt: timeText(startedAt),
    envelopeBytes: Buffer.byteLength(inputs.envelope),
    limits: inputs.limits,
    calls: tally(journal.map(({ kind, name }) => (kind === 'tool' ? (name ?? '?') : kind))),
  };
}

function sealOf(record: TurnRecord, prev: string | null | undefined): Pick<RecordSummary, 'seal' | 'faults'> {
  const faults = sealFaults(record, prev === undefined ? record.seal.prev : prev);
  return { seal: faults.length === 0 ? 'whole' : 'broken', faults };
}

function why(record: TurnRecord): string | null {
  return record.inputs.scene === null ? 'its inputs are not in the record' : malformation(record);
}

/** The first part that changed since it was sealed, if any. */
export function sealFlaw({ turn, record }: TurnSummary): readonly Flaw[] {
  const [fault] = record?.faults ?? [];
  if (fault === undefined) return [];
  return [
    { code: 'ERR_STORE', message: `the record of turn ${turn} was changed: ${fault.part} was ${fault.problem}`, line: null },
  ];
}
