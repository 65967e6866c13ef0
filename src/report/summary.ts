import type { Decision, SessionParent, SessionSummary, Waiting } from '../loop/index.ts';
import { defaultLimits, findLimit } from '../wire/limits.ts';
import type { WorkerUsage } from '../wire/protocol.ts';
import { timeText } from '../wire/time.ts';
import { counted } from './layout.ts';
import { usageParts } from './session.ts';
import { clip, printable } from './text.ts';
import { amount, quantity } from './units.ts';

/** Columns of a subject and of an agent's name. */
const SHOWN = 40;

/** A decision or a status, with its reason. */
export function outcomeText(word: string, reason: string | null): string {
  return reason === null ? word : `${word} ${reason}`;
}

/** Counts in words: `3 CONTINUE, 1 DONE`. */
export function tallyText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([word, count]) => `${count} ${word}`)
    .join(', ');
}

/** What is known of a session. */
export interface SessionLine extends Partial<Omit<SessionSummary, 'status' | 'reason'>> {
  /** Id of the session. */
  readonly sid: string;
  /** Whether it is open, and how it ended otherwise. */
  readonly status: string;
  /** Why it was halted; null for every other status. */
  readonly reason: string | null;
  /** Decided turns. */
  readonly turns: number;
}

/** One session in one line. */
export function sessionLine(session: SessionLine): string {
  const {
    sid,
    status,
    reason,
    subject = null,
    agent = null,
    turns,
    updatedAt,
    started = null,
    waits = null,
    lease = null,
    parent = null,
    damaged = null,
  } = session;
  const parts = [
    printable(sid),
    outcomeText(status, reason),
    counted(turns, 'turn'),
    ...(updatedAt === undefined ? [] : [timeText(updatedAt)]),
    ...(subject === null ? [] : [`subject ${clip(printable(subject), SHOWN)}`]),
    ...(agent === null ? [] : [`agent ${clip(printable(agent), SHOWN)}`]),
    ...(parent === null ? [] : [askedBy(parent)]),
    ...(started === null || waits !== null ? [] : [`in turn ${started}`]),
    ...(waits === null ? [] : [waits, ...(waits.also ?? [])].map(waitOf)),
    ...(damaged === null ? [] : [`DAMAGED: ${printable(damaged)}`]),
    ...(lease === null ? [] : [`held by ${printable(lease.owner)} until ${timeText(lease.until)}`]),
  ];
  return parts.join('  ');
}

/** The call that asked for a session. */
function askedBy({ sid, turn, seq }: SessionParent): string {
  return sid === null ? `asked by call ${seq} of a run` : `asked by call ${seq} of turn ${turn} of ${printable(sid)}`;
}

/** The call that a session waits for, in a few words. */
function waitOf({ call, tool, reason, expiresAt, completed }: Waiting): string {
  const until = completed ? 'completed, resume it' : `until ${timeText(expiresAt)}`;
  return `waits for call ${call} of ${printable(tool)} (${printable(reason)}), ${until}`;
}

/** A turn without its texts. */
export interface TurnSummary {
  /** Id of the session. */
  readonly sid: string;
  /** Number of the turn, from 1. */
  readonly turn: number;
  /** What the host decided. */
  readonly decision: Decision;
  /** Why it halted; null for every other decision. */
  readonly reason: string | null;
  /** Key of the chosen token; null without one. */
  readonly kid: string | null;
  /** Id of the chosen token; null without one. */
  readonly jti: string | null;
  /** Bytes of OUTPUT. */
  readonly outputBytes: number;
  /** Bytes of SCRATCHPAD. */
  readonly scratchBytes: number;
  /** Lines of OUTPUT that have the form of a token. */
  readonly candidates: number;
  /** Remarks, counted by code. */
  readonly lints: Readonly<Record<string, number>>;
  /** What its program used. */
  readonly usage: WorkerUsage;
  /** Why the program failed; null when it did not. */
  readonly error: { readonly code: string; readonly message: string } | null;
  /** Null for a turn without its record, which cannot be replayed. */
  readonly record: RecordSummary | null;
}

/** What only the record of a turn has. */
export interface RecordSummary {
  /** Version of the record. */
  readonly version: number;
  /** RFC 3339. */
  readonly startedAt: string;
  /** Elapsed milliseconds of the turn. */
  readonly latencyMs: number;
  /** What the token requested when the host decided otherwise; null otherwise. */
  readonly overridden: string | null;
  /** False when the worker was killed, so that output may be missing. */
  readonly outputComplete: boolean;
  /** Bytes of the envelope that was executed. */
  readonly envelopeBytes: number;
  /** The limits of the turn, by name. */
  readonly limits: Readonly<Record<string, number>>;
  /** Counts by tool; prompts and asks by their kind. */
  readonly calls: Readonly<Record<string, number>>;
  /** `whole`: every part is unchanged since it was sealed. A seal is not a signature. */
  readonly seal: 'whole' | 'broken';
  /** The parts that are not as they were sealed; empty for a whole record. */
  readonly faults: readonly { readonly part: string; readonly problem: string }[];
  /** Why it cannot be replayed; null for a record of the right form. */
  readonly notExecutable: string | null;
}

/** One turn in one line. */
export function turnLine({ turn, decision, reason }: Pick<TurnSummary, 'turn' | 'decision' | 'reason'>): string {
  return `turn ${turn}  ${outcomeText(decision, reason)}`;
}

/** A turn in a few lines: decision, record, sizes, tokens, use, lints and error. The caller makes them printable. */
export function turnLines(summary: TurnSummary): readonly string[] {
  const { kid, outputBytes, scratchBytes, candidates, lints, usage, error, record } = summary;
  const sizes = `OUTPUT ${amount('bytes', outputBytes)}, SCRATCHPAD ${amount('bytes', scratchBytes)}`;
  return [
    clip(turnLine(summary), 200),
    ...(record === null ? [] : recordLines(record)),
    `${sizes}; ${counted(candidates, 'token')}${kid === null ? '' : `, chosen one signed with ${kid}`}`,
    clip(`used ${usageParts(usage, record?.limits).join(', ')}`, 300),
    ...(Object.keys(lints).length === 0 ? [] : [clip(tallyText(lints), 200)]),
    ...(error === null ? [] : [clip(`failed: ${error.message} (${error.code})`, 300)]),
  ];
}

function recordLines(record: RecordSummary): readonly string[] {
  const { version, startedAt, overridden, outputComplete, calls, limits, seal, faults, notExecutable } = record;
  return [
    `record of version ${version}, started ${startedAt}; ${SEALS[seal]}`,
    ...faults.slice(0, 10).map(({ part, problem }) => clip(`  ${part} was ${problem}`, 200)),
    ...(overridden === null ? [] : [`its token asked for ${overridden}`]),
    ...(outputComplete ? [] : ['OUTPUT may lack its end: the worker was killed']),
    clip(`calls: ${tallyText(calls) || 'none'}`, 500),
    clip(`limits: ${unusual(limits)}`, 500),
    ...(notExecutable === null ? [] : [clip(`cannot be executed again: ${notExecutable}`, 300)]),
  ];
}

const SEALS: Readonly<Record<RecordSummary['seal'], string>> = {
  whole: 'its seal fits (which is no signature)',
  broken: 'its seal does NOT fit',
};

/** Limits that differ from the defaults of a turn. */
function unusual(limits: Readonly<Record<string, number>>): string {
  const usual = new Map<string, number>(Object.entries(defaultLimits('turn')));
  const parts = Object.entries(limits).filter(([key, value]) => usual.get(key) !== value);
  if (parts.length === 0) return 'those of every turn';
  return `those of every turn, but ${parts.map(([key, value]) => `${key} ${quantity(findLimit(key)?.unit ?? 'count', value)}`).join(', ')}`;
}
