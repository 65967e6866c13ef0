import type { SessionParent, SessionSummary, TurnResult, Waiting } from '../loop/index.ts';
import { usdText } from '../wire/money.ts';
import { grouped } from '../wire/text/grouped.ts';
import { clip, columns, printable } from '../wire/text/printable.ts';
import { counted } from '../wire/text/units.ts';
import { timeText } from '../wire/time.ts';

/** Columns of a subject and of an agent's name. */
const SHOWN = 40;
/** Columns of why an agent gave no reply. */
const REASON = 200;

function outcomeText(word: string, reason: string | null): string {
  return reason === null ? word : `${word} ${reason}`;
}

/** Counts in words: `3 CONTINUE, 1 DONE`. */
export function tallyText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([word, count]) => `${grouped(count)} ${word}`)
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
  /** The sessions above it and the calls that asked, from the top down; absent where they are not looked up. */
  readonly above?: readonly { readonly sid: string; readonly call: string }[];
}

/** One session in one line. */
export function sessionLine(session: SessionLine): string {
  return cellsOf(session).join('  ');
}

/** Cells that every session of a list has, which stand below each other. */
const COLUMNS = 4;

/** Sessions in a line each, in columns where all of these fit into the width. */
export function sessionLines(sessions: readonly SessionLine[], width?: number): readonly string[] {
  return inColumns(sessions.map(cellsOf), width, COLUMNS);
}

/**
 * Rows of printable cells in a line each. The first `most` cells stand below each other where all of these fit into the width, which is any
 * when absent; so do all cells when `most` is absent.
 */
export function inColumns(
  rows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
  most = Math.max(0, ...rows.map(({ length }) => length)),
): readonly string[] {
  const widths = Array.from({ length: most }, (_, column) => Math.max(0, ...rows.map((row) => columns(row[column] ?? ''))));
  if (widths.reduce((sum, each) => sum + each + 2, 0) > width) return rows.map((row) => row.join('  '));
  return rows.map((row) =>
    row
      .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - columns(cell))))
      .join('  ')
      .trimEnd(),
  );
}

function cellsOf(session: SessionLine): readonly string[] {
  const {
    sid,
    status,
    reason,
    subject = null,
    agent = null,
    message = null,
    turns,
    updatedAt,
    started = null,
    waits = null,
    lease = null,
    parent = null,
    spent = null,
    damaged = null,
    above = [],
  } = session;
  const calls = waits === null ? [] : [waits, ...(waits.also ?? [])];
  return [
    above.length === 0 ? printable(sid) : askText(above),
    outcomeText(status === 'open' ? openText(calls, lease) : status, reason),
    counted(turns, 'turn'),
    ...(updatedAt === undefined ? [] : [timeText(updatedAt)]),
    ...(subject === null ? [] : [`subject ${clip(printable(subject), SHOWN)}`]),
    ...(agent === null ? [] : [`agent ${clip(printable(agent), SHOWN)}`]),
    ...(spent?.cost === undefined ? [] : [`cost ${usdText(spent.cost)}`]),
    ...(above.length > 0 ? [`id ${printable(sid)}`] : parent === null ? [] : [askedBy(parent)]),
    ...(started === null || waits !== null ? [] : [`in turn ${started}`]),
    ...calls.map(waitOf),
    ...(status === 'open' && message !== null ? [clip(printable(message), REASON)] : []),
    ...(damaged === null ? [] : [`DAMAGED: ${printable(damaged)}`]),
    ...(lease === null ? [] : [`held by ${printable(lease.owner)} until ${timeText(lease.until)}`]),
  ];
}

/** What an open session does, in the word that `status:` of a query has for it. */
function openText(calls: readonly Waiting[], lease: SessionSummary['lease']): string {
  if (calls.some(({ completed }) => !completed)) return 'waiting';
  return lease === null ? 'open' : 'running';
}

/** The place of a session that an `ask` opened: its own id is random. */
function askText(above: Required<SessionLine>['above']): string {
  return `ask ${above.map(({ call }) => call).join(' › ')} of ${printable(above[0]?.sid ?? '')}`;
}

function askedBy({ sid, turn, seq }: SessionParent): string {
  return sid === null ? `ask ${seq} of a run` : askText([{ sid, call: `${turn}.${seq}` }]);
}

/** The call that a session waits for, in a few words. */
function waitOf({ call, tool, reason, expiresAt, completed }: Waiting): string {
  const until = completed ? 'completed, resume it' : `until ${timeText(expiresAt)}`;
  return `waits for call ${call} of ${printable(tool)} (${printable(reason)}), ${until}`;
}

/** One turn in one line. */
export function turnLine({ turn, decision, reason }: Pick<TurnResult, 'turn' | 'decision' | 'reason'>): string {
  return `turn ${turn}  ${outcomeText(decision, reason)}`;
}
