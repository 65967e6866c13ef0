import { z } from 'zod';
import { FIRST_ISSUE } from '../../files/check.ts';
import { chainFaults, EXPORT_FORMAT, ExportError, readExport } from '../../loop/index.ts';
import { clip, counted, outcomeText, sessionLine, type TurnSummary, tallyText, turnLines } from '../../report/index.ts';
import { isRecord } from '../../wire/unknown.ts';
import { type Artefact, type Flaw, type Found, jsonOf, type Kind, listed, MOST_SHOWN, tally, unreadable } from './kind.ts';
import { publicFacts, recordFacts, sealFlaw } from './turn.ts';

/** Files of `sessions export`. */
export const SESSIONS: Kind = {
  kind: 'sessions',
  what: 'a file of "sessions export"',
  recognize({ text }: Artefact): Found | string {
    if (text === null || !/^\s*\{/.test(text)) return 'it is no JSON object';
    if (!text.slice(0, HEAD).includes(EXPORT_FORMAT)) return `its beginning does not say '${EXPORT_FORMAT}'`;
    const value = jsonOf(text);
    const title = 'sessions in one file';
    if (!isRecord(value))
      return failed(title, 'ERR_EXPORT', 'it is cut off or no JSON, or nests too deep, or has too many values');
    if (value['format'] !== EXPORT_FORMAT) return `its 'format' is not '${EXPORT_FORMAT}'`;
    if (countOf(value['sessions']) > MOST_READ)
      return failed(title, 'ERR_EXPORT', `it has more than ${MOST_READ} sessions and turns`);
    try {
      // The project's own reader decides whether the file is valid.
      readExport(text);
    } catch (error) {
      if (error instanceof ExportError) return failed(title, error.code, error.message);
      throw error;
    }
    const { data, error } = FILE.safeParse(value, FIRST_ISSUE);
    if (data === undefined) return failed(title, 'ERR_EXPORT', `it is malformed: ${error.issues[0]?.path.join('.')}`);
    return found(title, data.sessions.map(sessionOf));
  },
};

/** Maximum number of sessions and turns that are read. */
const MOST_READ = 20_000;

/** The number of sessions and of their turns. */
function countOf(sessions: unknown): number {
  if (!Array.isArray(sessions)) return 0;
  const turns = (session: unknown): number =>
    isRecord(session) && Array.isArray(session['turns']) ? session['turns'].length : 0;
  return sessions.reduce<number>((sum, session) => sum + 1 + turns(session), 0);
}

/** Bytes of a file that are searched for the format. */
const HEAD = 4096;

const FILE = z.looseObject({
  sessions: z.array(
    z.looseObject({
      sid: z.string(),
      status: z.string(),
      reason: z.string().nullable(),
      userdata: z.string(),
      head: z.string().nullable(),
      keys: z.array(z.looseObject({ kid: z.string(), alg: z.string() })),
      turns: z.array(z.looseObject({})),
      parent: z.object({ sid: z.string().nullable(), turn: z.int().nullable(), seq: z.int() }).nullable(),
      redacted: z.array(z.looseObject({ turn: z.number() })),
    }),
  ),
});

interface SessionFacts {
  readonly sid: string;
  readonly status: string;
  readonly reason: string | null;
  readonly userdataBytes: number;
  readonly kids: readonly string[];
  /** The call that asked for it; null for a session that the host started. */
  readonly parent: Session['parent'];
  readonly redactedTurns: readonly number[];
  /** Faults of the chain of records. */
  readonly broken: readonly string[];
  readonly turns: readonly TurnSummary[];
  readonly error: Flaw | null;
}

function sessionOf({ sid, status, reason, userdata, head, keys, parent, turns: values, redacted }: Session): SessionFacts {
  const turns: TurnSummary[] = [];
  const links: Link[] = [];
  const errors: Flaw[] = [];
  const damaged = new Map<number, string>();
  for (const [index, value] of values.entries()) {
    const facts = recordFacts(value, previous(links, value['turn']));
    if ('message' in facts) {
      damaged.set(index + 1, facts.message);
      errors.push({ ...facts, message: `turn ${index + 1}: ${facts.message}` });
    } else {
      turns.push(facts);
      errors.push(...sealFlaw(facts));
      links.push(...(LINK.safeParse(value, FIRST_ISSUE).data ?? []));
    }
  }
  const broken = [...chainFaults(links, head, damaged)];
  errors.push(
    ...broken.slice(0, 1).map((fault) => ({ code: 'ERR_STORE', message: `its records are no chain: ${fault}`, line: null })),
  );
  return {
    ...{ sid, status, reason, parent, turns },
    broken: [...damaged.values(), ...broken],
    error: errors[0] ?? null,
    userdataBytes: Buffer.byteLength(userdata),
    kids: keys.map(({ kid }) => kid),
    redactedTurns: redacted.map(({ turn }) => turn),
  };
}

type Session = z.infer<typeof FILE>['sessions'][number];

/** The fields that chain records. */
const LINK = z.object({ turn: z.int(), seal: z.object({ hash: z.string() }) }).transform((link) => [link]);
type Link = z.infer<typeof LINK>[number];

/** The hash that a turn's seal must name; undefined after a gap, so that one gap gives one fault. */
function previous(links: readonly Link[], turn: unknown): string | null | undefined {
  const before = links.at(-1);
  if (before === undefined) return turn === 1 ? null : undefined;
  return turn === before.turn + 1 ? before.seal.hash : undefined;
}

function found(title: string, sessions: readonly SessionFacts[]): Found {
  const turns = sessions.flatMap((session) => session.turns);
  return {
    title: `${counted(sessions.length, 'session')}, as "neuroscript sessions export" writes them`,
    sure: 'certain',
    error: sessions.find(({ error }) => error !== null)?.error ?? null,
    facts: { sessions },
    lines: [
      `${title}: ${counted(turns.length, 'turn')}: ${tallyText(tally(turns.map(({ decision, reason }) => outcomeText(decision, reason)))) || 'none'}`,
      ...listed(sessions, (session) => [
        ...sessionLines(session),
        ...listed(session.turns, (turn) => turnLines(turn).map((line) => `    ${line}`)),
      ]),
    ],
    next: '"neuroscript replay FILE" executes its turns again and verifies their tokens; "--from-turn N --set …" tries something else.',
  };
}

function sessionLines({ sid, status, reason, turns, kids, parent, redactedTurns, broken }: SessionFacts): readonly string[] {
  return [
    clip(`session ${sessionLine({ sid, status, reason, parent, turns: turns.length })}`, 300),
    clip(`  public keys: ${kids.join(', ') || 'none'}`, 200),
    ...(redactedTurns.length === 0 ? [] : [`  redacted in turn ${redactedTurns.slice(0, MOST_SHOWN).join(', ')}`]),
    ...broken.slice(0, MOST_SHOWN).map((fault) => `  ${fault}`),
  ];
}

function failed(title: string, code: string, message: string): Found {
  return unreadable(title, { code, message, line: null }, { sessions: [] });
}

/** What `loop --json` and `sessions show --json` print. */
export const SESSION: Kind = {
  kind: 'session',
  what: 'a session as JSON',
  recognize({ text }: Artefact): Found | string {
    if (text === null || !/^\s*\{/.test(text)) return 'it is no JSON object';
    if (!text.includes('"turns"') || !text.includes('"sid"')) return "it has no 'sid' and 'turns'";
    const value = jsonOf(text);
    if (!isRecord(value) || !Array.isArray(value['turns']) || typeof value['sid'] !== 'string')
      return "its top has no 'sid' and 'turns'";
    const { sid, decision, status, reason } = value;
    if (value['turns'].length > MOST_READ) return `it has more than ${MOST_READ} turns`;
    const word = typeof decision === 'string' ? decision : typeof status === 'string' ? status : null;
    const all = value['turns'].map(publicFacts);
    const turns = all.flatMap((facts) => ('message' in facts ? [] : [facts]));
    const flaw = all.flatMap((facts) => ('message' in facts ? [facts] : []))[0] ?? null;
    const why = typeof reason === 'string' ? reason : null;
    return {
      title: 'a session, as "neuroscript loop --json" and "sessions show --json" print it',
      sure: flaw === null && word !== null ? 'certain' : 'likely',
      error: flaw,
      facts: { sid, status: word, reason: why, turns },
      lines: [
        clip(`session ${sessionLine({ sid, status: word ?? 'no status', reason: why, turns: turns.length })}`, 300),
        ...listed(turns, (turn) => turnLines(turn).map((line) => `  ${line}`)),
      ],
      next: null,
    };
  },
};
