import { z } from 'zod';
import { FIRST_ISSUE } from '../../files/check.ts';
import {
  malformation,
  PUBLIC_TURN,
  readRecord,
  recordProblem,
  StoreError,
  sealFaults,
  type TurnRecord,
  toPublicTurn,
} from '../../loop/index.ts';
import { explainTurn, plainPalette, sessionLine, turnLine } from '../../report/index.ts';
import { isRecord } from '../../wire/unknown.ts';
import { type Artefact, type Found, jsonOf, type Kind, listed, unreadable, whole } from './kind.ts';

/** What `loop --json` and `sessions show --json` print, as far as it is shown. */
const SESSION_FORM = z.looseObject({
  sid: z.string(),
  decision: z.string().optional(),
  status: z.string().optional(),
  reason: z.string().nullish(),
  turns: z.array(PUBLIC_TURN),
});

/** A turn as JSON: the record of one, or what `turn --json` printed. */
export const TURN: Kind = {
  kind: 'turn',
  what: 'a turn',
  recognize({ text }: Artefact): Found | string {
    const value = objectOf(text, ['sid', 'turn', 'decision']);
    if (typeof value === 'string') return value;
    if ('inputs' in value) return recorded(value);
    const title = 'a turn, as "neuroscript turn --json" prints it';
    const { data, error } = PUBLIC_TURN.safeParse(value, FIRST_ISSUE);
    return data === undefined
      ? malformed(title, error)
      : whole({ form: 'result', title, report: value, lines: [turnLine(data)], next: null });
  },
};

/** What `loop --json` and `sessions show --json` print. */
export const SESSION: Kind = {
  kind: 'session',
  what: 'a session as JSON',
  recognize({ text }: Artefact): Found | string {
    const value = objectOf(text, ['sid', 'turns']);
    if (typeof value === 'string') return value;
    if (!Array.isArray(value['turns'])) return "its 'turns' is not a list";
    const title = 'a session, as "neuroscript loop --json" and "sessions show --json" print it';
    const { data, error } = SESSION_FORM.safeParse(value, FIRST_ISSUE);
    if (data === undefined) return malformed(title, error);
    const { sid, decision, status = decision ?? 'no status', reason = null, turns } = data;
    const lines = [sessionLine({ sid, status, reason, turns: turns.length }), ...listed(turns, (turn) => [turnLine(turn)])];
    return whole({ title, report: value, lines, next: null });
  },
};

/** The JSON object of a text with these keys, or why it is none. */
function objectOf(text: string | null, keys: readonly string[]): Readonly<Record<string, unknown>> | string {
  if (text === null || !/^\s*\{/.test(text)) return 'it is not a JSON object';
  const lacking = `no top-level keys ${keys.map((key) => `'${key}'`).join(', ')}`;
  if (!keys.every((key) => text.includes(`"${key}"`))) return lacking;
  const value = jsonOf(text);
  if (!isRecord(value)) return 'it is not a JSON object, or it nests too deep, or it has too many values';
  return keys.every((key) => key in value) ? value : lacking;
}

function recorded(value: object): Found {
  const title = 'the record of a turn';
  let record: TurnRecord;
  try {
    record = readRecord(JSON.stringify(value), 'the record');
  } catch (error) {
    if (error instanceof StoreError) return unreadable(title, error);
    throw error;
  }
  const problem = recordProblem(record) ?? malformation(record);
  if (problem !== null) return unreadable(title, { code: StoreError.code, message: problem });
  const faults = recordFaults(record, record.seal.prev);
  return {
    ...whole({ form: 'record', title, report: toPublicTurn(record), lines: explainTurn(record, plainPalette, true), next: NEXT }),
    error: faults[0] === undefined ? null : { code: StoreError.code, message: faults[0], line: null },
  };
}

const NEXT =
  'A record alone is executed again where its session is: "neuroscript replay" takes stores and files of "sessions export".';

/** What changed in a record since it was sealed. A seal is not a signature. `prev` is the hash of the record before. */
export function recordFaults(record: TurnRecord, prev: string | null): readonly string[] {
  return sealFaults(record, prev).map(
    ({ part, problem }) => `the record of turn ${record.turn} was changed: ${part} was ${problem}`,
  );
}

function malformed(title: string, error: z.ZodError): Found {
  const [issue] = error.issues;
  return unreadable(title, { code: StoreError.code, message: `it is malformed: ${issue?.path.join('.')}: ${issue?.message}` });
}
