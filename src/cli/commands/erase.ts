import type { Command } from 'commander';
import { eraseSession } from '../../loop/index.ts';
import { printable } from '../../report/index.ts';
import { openStore } from '../flags/store.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { usably } from './drive.ts';

interface EraseFlags {
  readonly store?: string;
  readonly json?: true;
}

const HELP = `
Removes what an ended session and the sessions of its asks hold of people:
USERDATA, envelopes, programs, output, calls and texts of errors. Decisions,
times, usage and seals stay: "log verify" and "replay" still check the chain,
and say that the turn was erased. The file is written anew, so that nothing is
left in its free pages. Backups and exports are files of their own. End an open
session first, with "sessions cancel".

Example:
  neuroscript sessions erase job-7 --store jobs.db
`;

/** `sessions erase SID`. `command` has the flags of the store already. */
export function addErase(command: Command, execute: Execute): void {
  command
    .argument('<SID>', 'session id')
    .option('--json', 'print a JSON object with the list erased')
    .addHelpText('after', HELP)
    .action(execute(usably(erase)));
}

async function erase(sid: string, flags: EraseFlags, terminal: Terminal): Promise<ExitCode> {
  await using store = await openStore(flags.store, { mustExist: true });
  const erased = await eraseSession(store, sid);
  if (flags.json) terminal.out.line(JSON.stringify({ erased }));
  else for (const each of erased) terminal.out.line(`${printable(each)}: erased`);
  return EXIT.ok;
}
