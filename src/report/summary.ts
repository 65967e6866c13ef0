import type { SessionParent, SessionSummary, Waiting } from '../loop/index.ts';
import { counted } from './layout.ts';
import { clip, printable } from './text.ts';

/** Columns of a subject and of an agent's name. */
const SHOWN = 40;

/** One session in one line. */
export function sessionLine(session: SessionSummary): string {
  const { sid, status, reason, subject, agent, turns, updatedAt, started, waits, lease, parent, damaged } = session;
  const parts = [
    printable(sid),
    reason === null ? status : `${status} ${reason}`,
    counted(turns, 'turn'),
    new Date(updatedAt).toISOString(),
    ...(subject === null ? [] : [`subject ${clip(printable(subject), SHOWN)}`]),
    ...(agent === null ? [] : [`agent ${clip(printable(agent), SHOWN)}`]),
    ...(parent === null ? [] : [askedBy(parent)]),
    ...(started === null || waits !== null ? [] : [`in turn ${started}`]),
    ...(waits === null ? [] : [waitOf(waits)]),
    ...(damaged === null ? [] : [`DAMAGED: ${printable(damaged)}`]),
    ...(lease === null ? [] : [`held by ${printable(lease.owner)} until ${new Date(lease.until).toISOString()}`]),
  ];
  return parts.join('  ');
}

/** The call that asked for a session. */
function askedBy({ sid, turn, seq }: SessionParent): string {
  return sid === null ? `asked by call ${seq} of a run` : `asked by call ${seq} of turn ${turn} of ${printable(sid)}`;
}

/** The call that a session waits for, in a few words. */
function waitOf({ call, tool, reason, expiresAt, completed }: Waiting): string {
  const until = completed ? 'completed, resume it' : `until ${new Date(expiresAt).toISOString()}`;
  return `waits for call ${call} of ${printable(tool)} (${printable(reason)}), ${until}`;
}
