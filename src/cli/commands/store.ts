import type { Command } from 'commander';
import { VALUES } from '../../../stdlib-tools/storage/tables.ts';
import { allSessions, migrateFile, SESSIONS, type SessionSummary, StoreError, storeStatistics } from '../../loop/index.ts';
import { isPostgresUrl, type MigrationReport, migrateStore, type StoreReport, storeStatus } from '../../postgres/index.ts';
import { counted, printable, tallyText } from '../../report/index.ts';
import { grouped } from '../../wire/text/grouped.ts';
import { addStore, openStore, placeToMake, storeFile } from '../flags/store.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { usably } from './drive.ts';

interface StoreFlags {
  readonly store?: string;
  readonly json?: true;
}

const HELP = `
A store is a file, or a database: postgres://USER@HOST:PORT/DATABASE.
Leave the password out of the command and set PGPASSWORD, or use ~/.pgpass:
other users of a machine can see the arguments of commands.
`;

export function addStoreCommands(program: Command, execute: Execute): void {
  const store = program
    .command('store')
    .summary('set up and examine a store of sessions')
    .description('Works on the store itself, not on its sessions.');
  const add = (name: string, description: string): Command =>
    addStore(store.command(name).description(description)).option('--json', 'print a JSON object').addHelpText('after', HELP);
  add('migrate', 'Makes the tables of a store, or brings them to the form of this version.').action(execute(usably(migrate)));
  add('status', 'Shows form, clock, sessions, and what waits to be done. Reads all sessions.').action(execute(usably(status)));
}

async function migrate(flags: StoreFlags, terminal: Terminal): Promise<ExitCode> {
  const report = await migrated(flags.store);
  if (flags.json) terminal.out.json(report);
  else
    terminal.out.line(`${printable(report.place)}: form ${report.to}${report.from === report.to ? '' : `, was ${report.from}`}`);
  return EXIT.ok;
}

async function status(flags: StoreFlags, terminal: Terminal): Promise<ExitCode> {
  const report = await reported(flags.store);
  if (flags.json) terminal.out.json(report);
  else for (const line of linesOf(report)) terminal.out.prose(line);
  return EXIT.ok;
}

async function migrated(flag: string | undefined): Promise<MigrationReport> {
  const place = placeToMake(flag);
  if (isPostgresUrl(place)) return migrateStore(place);
  return { place, ...migrateFile(place, [SESSIONS, VALUES]) };
}

async function reported(flag: string | undefined): Promise<StoreReport> {
  if (flag !== undefined && isPostgresUrl(flag)) return storeStatus(flag);
  const place = storeFile(flag) ?? '';
  await using store = await openStore(flag, { mustExist: true });
  const found = await storeStatistics(place);
  if (found === null) throw new UsageError(`${printable(place)} is not a store of sessions`);
  if (found.contents instanceof StoreError) throw found.contents;
  const all: Pick<SessionSummary, 'lease' | 'owed'>[] = [];
  for await (const { lease, owed } of allSessions(store)) all.push({ lease, owed });
  return {
    place,
    form: found.version,
    newest: found.newest,
    server: `SQLite ${process.versions['sqlite'] ?? ''}`,
    aheadMs: 0,
    sessions: found.contents.statuses,
    ready: (await store.find({ kind: 'ready', owner: '' }, all.length)).length,
    leased: all.filter(({ lease }) => lease !== null).length,
    owed: all.reduce((sum, { owed }) => sum + owed, 0),
    unsealed: 0,
    partitions: [],
  };
}

function linesOf({
  place,
  form,
  server,
  aheadMs,
  sessions,
  ready,
  leased,
  owed,
  unsealed,
  partitions,
}: StoreReport): readonly string[] {
  return [
    `${printable(place)}: form ${form}, ${printable(server)}`,
    `clock: this machine is ${Math.abs(aheadMs)} ms ${aheadMs < 0 ? 'behind' : 'ahead of'} the store`,
    `sessions: ${printable(tallyText(sessions)) || 'none'}; ${grouped(ready)} ready, ${grouped(leased)} leased`,
    `log: ${counted(owed, 'decision')} owed, ${counted(unsealed, 'line')} not chained yet`,
    ...partitions.map(({ name, bytes }) => `partition ${printable(name)}: ${grouped(bytes)} bytes`),
  ];
}
