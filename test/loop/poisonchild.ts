import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../src/loop/clock.ts';
import { LoopController } from '../../src/loop/controller.ts';
import { FileLog } from '../../src/loop/log/filelog.ts';
import { SqliteStore } from '../../src/loop/sessions/sqlite.ts';
import { fakeExecutor, newKeyring, type Program, reply, USERDATA } from './fake.ts';
import { INNOCENT, POISON, type Started } from './poison.ts';

/**
 * One host process of the poison test. The first process opens the sessions and has all their turns in flight when the poison ends
 * it. Every later one recovers what the others left, all at the same time, until nothing is left.
 */
const [storePath = '', logPath = '', count = ''] = process.argv.slice(2);
const sids = [POISON, ...Array.from({ length: Number(count) }, (_, index) => `${INNOCENT}-${index}`)];
const store = await SqliteStore.open(storePath);
const isFirst = (await store.list()).length === 0;

let inFlight = 0;
const everyTurnRuns = Promise.withResolvers<void>();

function tell(started: Started): void {
  // Written at once: the next statement may end the process.
  process.stdout.write(`${JSON.stringify(started)}\n`);
}

const work: Program = async ({ context, emit, magic }) => {
  inFlight += 1;
  const sid = String(context.sessionId);
  tell({ sid, turn: Number(context.turnIndex), beside: inFlight - 1 });
  if (inFlight === sids.length) everyTurnRuns.resolve();
  if (isFirst) await everyTurnRuns.promise;
  await pause(sid === POISON ? 5 : 50);
  if (sid === POISON) process.kill(process.pid, 'SIGKILL');
  emit(sid);
  emit(await magic('done'));
  inFlight -= 1;
};

const loop = new LoopController({
  executor: fakeExecutor({ work }),
  keyring: newKeyring('test', systemClock),
  store,
  log: new FileLog(logPath),
  leaseMs: 500,
});
const agent = { reply: async () => reply('program work') };

if (isFirst) await Promise.all(sids.map((sid) => loop.runLoop({ sid, userdata: USERDATA, agent })));
while ((await loop.list()).some(({ status, owed }) => status === 'open' || owed > 0)) {
  const open = await loop.recover();
  // A session that is new in this process runs beside the recovered ones.
  const fresh = open.length === 0 ? [] : [loop.runLoop({ userdata: USERDATA, agent })];
  await Promise.all([...open.map((sid) => loop.resume(sid, { agent })), ...fresh]);
  await pause(50);
}
