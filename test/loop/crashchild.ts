import { flushCompileCache } from 'node:module';
import { DatabaseSync } from 'node:sqlite';
import type { AgentRequest } from '../../src/loop/agents/index.ts';
import { systemClock } from '../../src/loop/clock.ts';
import { LoopController } from '../../src/loop/controller.ts';
import { FileLog } from '../../src/loop/log/filelog.ts';
import { SessionExistsError, SessionLeasedError, SessionStateError } from '../../src/loop/sessions/errors.ts';
import { SqliteStore } from '../../src/loop/sessions/sqlite.ts';
import { fakeExecutor, newKeyring, type Program, reply, USERDATA } from './fake.ts';
import { isMute } from './mute.ts';

/** One process of the crash test: drives all sessions of a store to their end, until it is killed. */
const [storePath = '', logPath = '', worldPath = '', sessions = '', turns = '', leaseMs = ''] = process.argv.slice(2);

const world = new DatabaseSync(worldPath, { timeout: 5000 });
world.exec('PRAGMA synchronous = NORMAL');
const run = world.prepare('INSERT INTO runs VALUES (?, ?)');
const cell = world.prepare('INSERT OR IGNORE INTO cells VALUES (?, 0, 0)');
/** Compare and set: has its effect only when nobody has had it. */
const set = world.prepare('UPDATE cells SET value = ?, effects = effects + 1 WHERE sid = ? AND value = ?');

const pause = (most: number) => new Promise((done) => setTimeout(done, Math.random() * most));

const work: Program = async ({ context, emit, magic }) => {
  const [sid, turn] = [String(context.sessionId), Number(context.turnIndex)];
  run.run(sid, turn);
  await pause(4);
  cell.run(sid);
  set.run(turn, sid, turn - 1);
  await pause(4);
  emit(`turn ${turn}`);
  emit(await magic(turn < Number(turns) ? 'continue' : 'done'));
};

const loop = new LoopController({
  executor: fakeExecutor({ work }),
  keyring: newKeyring('test', systemClock),
  store: await SqliteStore.open(storePath),
  log: new FileLog(logPath, { maxBytes: 20_000 }),
  leaseMs: Number(leaseMs),
  maxAttempts: 1_000_000,
});
/** Some sessions end between two turns: their agent has nothing to say any more. */
const agent = {
  async reply({ sid, turn }: AgentRequest) {
    if (turn === Number(turns) && isMute(sid)) throw new Error('nothing to say');
    return reply('program work');
  },
};

/** Drives one session to its end, whoever began it. */
async function drive(sid: string): Promise<void> {
  for (;;) {
    try {
      await loop.open(USERDATA, sid).catch((error: unknown) => {
        if (!(error instanceof SessionExistsError)) throw error;
      });
      await loop.resume(sid, { agent });
    } catch (error) {
      if (error instanceof SessionStateError) return;
      if (!(error instanceof SessionLeasedError)) throw error;
      await pause(50);
    }
  }
}

// A process that is killed writes nothing at its end.
flushCompileCache();
await loop.recover();
process.stdout.write('ready\n');
const left = Array.from({ length: Number(sessions) }, (_, index) => `session-${index}`);
const lanes = Array.from({ length: 6 }, async () => {
  // Two processes meet in the middle more often when each takes them in an order of its own.
  while (left.length > 0) for (const sid of left.splice(Math.floor(Math.random() * left.length), 1)) await drive(sid);
});
await Promise.all(lanes);
// What another process committed and did not live to log is owed until its lease has ended.
for (;;) {
  await loop.recover();
  if ((await loop.list()).every(({ owed }) => owed === 0)) break;
  await pause(50);
}
