import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKeys, keyringFrom } from '../src/aeiou/index.ts';
import { createRuntime, defineTool } from '../src/entries/index.ts';
import { type Agent, LoopController, runtimeExecutor, SqliteStore, systemClock } from '../src/loop/index.ts';
import { short, table } from './table.ts';

/** The result of many sessions at once. */
export interface SessionsRow {
  readonly sessions: number;
  readonly turns: number;
  readonly workers: number;
  readonly seconds: number;
  readonly turnsPerSecond: number;
  /** Turns that saw another session or turn than their own, or came out of order. */
  readonly crossed: number;
  /** Sessions that did not end with DONE. */
  readonly unfinished: number;
  /** Bytes by which the host had grown when half of the turns were decided, and in the half after that. */
  readonly grownFirst: number;
  readonly grownSecond: number;
}

/** Turns of every session. */
export const TURNS = 5;
const WORKERS = 2;

/** Says in which session and turn it is called. */
export const whereTool = defineTool({ name: 'tool.probe.Where', run: (_, { turn }) => `${turn.sessionId}/${turn.turnIndex}` });

/** A loop that runs many sessions at once. */
export interface Crowd {
  readonly loop: LoopController;
  readonly store: SqliteStore;
}

/** Creates a loop on two workers that is stored in a file and has room for `sessions` sessions at once. */
export async function withCrowd<T>(sessions: number, use: (crowd: Crowd) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'many-sessions-'));
  try {
    using store = await SqliteStore.open(join(folder, 'store.db'));
    await using runtime = await createRuntime({
      tools: [whereTool],
      policy: { allow: ['tool.probe.*'] },
      concurrency: WORKERS,
      maxWorkers: WORKERS,
      queueLength: 2 * sessions,
    });
    const keyring = keyringFrom(generateKeys('bench'), { clock: systemClock });
    return await use({
      loop: new LoopController({ executor: runtimeExecutor(runtime), keyring, store, leaseMs: 60_000 }),
      store,
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Runs sessions of five turns at once on two workers, stored in a file. Each turn asks a tool for its session and turn. */
export async function benchSessions(quick: boolean): Promise<SessionsRow[]> {
  const sessions = quick ? 40 : 1000;
  return withCrowd(sessions, async ({ loop }) => [await measure(loop, sessions)]);
}

async function measure(loop: LoopController, sessions: number): Promise<SessionsRow> {
  const half = (sessions * TURNS) / 2;
  const before = process.memoryUsage().rss;
  const begun = performance.now();
  let [decided, crossed, unfinished, middle] = [0, 0, 0, before];
  const lane = async (_: unknown, index: number): Promise<void> => {
    const sid = `session-${index}`;
    let seen = 0;
    for await (const event of loop.stream({ userdata: USERDATA, sid, agent: whereAgent })) {
      if (event.type === 'ended' && event.result.decision !== 'DONE') unfinished += 1;
      if (event.type !== 'decided') continue;
      seen += 1;
      decided += 1;
      if (decided === half) middle = process.memoryUsage().rss;
      if (event.record.output.split('\n')[0] !== `${sid}/${seen}`) crossed += 1;
    }
  };
  await Promise.all(Array.from({ length: sessions }, lane));
  const seconds = (performance.now() - begun) / 1000;
  const after = process.memoryUsage().rss;
  return {
    sessions,
    turns: sessions * TURNS,
    workers: WORKERS,
    seconds,
    turnsPerSecond: (sessions * TURNS) / seconds,
    crossed,
    unfinished,
    grownFirst: middle - before,
    grownSecond: after - middle,
  };
}

/** The rows as a page of text. */
export function renderSessions(rows: readonly SessionsRow[]): string {
  const megabytes = (bytes: number): string => (bytes / 1024 ** 2).toFixed(0);
  const cells = rows.map((row) => [
    String(row.sessions),
    String(row.turns),
    String(row.workers),
    short(row.seconds),
    short(row.turnsPerSecond),
    String(row.crossed),
    megabytes(row.grownFirst),
    megabytes(row.grownSecond),
  ]);
  const head = ['sessions', 'turns', 'workers', 'seconds', 'turns/s', 'crossed', 'MB grown, first half', 'second half'];
  return `${table(head, cells)}\n\nAll sessions at once, kept in SQLite; sandbox, a tool call and a signed token in every turn.\n`;
}

/** Why the numbers are invalid. */
export function sessionsFailures(rows: readonly SessionsRow[]): string[] {
  return rows.flatMap(({ crossed, unfinished }) => [
    ...(crossed === 0 ? [] : [`${crossed} turns saw another session or turn than their own`]),
    ...(unfinished === 0 ? [] : [`${unfinished} sessions did not end with DONE`]),
  ]);
}

/** USERDATA of a session. */
export const USERDATA = { subject: 'bench', fields: {} };

/** An agent that asks in each turn for its session and turn: the first line of OUTPUT is `SID/TURN`. */
export const whereAgent: Agent = {
  reply: async ({ turn }) => `<<<NSENV:V3:START>>>
<<<NSENV:V3:USERDATA>>>
{}
<<<NSENV:V3:ACTIONS>>>
command
  emit tool.probe.Where()
  emit tool.aeiou.magic("LOOP", {"action": "${turn < TURNS ? 'continue' : 'done'}"})
endcommand
<<<NSENV:V3:END>>>`,
};
