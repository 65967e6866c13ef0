import { appendFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/loop/clock.ts';
import { LoopController } from '../../src/loop/controller.ts';
import { turnProcess } from '../../src/loop/host/turnprocess.ts';
import { FileLog } from '../../src/loop/log/filelog.ts';
import { SqliteStore } from '../../src/loop/sessions/sqlite.ts';
import { fakeExecutor, newKeyring, type Program, reply, USERDATA } from './fake.ts';
import { INNOCENT, POISON, type Started, WITNESS } from './poison.ts';

/**
 * One host process of the poison test. The first process opens the sessions and has all their turns in flight when the poison ends
 * it. Every later one recovers what the others left, all at the same time, until nothing is left. With `apart` it has other processes
 * take the interrupted turns; such a process has the name of the session and the owner behind it.
 */
const [storePath = '', logPath = '', count = '', mode = '', taken = '', owner = ''] = process.argv.slice(2);
const sids = [POISON, ...Array.from({ length: Number(count) }, (_, index) => `${INNOCENT}-${index}`)];
// A process that is killed writes nothing at its end.
flushCompileCache();
const store = await SqliteStore.open(storePath);
const isFirst = (await store.list()).length === 0;

let inFlight = 0;
const everyTurnRuns = Promise.withResolvers<void>();

function tell(started: Started): void {
  // Written at once: the next statement may end the process. The output of a process of its own is dropped.
  appendFileSync(`${storePath}.started`, `${JSON.stringify(started)}\n`);
}

const work: Program = async ({ context, emit, magic }) => {
  inFlight += 1;
  const sid = String(context.sessionId);
  tell({ sid, turn: Number(context.turnIndex), beside: inFlight - 1, pid: process.pid });
  if (inFlight === sids.length) everyTurnRuns.resolve();
  if (isFirst) await everyTurnRuns.promise;
  await pause(sid === POISON ? 5 : 50);
  // A process of its own ends when its host has decided the turn of another session.
  while (taken === POISON && (await store.read(WITNESS))?.status !== 'done') await pause(10);
  if (sid === POISON) process.kill(process.pid, 'SIGKILL');
  emit(sid);
  emit(await magic('done'));
  inFlight -= 1;
};

const self = [fileURLToPath(import.meta.url), storePath, logPath, count, mode];
const loop = new LoopController({
  executor: fakeExecutor({ work }),
  keyring: newKeyring('test', systemClock),
  store,
  log: new FileLog(logPath),
  leaseMs: 1500,
  ...(owner === '' ? {} : { owner }),
  ...(mode === 'apart' && owner === '' ? { takeApart: turnProcess(({ sid, owner }) => [...self, sid, owner]) } : {}),
});
const agent = { reply: async () => reply('program work') };

if (owner !== '') {
  await loop.step(taken, { agent });
  process.exit(0);
}
if (isFirst) await Promise.all(sids.map((sid) => loop.runLoop({ sid, userdata: USERDATA, agent })));
while ((await loop.list()).some(({ status, owed }) => status === 'open' || owed > 0)) {
  const open = await loop.recover();
  // A session that is new in this process runs beside the recovered ones.
  const fresh = open.length === 0 ? [] : [loop.runLoop({ userdata: USERDATA, agent })];
  const witness = mode === 'apart' && (await store.read(WITNESS)) === null ? [WITNESS] : [];
  await Promise.all([
    ...open.map((sid) => loop.resume(sid, { agent })),
    ...witness.map((sid) => loop.runLoop({ sid, userdata: USERDATA, agent })),
    ...fresh,
  ]);
  await pause(50);
}
