import { type Command, Option } from 'commander';
import {
  Ancestry,
  lastApproved,
  recordProblem,
  SessionCoordinator,
  type SessionCursor,
  type SessionSummary,
  searchSessions,
  systemClock,
  toPublicTurn,
  usualCosts,
} from '../../loop/index.ts';
import { explainActions, explainGrant, explainTurn, printable, sessionLine, sessionLines, turnLine } from '../../report/index.ts';
import { addConfig, CONFIG_HELP, configuredFor, type DriveFlags } from '../config/settings.ts';
import { addAgent, readAgent } from '../flags/agent.ts';
import { addApproval } from '../flags/approval.ts';
import { addCeilings } from '../flags/ceilings.ts';
import { addLimits, wholeNumber } from '../flags/options.ts';
import { addQuery, cursorOf, cursorText, type QueryFlags, queryOf } from '../flags/query.ts';
import { addSession, LOG, STREAM } from '../flags/session.ts';
import { addStore, mayHaveSessions, type OpenedStore, openStore } from '../flags/store.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { writeNew } from '../terminal/write.ts';
import { addComplete } from './complete.ts';
import { drive, logOf, usably } from './drive.ts';
import { addErase } from './erase.ts';
import { addExport } from './export.ts';
import { addOpen } from './open.ts';
import { addPromote } from './promote.ts';
import { addPrune } from './prune.ts';
import { addSessionReceipt } from './receipt.ts';
import { builtPage, openInspector } from './ui.ts';

interface StoreFlags {
  readonly store?: string;
  readonly json?: true;
}

interface ListFlags extends StoreFlags, QueryFlags {
  readonly limit: number;
  readonly look: number;
  readonly after?: string;
}

interface ShowFlags extends StoreFlags {
  readonly turn?: number;
  readonly brief?: true;
  readonly html?: string;
}

interface CancelFlags extends StoreFlags {
  readonly log?: string;
  readonly owner?: string;
}

/** `sessions list|show|open|resume|complete|cancel|receipt|export|promote|erase|prune`. */
export function addSessions(program: Command, execute: Execute): void {
  const sessions = program
    .command('sessions')
    .summary('list, resume, end and remove the sessions of a store')
    .description('Works on the sessions that "neuroscript loop" keeps.');
  const add = (name: string, description: string): Command => addStore(sessions.command(name).description(description));
  addQuery(add('list', 'Lists the sessions, the latest change first: status, turns, last change, subject, agent, owner.'))
    .addOption(new Option('--limit <N>', 'most sessions').argParser(wholeNumber('--limit', 1)).default(LISTED))
    .addOption(
      new Option('--look <N>', 'most further sessions and turns to read for a query')
        .argParser(wholeNumber('--look', 1))
        .default(LOOK),
    )
    .option('--after <CURSOR>', 'go on where an earlier list has ended')
    .option('--json', 'print each session as a line of JSON')
    .action(execute(usably(list)));
  add('show', 'Explains the turns of one session to its operator: SCRATCHPAD, which is private, is shown too.')
    .argument('<SID>', 'session id')
    .option('--turn <N>', 'only this turn', wholeNumber('--turn', 1))
    .option('--brief', 'one line a turn')
    .option('--json', 'print the session as one JSON object')
    .option('--html <FILE>', 'write the session into a page that opens without server or network')
    .action(execute(usably(show)));
  addOpen(add('open', 'Puts a session into the store, for a host to drive.'), execute);
  const resume = add('resume', 'Drives an open session to its end. Decided turns never run again.')
    .argument('<SID>', 'session id')
    .addOption(
      new Option('--on-interrupted <WHAT>', 'what to do with a turn whose process died')
        .choices(['rerun', 'halt'])
        .default('rerun'),
    )
    .option(...LOG)
    .option(...STREAM);
  addAgent(addConfig(resume));
  addSession(resume, { withSid: false });
  addCeilings(resume);
  resume.option('--json', 'print the session as one JSON object');
  addLimits(addApproval(resume), 'turn')
    .addHelpText('after', CONFIG_HELP)
    .action(execute(usably(resumeSession)));
  addComplete(add('complete', 'Answers the call that a session waits for; with --agent, continues the session.'), execute);
  add('cancel', 'Ends an open session with HALT ERR_CANCELLED, or asks the process that drives it to do so.')
    .argument('<SID>', 'session id')
    .option('--log <FILE>', 'the decision log, for a turn that was interrupted')
    .option('--owner <NAME>', 'the process that holds the session, if it has certainly ended: its lease ends at once')
    .action(execute(usably(cancel)));
  addSessionReceipt(add('receipt', 'Prints a signed receipt of a session, which others can verify and run.'), execute);
  addExport(add('export', 'Prints sessions with the complete records of their turns as one JSON object.'), execute);
  addPromote(add('promote', 'Makes a procedure of the program of an approved turn, with its test and its grant.'), execute);
  addErase(add('erase', 'Erases the content of an ended session; its chain can still be verified.'), execute);
  addPrune(add('prune', 'Removes ended sessions of a certain age, and lists them.'), execute);
}

async function resumeSession(sid: string, flags: DriveFlags, terminal: Terminal): Promise<ExitCode> {
  const settings = await configuredFor(sid, flags);
  return drive(settings, await readAgent(settings), { resume: sid }, terminal);
}

/** Sessions of a list without a limit of its own. */
const LISTED = 100;
/** Sessions and turns that a list reads without finding any, so that it takes a part of a second beside any number of sessions. */
const LOOK = 500;

async function list(flags: ListFlags, terminal: Terminal): Promise<ExitCode> {
  const query = queryOf(flags);
  const after = flags.after === undefined ? undefined : cursorOf(flags.after);
  if (!mayHaveSessions(flags.store)) return EXIT.ok;
  await using store = await openStore(flags.store, { mustExist: true });
  const { limit, look } = flags;
  const { sessions, next } = await searchSessions(store, query, { limit, effort: limit + look, after });
  if (flags.json) for (const session of sessions) terminal.out.json(session);
  else {
    const ancestry = new Ancestry(store);
    const named = [];
    for (const session of sessions) named.push({ ...session, above: await ancestry.above(session) });
    for (const line of sessionLines(named, terminal.outIsTTY ? terminal.paintOut.columns : undefined)) terminal.out.prose(line);
    for (const session of sessions) tellFar(session, terminal);
  }
  if (next !== null) tellNext(next, sessions.length === limit ? '--limit' : '--look', terminal);
  return EXIT.ok;
}

/** Says how far a list looked, and how to go on. */
function tellNext(next: SessionCursor, flag: string, terminal: Terminal): void {
  const back = new Date(next.updatedAt).toISOString();
  const cursor = printable(cursorText(next));
  terminal.err.prose(`neuroscript: looked back to ${back}; ${flag} N looks further, and --after '${cursor}' goes on there`);
}

async function show(sid: string, flags: ShowFlags, terminal: Terminal): Promise<ExitCode> {
  await using store = await openStore(flags.store, { mustExist: true });
  const session = await store.summary(sid);
  if (session === null) throw unknown(sid);
  if (flags.html !== undefined) return await page(store, sid, flags.html, flags);
  const lost: string[] = [];
  const stored = await store.turns(sid, (_, problem) => lost.push(problem));
  const all = stored.filter((record) => {
    const problem = recordProblem(record);
    if (problem !== null) lost.push(`turn ${record.turn} of session ${sid} cannot be shown: ${problem}`);
    return problem === null;
  });
  const turns = flags.turn === undefined ? all : all.filter(({ turn }) => turn === flags.turn);
  if (flags.turn !== undefined && turns.length === 0)
    throw new UsageError(`session ${printable(sid)} has no decided turn ${flags.turn} that can be read`);
  if (flags.json) terminal.out.json({ ...session, turns: turns.map(toPublicTurn) });
  else {
    terminal.out.prose(sessionLine({ ...session, above: await new Ancestry(store).above(session) }));
    const { plan, program } = session.waits ?? {};
    if (plan !== undefined) {
      if (program !== undefined) for (const line of explainActions(program, terminal.paintOut)) terminal.out.prose(line);
      const [since, usual] = [await lastApproved(store, sid, session.turns), await usualCosts(store)];
      for (const line of explainGrant(plan, terminal.paintOut, since?.grant, usual.ofGrant(plan))) terminal.out.prose(line);
    }
    for (const turn of turns)
      if (flags.brief) terminal.out.prose(turnLine(turn));
      else for (const line of ['', ...explainTurn(turn, terminal.paintOut, true)]) terminal.out.prose(line);
  }
  tellFar(session, terminal);
  for (const problem of lost) terminal.err.prose(`neuroscript: ${printable(problem)}`);
  return lost.length === 0 ? EXIT.ok : EXIT.runtime;
}

/** Writes a session into a file that a browser opens. */
async function page(store: OpenedStore, sid: string, file: string, flags: ShowFlags): Promise<ExitCode> {
  if (flags.json || flags.brief || flags.turn !== undefined)
    throw new UsageError('--html cannot be combined with --json, --brief and --turn: it shows the whole session');
  const { FILE_SIZES, snapshotHtml } = await import('../../ui/index.ts');
  const assets = await builtPage();
  await using resources = new AsyncDisposableStack();
  const inspector = resources.use(await openInspector(store, flags, resources));
  const html = snapshotHtml(assets, await inspector.snapshot(sid, FILE_SIZES));
  await writeNew(file, html);
  return EXIT.ok;
}

async function cancel(sid: string, flags: CancelFlags, terminal: Terminal): Promise<ExitCode> {
  await using store = await openStore(flags.store, { mustExist: true });
  const log = logOf(flags.log, store);
  const coordinator = new SessionCoordinator({
    store,
    log,
    clock: systemClock,
    owner: flags.owner,
  });
  const problems: string[] = [];
  if (!(await coordinator.cancel(sid, ({ message }) => problems.push(message)))) {
    if ((await store.summary(sid)) === null) throw unknown(sid);
    throw new UsageError(`session ${printable(sid)} has ended already`);
  }
  const left = await store.summary(sid);
  const ended = left?.status !== 'open';
  terminal.out.prose(`${printable(sid)}: ${ended ? 'cancelled' : 'is being driven; its process was asked to end it'}`);
  if (left !== null) tellFar(left, terminal);
  for (const problem of problems) terminal.err.prose(`neuroscript: ${printable(problem)}; ${LEFT}`);
  return EXIT.ok;
}

/** Leases that end later than this are unusual: hosts take 15 seconds at a time by default. */
const FAR_MS = 300_000;

/** Says that a lease ends so late that the clock of its process may have been wrong, and what to do then. */
function tellFar({ sid, lease }: SessionSummary, terminal: Terminal): void {
  const ahead = (lease?.until ?? 0) - systemClock.now();
  if (lease === null || ahead <= FAR_MS) return;
  const what = `session ${printable(sid)} is held for ${Math.round(ahead / 60_000)} more minutes, longer than hosts usually take`;
  const whose = `--owner ${JSON.stringify(printable(lease.owner))}`;
  terminal.err.prose(
    `neuroscript: ${what}: the clock of its process may have been ahead; if that process has ended, "sessions cancel" with ${whose} ends the session now`,
  );
}

/** What becomes of a session that could not be read when it was cancelled. */
const LEFT =
  'it ended without a record of a turn under way, and what the store has of it stays there until "sessions erase" or "sessions prune"';

function unknown(sid: string): UsageError {
  return new UsageError(`session ${printable(sid)} does not exist`);
}
