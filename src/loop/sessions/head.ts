import { UserdataError, validateUserdata } from '../../aeiou/index.ts';
import type { SessionState, SessionSummary } from './store.ts';

/** The parts of a summary that come from the state. */
export function headOf({
  userdata,
  agent,
  message,
  parent,
  spent,
}: SessionState): Pick<SessionSummary, 'subject' | 'agent' | 'message' | 'parent' | 'spent'> {
  return { subject: subjectOf(userdata), agent, message, parent, spent };
}

/** The subject of a USERDATA text; null for a text that is no USERDATA, which a store keeps as it is. */
function subjectOf(userdata: string): string | null {
  try {
    return validateUserdata(userdata).subject;
  } catch (error) {
    if (error instanceof UserdataError) return null;
    throw error;
  }
}
