import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKeys, keyringFrom } from '../src/aeiou/index.ts';
import { createRuntime, defineTool } from '../src/index.ts';
import { type Agent, LoopController, runtimeExecutor, SqliteStore, systemClock } from '../src/loop/index.ts';
import { short, table } from './table.ts';

/** What many sessions at once did. */
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

const TURNS = 5;
const WORKERS = 2;

/** Sessions of five turns on two workers, all at once, kept in a file; each turn asks a tool where it is. */
export async function benchSessions(quick: boolean): Promise<SessionsRow[]> {
  const sessions = quick ? 40 : 1000;
  const folder = await mkdtemp(join(tmpdir(), 'bench-sessions-'));
  const where = defineTool({ name: 'tool.probe.Where', run: (_, { turn }) => `${turn.sessionId}/${turn.turnIndex}` });
  try {
    using store = await SqliteStore.open(join(folder, 'store.db'));
    await using runtime = await createRuntime({
      tools: [where],
      policy: { allow: ['tool.probe.*'] },
      concurrency: WORKERS,
      maxWorkers: WORKERS,
      queueLength: 2 * sessions,
    });
    const keyring = keyringFrom(generateKeys('bench'), { clock: systemClock });
    const loop = new LoopController({ executor: runtimeExecutor(runtime), keyring, store, leaseMs: 60_000 });
    const half = (sessions * TURNS) / 2;
    const before = process.memoryUsage().rss;
    const begun = performance.now();
    let [decided, crossed, unfinished, middle] = [0, 0, 0, before];
    const lane = async (_: unknown, index: number): Promise<void> => {
      const sid = `session-${index}`;
      let seen = 0;
      for await (const event of loop.stream({ userdata: USERDATA, sid, agent })) {
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
    return [
      {
        sessions,
        turns: sessions * TURNS,
        workers: WORKERS,
        seconds,
        turnsPerSecond: (sessions * TURNS) / seconds,
        crossed,
        unfinished,
        grownFirst: middle - before,
        grownSecond: after - middle,
      },
    ];
  } finally {
    await rm(folder, { recursive: true });
  }
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

/** Why the numbers do not count. */
export function sessionsFailures(rows: readonly SessionsRow[]): string[] {
  return rows.flatMap(({ crossed, unfinished }) => [
    ...(crossed === 0 ? [] : [`${crossed} turns saw another session or turn than their own`]),
    ...(unfinished === 0 ? [] : [`${unfinished} sessions did not end with DONE`]),
  ]);
}

const USERDATA = { subject: 'bench', fields: {} };
const agent: Agent = {
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
