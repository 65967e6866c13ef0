import {
  chainFaults,
  EXPORT_FORMAT,
  ExportError,
  type ReadSession,
  readExport,
  StoreError,
  toPublicTurn,
} from '../../loop/index.ts';
import { counted, sessionLine, turnLine } from '../../report/index.ts';
import { type Artefact, type Found, type Kind, listed, unreadable } from './kind.ts';
import { recordFaults } from './turn.ts';

/** Bytes of a file that are searched for the format. */
const HEAD = 4096;

/** Files of `sessions export`. */
export const SESSIONS: Kind = {
  kind: 'sessions',
  what: 'a file of "sessions export"',
  recognize({ text }: Artefact): Found | string {
    if (text === null || !/^\s*\{/.test(text)) return 'it is not a JSON object';
    if (!text.slice(0, HEAD).includes(EXPORT_FORMAT)) return `its beginning does not say '${EXPORT_FORMAT}'`;
    let sessions: readonly ReadSession[];
    try {
      sessions = readExport(text);
    } catch (error) {
      if (error instanceof ExportError) return unreadable('sessions in one file', error);
      throw error;
    }
    const all = sessions.map((session) => ({ ...session, broken: faultsOf(session) }));
    const fault = all.flatMap(({ broken }) => broken)[0];
    return {
      title: `${counted(all.length, 'session')}, as "neuroscript sessions export" writes them`,
      sure: 'certain',
      error: fault === undefined ? null : { code: StoreError.code, message: fault, line: null },
      report: all.map(({ sid, status, turns, broken }) => ({ sid, status, broken, turns: turns.map(toPublicTurn) })),
      lines: listed(all, ({ sid, status, turns, broken, redacted }) => [
        sessionLine({ sid, status, reason: null, turns: turns.length }),
        ...listed(turns, (turn) => [`  ${turnLine(turn)}${redacted.has(turn.turn) ? ', redacted' : ''}`]),
        ...listed(broken, (one) => [`  ${one}`]),
      ]),
      next: '"neuroscript replay FILE" executes its turns again and verifies their tokens; "--from-turn N --set …" tries something else.',
    };
  },
};

/** What is wrong with the records of a session: damaged ones, changes since they were sealed, gaps. */
function faultsOf({ turns, head, damaged }: ReadSession): readonly string[] {
  const changed = turns.flatMap((record, index) => {
    // A gap gives one fault.
    const before = turns[index - 1];
    const known = record.turn === 1 ? null : before?.turn === record.turn - 1 ? before.seal.hash : undefined;
    return recordFaults(record, known === undefined ? record.seal.prev : known);
  });
  const gaps = chainFaults(turns, head, damaged).map((fault) => `its records are not a chain: ${fault}`);
  return [...damaged.values(), ...changed, ...gaps];
}
