import type { Command } from 'commander';
import { type SessionSummary, systemClock } from '../../loop/index.ts';
import { counted, sessionLine } from '../../report/index.ts';
import { mayHaveSessions, openStore } from '../flags/store.ts';
import { parseAge } from '../flags/units.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { usably } from './drive.ts';

interface PruneFlags {
  readonly store?: string;
  /** Milliseconds. */
  readonly olderThan: number;
  readonly dryRun?: true;
  readonly json?: true;
}

const HELP = `
The age of a session counts from its last change. The command keeps open
sessions, running, waiting or abandoned, and ended ones whose decision is not
yet in the log. The file does not shrink; new sessions reuse the space.

Example:
  neuroscript sessions prune --older-than 30d --dry-run
`;

/** `sessions prune --older-than AGE`. `command` has the flags of the store already. */
export function addPrune(command: Command, execute: Execute): void {
  command
    .requiredOption(
      '--older-than <AGE>',
      'remove sessions that did not change for this long: 30d, 12h, 90m, 45s',
      parseAge('older-than'),
    )
    .option('--dry-run', 'remove nothing; list what would be removed')
    .option('--json', 'print a JSON object: dryRun, and the list removed')
    .addHelpText('after', HELP)
    .action(execute(usably(prune)));
}

async function prune(flags: PruneFlags, terminal: Terminal): Promise<ExitCode> {
  const dryRun = flags.dryRun ?? false;
  const removed = mayHaveSessions(flags.store) ? await remove(flags, dryRun) : [];
  if (flags.json) {
    terminal.out.json({ dryRun, removed });
    return EXIT.ok;
  }
  for (const session of removed) terminal.out.prose(sessionLine(session));
  const count = counted(removed.length, 'session');
  terminal.out.line(dryRun ? `${count} would be removed` : `${count} removed`);
  return EXIT.ok;
}

async function remove({ store: flag, olderThan }: PruneFlags, dryRun: boolean): Promise<readonly SessionSummary[]> {
  await using store = await openStore(flag, { mustExist: true });
  return await store.prune({ before: systemClock.now() - olderThan, dryRun });
}
