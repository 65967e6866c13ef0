import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { generateKeys, keyringFrom } from '../src/aeiou/index.ts';
import { rootTurn, SILENT_LOGGER } from '../src/context/index.ts';
import {
  type Agent,
  FileLog,
  LoopController,
  type LoopControllerOptions,
  MemoryStore,
  SqliteStore,
  systemClock,
  type TurnExecutor,
} from '../src/loop/index.ts';
import { defaultLimits } from '../src/wire/limits.ts';
import { NO_USAGE } from '../src/wire/result.ts';
import { type PromiseReport, ratio, renderPromises } from './promises.ts';
import { inTurns, type Summary } from './stats.ts';
import { short, spread, table } from './table.ts';

/** The cost of a turn with one kind of store. */
export interface LoopRow {
  readonly keeps: string;
  readonly ms: Summary | null;
}

/** The promise about a turn that is stored in a file, as a multiple of the bare work. */
const MOST = 6;
/** Transactions of the bare work: claim, start, and what was decided; and the bytes that each writes. */
const BARE = { transactions: 3, bytes: 1000 } as const;
/** Turns of one session. Then a new one begins, so that no lane has longer sessions than the others. */
const TURNS = 20;

/**
 * Runs turns whose agent answers at once and whose program only asks for a token, so that the loop's own time is left. The lanes take
 * turns. One of them does the bare work of a turn: a signature, its verification, and transactions of a database.
 */
export async function benchLoop(quick: boolean): Promise<PromiseReport<LoopRow>> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-loop-'));
  const path = (name: string): string => join(folder, name);
  try {
    using file = await SqliteStore.open(path('one.db'));
    using logged = await SqliteStore.open(path('two.db'));
    using safe = await SqliteStore.open(path('three.db'), { durability: 'power' });
    using database = new DatabaseSync(path('bare.db'));
    const lanes = [
      bareLane(database, path('bare.jsonl')),
      lane('memory', { store: new MemoryStore() }),
      lane('SQLite', { store: file }),
      lane('SQLite, log', { store: logged, log: new FileLog(path('log.jsonl')) }),
      lane('SQLite, log, power may fail', { store: safe, log: new FileLog(path('safe.jsonl'), { fsync: 'always' }) }),
    ];
    const [rounds, warmup] = quick ? [60, 20] : [1000, 100];
    const turns = lanes.map(({ turn }) => turn);
    const times = await inTurns({ rounds, warmup }, turns);
    const rows = lanes.map(({ keeps }, index) => ({ keeps, ms: times[index] ?? null }));
    const [bare, , stored, withLog] = rows.map(({ ms }) => ms);
    return {
      rows,
      promises: [
        ratio('a turn kept in SQLite, by the bare work', [stored, bare], 'ms', ['most', MOST]),
        ratio('a turn kept in SQLite with a log, by the bare work', [withLog, bare], 'ms', ['most', MOST]),
      ],
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

export function renderLoop({ rows, promises }: PromiseReport<LoopRow>): string {
  const cells = rows.map(({ keeps, ms }) => [
    keeps,
    short(ms?.median ?? null),
    spread(ms),
    short(ms?.p95 ?? null),
    short(ms?.p99 ?? null),
    ms === null ? '-' : String(ms.samples),
  ]);
  const head = ['kept in', 'median ms', 'q1–q3 ms', 'p95', 'p99', 'turns'];
  return `${table(head, cells)}\n\nOne turn without model, tools and sandbox; signing and verifying its token included.\n\n${renderPromises(promises)}\n`;
}

/** What a turn cannot do without, done without anything around it. */
function bareLane(database: DatabaseSync, log: string) {
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE turns (body TEXT NOT NULL)');
  const insert = database.prepare('INSERT INTO turns VALUES (?)');
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const body = 'x'.repeat(BARE.bytes);
  const turn = async (): Promise<number> => {
    const start = performance.now();
    const message = Buffer.from(body);
    if (!verify(null, message, publicKey, sign(null, message, privateKey))) throw new Error('a signature does not verify');
    for (let transaction = 0; transaction < BARE.transactions; transaction++) insert.run(body);
    appendFileSync(log, `${body}\n`);
    return performance.now() - start;
  };
  return { keeps: 'nothing but bare work', turn };
}

function lane(keeps: string, options: Partial<LoopControllerOptions>) {
  const clock = systemClock;
  const keyring = keyringFrom(generateKeys('bench'), { clock });
  const loop = new LoopController({ executor: bareExecutor(), keyring, clock, ...options });
  let sid = '';
  const turn = async (round: number): Promise<number> => {
    if (sid === '' || round % TURNS === 0) sid = await loop.open({ subject: 'bench', fields: {} });
    const start = performance.now();
    const { decision, reason } = await loop.step(sid, { agent: bareAgent });
    const took = performance.now() - start;
    if (decision !== 'CONTINUE') throw new Error(`a turn ended with ${decision} (${reason})`);
    return took;
  };
  return { keeps, turn };
}

const REPLY =
  '<<<NSENV:V3:START>>>\n<<<NSENV:V3:USERDATA>>>\n{}\n<<<NSENV:V3:ACTIONS>>>\ncommand\nendcommand\n<<<NSENV:V3:END>>>';
/** Answers at once with an empty program. */
export const bareAgent: Agent = { reply: async () => REPLY };

/** An executor that runs nothing: it emits a line and the token of the turn's magic tool, which ends the session at a turn. */
export function bareExecutor(last = Number.POSITIVE_INFINITY): TurnExecutor {
  const root = rootTurn(Date.now);
  let count = 0;
  return {
    limits: defaultLimits('turn'),
    context: (init) => root.derive(init),
    fork: ({ context, tools: [magic] }) => ({
      async execute() {
        const site = { fork: 'bench', source: 'ACTIONS', line: 1, column: 1 };
        const runtime = { turn: context, signal: context.signal, logger: SILENT_LOGGER, site };
        const token: unknown = await magic?.run(
          { kind: 'LOOP', payload: { action: (context.turnIndex ?? 0) < last ? 'continue' : 'done' }, opts: undefined },
          // The magic tool reads only these four properties of its runtime.
          runtime as Parameters<typeof magic.run>[1],
        );
        count += 1;
        const emits = [`step ${count}`, String(token)];
        return {
          ...{ ok: true, phase: 'exec', emits, values: emits, whispers: [], result: null, eventErrors: [], error: null },
          ...{ usage: NO_USAGE, journal: [] },
        } as const;
      },
    }),
  };
}
