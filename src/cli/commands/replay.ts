import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import {
  type AttemptReplay,
  ExportError,
  type RecordedSession,
  readExport,
  readSession,
  replaySession,
  type SessionReplay,
  systemClock,
  type TurnReplay,
  tryOut,
} from '../../loop/index.ts';
import { counted, printable, tallyText } from '../../report/index.ts';
import { createRuntime, type Runtime } from '../../runtime/index.ts';
import type { RuntimeLimitOptions } from '../../sandbox/index.ts';
import type { Probe } from '../../wire/heat.ts';
import { LIMITS, type LimitKey } from '../../wire/limits.ts';
import { launcherOption, texts, wholeNumber } from '../flags/options.ts';
import { readTools, type SetupFlags } from '../flags/setup.ts';
import { addStore, mayHaveSessions, openStore, sessionIds } from '../flags/store.ts';
import { changesOf, trialLines } from '../flags/trial.ts';
import { addHeat, type HeatFlags } from '../heat/output.ts';
import { measuredOf, measureRecorded, type StepFlags } from '../heat/recorded.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import { readText } from '../terminal/input.ts';
import { Steps } from '../terminal/status.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { usably } from './drive.ts';
import { readKeyring } from './keys.ts';

interface ReplayFlags extends Pick<SetupFlags, 'tools' | 'launcher'>, HeatFlags, StepFlags {
  readonly store?: string;
  readonly all?: true;
  readonly turn?: number | undefined;
  readonly keys?: string;
  readonly fromTurn?: number;
  readonly set?: readonly string[];
  readonly json?: true;
}

/** Maximum bytes of a file of sessions. */
const FILE_BYTES = 512 * 1024 * 1024;

const HELP = `
The command executes a turn again in a fresh sandbox from its record: it calls
no tool and reads no clock. The turn must give the same bytes, fuel and
decision.
Exits with 0 when all do, and with 1 when one differs or its record was
changed.

With --from-turn it tries the session out from that turn on, with these
changes:
  --set program=FILE        another program as ACTIONS of that turn
  --set 2.1=JSON            another result of call 1 of turn 2 ("sessions show
                            --json" and messages show the ids of calls)
  --set tool.crm.Get=JSON   another result of all calls of a tool;
                            "tool.crm.Get!=no such customer" makes them fail
  --set policy=FILE         another policy
  --set limit.fuel=1e6      another limit, by the name of its flag
Other calls get their recorded answers, then those of --tools. Nothing is
written.

With --at or --step it shows one moment of a turn: the variables of all forks
just before a statement. With --heat and --trace-out it writes where the turn
spent its fuel and time. No tool is called for it.

Examples:
  neuroscript replay --all --store jobs.db
  neuroscript replay job-7 --store jobs.db --turn 3
  neuroscript replay job-7 --store jobs.db --turn 3 --at 12:2
  neuroscript replay job-7 --store jobs.db --turn 3 --heat turn3.html
  neuroscript replay job-7.json
  neuroscript replay job-7 --store jobs.db --from-turn 2 --set 2.1=false
`;

/** `replay`: executes recorded turns again. */
export function addReplay(program: Command, execute: Execute): void {
  const command = program
    .command('replay')
    .summary('execute recorded turns again')
    .description('Executes the turns of recorded sessions again and says where they first differ from their records.')
    .argument('[WHAT...]', 'session ids, or files of "sessions export"');
  addStore(command)
    .option('--all', 'all sessions of the store')
    .option('--turn <N>', 'only this turn', wholeNumber('--turn', 1))
    .option('--keys <FILE>', 'verify tokens with these keys, not with the public keys of the records')
    .option('--from-turn <N>', 'try the session out from this turn on', wholeNumber('--from-turn', 1))
    .option('--set <CHANGE>', 'what is different, with --from-turn (repeatable)', texts)
    .option('--tools <FILE>', 'tools for calls that have no recorded answer, with --from-turn')
    .option('--json', 'print one JSON object')
    .option('--at <PLACE>', 'show the variables before a statement of --turn: LINE, LINE:VISIT or SOURCE:LINE:VISIT')
    .option('--step <K>', 'as --at, for the statement that was executed as the Kth', wholeNumber('--step', 1))
    .addOption(launcherOption());
  addHeat(command)
    .addHelpText('after', HELP)
    .action(execute(usably(replay)));
}

async function replay(what: readonly string[], flags: ReplayFlags, terminal: Terminal): Promise<ExitCode> {
  if (flags.fromTurn === undefined && (flags.set !== undefined || flags.tools !== undefined))
    throw new UsageError('--set and --tools need --from-turn');
  const measured = measuredOf(flags);
  const sessions = await sessionsOf(what, flags);
  // A recorded run has its own policies. Only a trial calls tools, and only those that it was given.
  const tools = flags.tools === undefined ? [] : await readTools(flags.tools);
  const policy = { allow: ['*'], grants: ['*:*:*'] };
  const limits = limitsFor(sessions, areFiles(what, flags));
  await using runtime = await createRuntime({ tools, policy, limits, concurrency: 1, launcher: flags.launcher });
  if (flags.fromTurn !== undefined) return await trial(runtime, sessions, flags, flags.fromTurn, terminal);
  if (measured !== null) return await measure(runtime, sessions, flags, measured, terminal);
  const replays: SessionReplay[] = [];
  const { turn } = flags;
  if (turn !== undefined) for (const session of sessions) checkTurn(session, turn);
  using steps = new Steps(terminal, 'replay');
  const total = sessions.reduce((sum, { turns }) => sum + turns.length, 0);
  let executed = 0;
  for (const session of sessions) {
    steps.reached(executed, total);
    executed += session.turns.length;
    const options = {
      keys: flags.keys === undefined ? undefined : readKeyring(flags.keys, systemClock),
      signal: terminal.interrupt,
      turn,
    };
    const done = await replaySession(runtime, session, options);
    replays.push(done);
    steps.clear();
    if (!flags.json) for (const line of linesOf(done)) terminal.out.prose(line);
  }
  if (flags.json) terminal.out.json({ sessions: replays.map(publicReplay), counts: countsOf(replays) });
  else terminal.out.prose(summary(replays));
  return replays.every(({ ok }) => ok) ? EXIT.ok : EXIT.runtime;
}

/** The limits of a replay: the defaults, and for sessions of a store at least those with which they were recorded. */
function limitsFor(sessions: readonly RecordedSession[], isForeign: boolean): RuntimeLimitOptions {
  const own = isForeign ? [] : sessions.flatMap(({ turns }) => turns.map(({ inputs }) => inputs.limits));
  const keys = new Set(['cpuMs', 'wallMs', 'memoryBytes']);
  const rows = LIMITS.filter(({ key }) => keys.has(key));
  const most = (key: LimitKey, usual: number): number => own.reduce((most, limits) => Math.max(most, limits[key] || 0), usual);
  return Object.fromEntries(rows.map(({ key, default: usual, max }) => [key, Math.min(max, most(key, usual))]));
}

/** Whether words name files of sessions, which may come from others, and not sessions of a store. */
function areFiles(what: readonly string[], { store }: ReplayFlags): boolean {
  return store === undefined && what.some(isFile);
}

async function trial(
  runtime: Runtime,
  sessions: readonly RecordedSession[],
  flags: ReplayFlags,
  fromTurn: number,
  terminal: Terminal,
): Promise<ExitCode> {
  const [session, ...others] = sessions;
  if (session === undefined || others.length > 0) throw new UsageError('--from-turn needs exactly one session');
  checkTurn(session, fromTurn);
  const tried = await tryOut(runtime, session, await changesOf(fromTurn, flags.set ?? []));
  if (flags.json) terminal.out.json(tried);
  else for (const line of trialLines(tried)) terminal.out.prose(line);
  return EXIT.ok;
}

/** Measures one recorded turn, or shows one moment of it. */
async function measure(
  runtime: Runtime,
  sessions: readonly RecordedSession[],
  flags: ReplayFlags,
  probe: Probe,
  terminal: Terminal,
): Promise<ExitCode> {
  const [session, ...others] = sessions;
  const { turn } = flags;
  if (session === undefined || others.length > 0 || turn === undefined)
    throw new UsageError('--at, --step, --heat and --trace-out need one session and --turn N');
  checkTurn(session, turn);
  return await measureRecorded(
    runtime,
    session,
    turn,
    flags,
    probe,
    { keys: flags.keys === undefined ? undefined : readKeyring(flags.keys, systemClock), signal: terminal.interrupt },
    terminal,
  );
}

function checkTurn({ sid, turns, damaged }: RecordedSession, wanted: number): void {
  if (turns.some(({ turn }) => turn === wanted)) return;
  throw new UsageError(printable(damaged?.get(wanted) ?? `session ${sid} has no decided turn ${wanted}`));
}

async function sessionsOf(what: readonly string[], flags: ReplayFlags): Promise<readonly RecordedSession[]> {
  if ((what.length === 0) === (flags.all === undefined))
    throw new UsageError('name sessions or files of "sessions export", or give --all');
  if (areFiles(what, flags)) return (await Promise.all(what.map(readFile))).flat();
  if (flags.all && !mayHaveSessions(flags.store)) return [];
  await using store = await openStore(flags.store, { mustExist: true });
  const sids = flags.all ? await sessionIds(store) : what;
  return await Promise.all(sids.map((sid) => readSession(store, sid)));
}

/** Whether a word names a file rather than a session: such a file exists, or the word looks like a path. */
function isFile(word: string): boolean {
  return existsSync(word) || /[/\\]|\.json$/.test(word);
}

async function readFile(file: string): Promise<readonly RecordedSession[]> {
  const text = await readText(file, FILE_BYTES, 'sessions');
  try {
    return readExport(text);
  } catch (error) {
    if (error instanceof ExportError) throw new UsageError(`${printable(file)}: ${error.message}`, { cause: error });
    throw error;
  }
}

const WORDS: Readonly<Record<TurnReplay['verdict'], string>> = {
  same: 'same',
  prefix: 'same as far as it went before it was stopped',
  verified: 'decision verified, not executed',
  incomplete: 'cannot be executed again',
  malformed: 'MALFORMED RECORD',
  erased: 'erased, and otherwise as it was sealed',
  differs: 'DIFFERS',
  changed: 'CHANGED RECORD',
};

function linesOf({ sid, turns, broken }: SessionReplay): readonly string[] {
  return [
    ...turns.flatMap(({ turn, verdict, why, attempts, faults, divergence, unverified }) => [
      `${printable(sid)}  turn ${turn}  ${WORDS[verdict]}${why === null ? '' : ` (${printable(why)})`}`,
      ...attempts.map(attemptLine),
      ...faults.map(({ part, problem }) => `  ${printable(part)} was ${problem}`),
      ...(divergence === null
        ? []
        : [
            `  first difference: ${printable(divergence.where)}`,
            `    recorded  ${printable(divergence.recorded.slice(0, 500))}`,
            `    replayed  ${printable(divergence.replayed.slice(0, 500))}`,
          ]),
      ...unverified.map((kid) => `  tags of the shared secret ${printable(kid)} were not verified; give --keys`),
    ]),
    ...broken.map((fault) => `${printable(sid)}  ${printable(fault)}`),
  ];
}

function attemptLine({ attempt, end, verdict, why }: AttemptReplay): string {
  return `  attempt ${attempt} (${end})  ${WORDS[verdict]}${why === null ? '' : ` (${printable(why)})`}`;
}

function publicReplay({ sid, turns, broken, ok }: SessionReplay): object {
  return { sid, ok, broken, turns: turns.map(({ replayed: _, sid: __, ...turn }) => turn) };
}

function countsOf(replays: readonly SessionReplay[]): Readonly<Record<string, number>> {
  const turns = replays.flatMap((session) => session.turns);
  return Object.fromEntries([...Map.groupBy(turns, ({ verdict }) => verdict)].map(([verdict, some]) => [verdict, some.length]));
}

function summary(replays: readonly SessionReplay[]): string {
  const turns = replays.reduce((sum, session) => sum + session.turns.length, 0);
  const broken = replays.filter((session) => session.broken.length > 0).length;
  const rest = broken === 0 ? '' : `; ${counted(broken, 'session')} ${broken === 1 ? 'is' : 'are'} broken`;
  return `${counted(replays.length, 'session')}, ${counted(turns, 'turn')}: ${tallyText(countsOf(replays)) || 'nothing to replay'}${rest}`;
}
