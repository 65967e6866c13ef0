import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { announceKey, generateKeys, type KeyInit, loadKeyFile, rotateKeys, saveKeyFile } from '../../../src/aeiou/index.ts';
import { newSession, PLAIN_SETUP, READER, type SessionSummary } from '../../../src/loop/index.ts';
import { BusyError } from '../../../src/wire/errors.ts';
import { FaultyProxy } from '../proxy.ts';
import { Bench, type Engine, type HostProcess, until } from './bench.ts';
import { ANY, AWAY, CUT, DEAD, ENDED, KILLED_WORKERS, LATE, POISON, UNKNOWN_KEY } from './faults.ts';
import { type End, judge, judgeBelongings } from './judge.ts';
import { KEEPS, type Step } from './plan.ts';

/** One way to fail, on one engine. It throws if anything is not as it must be. */
export interface Row {
  readonly name: string;
  readonly engines: readonly Engine[];
  readonly run: (engine: Engine, url: string) => Promise<void>;
}

const BOTH: readonly Engine[] = ['postgres', 'sqlite'];
const POSTGRES: readonly Engine[] = ['postgres'];
const done = (): End => 'DONE';

/** A host dies when all its sessions are at one step of their second turn, and another host ends them. */
function killed(step: Step, what: string, fileLog = false): Row {
  return {
    name: `a host is killed ${what}`,
    engines: BOTH,
    async run(engine, url) {
      await using bench = await Bench.open({ engine, url, fileLog });
      await bench.oneOfEach('work');
      const first = await bench.host({ hold: { step, turn: step === 'lease' ? 1 : 2 } });
      await first.held(step === 'lease' ? 1 : 2);
      await first.kill();
      await bench.tells(DEAD);
      await bench.host();
      await bench.finish();
      await judge(bench, done);
    },
  };
}

/** The host of a session that asks fails while the nested session runs. */
function nested(what: string, fail: (bench: Bench, host: HostProcess) => Promise<void>): Row {
  return {
    name: `the host of a session that asks ${what}`,
    engines: POSTGRES,
    async run(engine, url) {
      await using bench = await Bench.open({ engine, url });
      await bench.sessions(['ask-1']);
      const first = await bench.host({ hold: { step: 'run', turn: 2 } });
      await first.held(1);
      await fail(bench, first);
      await bench.finish();
      // A host that has lost the asking session cancels the nested one; of a dead host, another one halts it.
      const isOrphan = ({ sid, status }: SessionSummary): boolean => sid !== 'ask-1' && status === 'halted';
      const ends = ['ERR_CANCELLED', 'ERR_INTERRUPTED'];
      await judge(bench, (session) => (isOrphan(session) ? `HALT ${ends.find((each) => each === session.reason)}` : 'DONE'));
      const inner = (await bench.store.list()).filter(({ parent }) => parent !== null);
      if (inner.length !== 2 || inner.filter(isOrphan).length !== 1) throw new Error(`nested sessions: ${JSON.stringify(inner)}`);
    },
  };
}

/** The keys are others when a turn goes on that waited with a token. */
function rekeyed(name: string, end: End, change: (keys: readonly KeyInit[]) => readonly KeyInit[]): Row {
  return {
    name,
    engines: BOTH,
    async run(engine, url) {
      await using bench = await Bench.open({ engine, url });
      await bench.sessions(['wait-1']);
      const old = await bench.host();
      await bench.all('the turn waits', ({ waits }) => waits !== null);
      const place = join(bench.folder, 'keys.json');
      saveKeyFile(place, change(loadKeyFile(place)));
      const next = await bench.host();
      await old.drain();
      await bench.complete(next, 'wait-1', true);
      await bench.ended();
      if ((await bench.told([UNKNOWN_KEY])).length !== Number(end !== 'DONE')) throw new Error('metrics are wrong about the key');
      await bench.finish();
      await judge(bench, () => end);
    },
  };
}

export const ROWS: readonly Row[] = [
  killed('lease', 'after it has claimed'),
  killed('start', 'after a turn is started'),
  killed('call', 'after a tool had its effect, before it answers'),
  killed('run', 'while a program runs, between two effects'),
  killed('commit', 'before a turn is stored'),
  killed('committed', 'after a turn is stored'),
  killed('log', 'before a stored decision is logged in a file', true),
  killed('mark', 'after a decision is logged in a file, before it is known to be', true),
  {
    name: 'a host is killed in a call that must not be repeated: a person says what became of it',
    engines: BOTH,
    async run(engine, url) {
      await using bench = await Bench.open({ engine, url });
      await bench.sessions(['person-1'], 'call');
      const first = await bench.host({ hold: { step: 'call', turn: 2 } });
      await first.held(1);
      await first.kill();
      const second = await bench.host();
      await bench.all('the turn waits', ({ waits }) => waits !== null);
      await bench.complete(second, 'person-1', 'sent');
      await bench.finish();
      await judge(bench, done);
      const sent = bench.shop.requests().filter(({ key }) => key.includes('person-1/'));
      if (sent.length !== 2) throw new Error(`the call was repeated: ${JSON.stringify(sent)}`);
    },
  },
  {
    name: 'a host is stopped beyond its lease, in a call, and continues when another host has ended the session',
    engines: BOTH,
    async run(engine, url) {
      await using bench = await Bench.open({ engine, url });
      await bench.oneOfEach('work');
      const first = await bench.host({ hold: { step: 'call', turn: 2 } });
      await first.held(2);
      first.signal('SIGSTOP');
      await bench.host();
      await bench.all('another host has ended the sessions', ({ status }) => status !== 'open');
      first.signal('SIGCONT');
      first.goOn();
      await bench.tells(LATE);
      await bench.finish();
      await judge(bench, done);
    },
  },
  {
    name: 'the database is cut off from a host beyond its lease while turns run',
    engines: POSTGRES,
    async run(engine, url) {
      await using proxy = await FaultyProxy.open(url);
      await using bench = await Bench.open({ engine, url });
      await bench.oneOfEach('work');
      const first = await bench.host({ hold: { step: 'call', turn: 2 }, place: proxy.url(url) });
      await first.held(2);
      proxy.cut();
      await bench.tells(CUT);
      await bench.host();
      await bench.all('another host has ended the sessions', ({ status }) => status !== 'open');
      first.goOn();
      proxy.mend();
      await bench.tells(LATE);
      await bench.finish();
      await judge(bench, done);
    },
  },
  {
    name: 'the database is cut off for a moment while turns run: the same host ends them',
    engines: POSTGRES,
    async run(engine, url) {
      await using proxy = await FaultyProxy.open(url);
      await using bench = await Bench.open({ engine, url, leaseMs: 60_000 });
      await bench.oneOfEach('work');
      const first = await bench.host({ hold: { step: 'commit', turn: 2 }, place: proxy.url(url) });
      await first.held(2);
      proxy.cut();
      first.goOn();
      await bench.tells(CUT);
      proxy.mend();
      await bench.finish();
      await judge(bench, done);
      const requests = bench.shop.requests().length;
      if (requests !== (await bench.expectedOrders())) throw new Error(`a turn ran twice: ${requests} requests`);
    },
  },
  {
    name: 'connections are ended in the moment in which they are handed out, also while a host starts: no host ends',
    engines: POSTGRES,
    async run(engine, url) {
      await using proxy = await FaultyProxy.open(url);
      await using bench = await Bench.open({ engine, url, leaseMs: 60_000 });
      await bench.sessions(['work-1', 'work-2', 'ask-1', 'wait-1']);
      proxy.endReady(2);
      const host = await bench.host({ place: proxy.url(url) });
      if (proxy.endings > 0 || host.hasEnded) throw new Error('no connection was ended while the host started');
      for (let round = 0; round < 3; round++) {
        proxy.endReady(Number.POSITIVE_INFINITY);
        await bench.sessions([`work-more-${round}`]);
        if (round === 0) await bench.tells(ENDED);
        else await sleep(400);
        proxy.endReady(0);
        await bench.all('the host goes on', ({ sid, turns }) => !sid.endsWith(`-${round}`) || turns > 0);
      }
      await bench.all('the turn waits', ({ sid, waits }) => sid !== 'wait-1' || waits !== null);
      await bench.complete(host, 'wait-1', true);
      await bench.finish();
      await judge(bench, done);
    },
  },
  {
    name: 'two versions at once: a turn waits through the change, and the old version passes over what it does not know',
    engines: BOTH,
    async run(engine, url) {
      await using bench = await Bench.open({ engine, url });
      await bench.sessions(['wait-1', 'work-1']);
      const old = await bench.host();
      await bench.all('the turn waits', ({ sid, waits }) => !sid.startsWith('wait') || waits !== null);
      const newer = { ...PLAIN_SETUP, reader: READER + 1 };
      await bench.store.create(newSession('work-new', '{"subject":"s","fields":{}}'), Date.now(), newer);
      await bench.sessions(['work-2']);
      await bench.all('the old version has done its part', ({ sid, status }) => sid !== 'work-2' || status !== 'open');
      const next = await bench.host({ execArgv: ['--import', join(import.meta.dirname, 'next.mjs')] });
      await bench.all('the next version has done its part', ({ sid, status }) => sid !== 'work-new' || status !== 'open');
      await bench.complete(next, 'wait-1', true);
      await bench.finish();
      await judge(bench, done);
      const drivers = bench.shop.requests().flatMap(({ sid, owner }) => (sid === 'work-new' ? [owner] : []));
      if (new Set(drivers).size !== 1 || drivers[0] !== next.owner) throw new Error(`work-new was driven by ${drivers}`);
      if (old.errors.length > 0) throw new Error(`the old version said ${old.errors}`);
    },
  },
  rekeyed('keys are rotated while a turn waits with a token of the old key', 'DONE', (keys) => {
    const now = Date.now() / 1000;
    return rotateKeys(rotateKeys(keys, { role: 'primary', now }).keys, { role: 'fallback', now }).keys;
  }),
  rekeyed('a host does not know the key of a token: it refuses the token, and says so', 'HALT ERR_TOKEN_VERIFY', () =>
    generateKeys('stranger'),
  ),
  {
    name: 'keys are rotated in two phases over three hosts under load: no token is refused',
    engines: BOTH,
    async run(engine, url) {
      await using bench = await Bench.open({ engine, url, leaseMs: 5000 });
      await bench.sessions(Array.from({ length: 12 }, (_, index) => `work-${index}`));
      await bench.sessions(['wait-1']);
      const hosts = [await bench.host(), await bench.host(), await bench.host()];
      await bench.all('the turn waits', ({ sid, waits }) => sid !== 'wait-1' || waits !== null);
      const place = join(bench.folder, 'keys.json');
      const { keys, kid } = announceKey(loadKeyFile(place), { role: 'primary' });
      saveKeyFile(place, keys);
      await until('every host knows the key', async () => {
        const known = (await bench.store.hosts?.list()) ?? [];
        return known.length === hosts.length && known.every(({ kids }) => kids.includes(kid));
      });
      await bench.sessions(Array.from({ length: 12 }, (_, index) => `work-late-${index}`));
      saveKeyFile(place, rotateKeys(keys, { role: 'primary', now: Date.now() / 1000 }).keys);
      const [first] = hosts;
      if (first !== undefined) await bench.complete(first, 'wait-1', true);
      await bench.ended();
      const told = await bench.told([DEAD, UNKNOWN_KEY, KILLED_WORKERS, POISON]);
      if (told.length > 0) throw new Error(`metrics told of ${told}`);
      await bench.finish();
      await judge(bench, done);
      const signed = new Set<string | null>();
      for (const { sid } of await bench.store.list()) for (const each of await bench.store.turns(sid)) signed.add(each.kid);
      if (!signed.has(kid)) throw new Error('nothing was signed with the new key');
    },
  },
  {
    name: 'the database is cut off beyond the lease of a host, which takes its turns up in place',
    engines: POSTGRES,
    async run(engine, url) {
      await using proxy = await FaultyProxy.open(url);
      await using bench = await Bench.open({ engine, url, leaseMs: 3000 });
      await bench.oneOfEach('work');
      const host = await bench.host({ hold: { step: 'call', turn: 2 }, place: proxy.url(url), isWatched: true });
      await host.held(2);
      proxy.cut();
      await sleep(4000);
      proxy.mend();
      host.goOn();
      await bench.tells(LATE);
      await bench.finish();
      await judge(bench, done);
      const apart = host.errors.filter((error) => error.includes('process of its own'));
      if (apart.length > 0) throw new Error(`${apart}`);
    },
  },
  {
    name: 'hosts are replaced one by one in the middle of turns: nothing is halted, and nothing runs twice',
    engines: BOTH,
    async run(engine, url) {
      await using bench = await Bench.open({ engine, url, leaseMs: 60_000 });
      await bench.sessions(['work-1', 'work-2', 'work-3', 'work-4']);
      let old = await bench.host({ hold: { step: 'call', turn: 1 } });
      for (const turn of [2, 3, 0]) {
        await old.held(4);
        const next = await bench.host({ hold: { step: 'call', turn } });
        await old.drain();
        old = next;
      }
      await bench.ended();
      const told = await bench.told(ANY);
      if (told.length > 0) throw new Error(`metrics told of ${told}`);
      await bench.finish();
      await judge(bench, done);
      const requests = bench.shop.requests().length;
      if (requests !== (await bench.expectedOrders())) throw new Error(`a turn ran twice: ${requests} requests`);
    },
  },
  {
    name: 'a program ends every process that runs it: its session is halted, and no other one is',
    engines: POSTGRES,
    async run(engine, url) {
      await using bench = await Bench.open({ engine, url, leaseMs: 500 });
      await bench.sessions(['poison-1', 'work-1', 'work-2']);
      const isOver = async (): Promise<boolean> => (await bench.store.list()).every(({ status }) => status !== 'open');
      while (!(await isOver())) {
        const host = await bench.host();
        await until('the host or every session has ended', async () => host.hasEnded || (await isOver()));
      }
      await bench.tells(DEAD);
      await bench.host();
      await bench.tells(POISON);
      await bench.finish();
      await judge(bench, ({ sid }) => (sid === 'poison-1' ? 'HALT ERR_INTERRUPTED' : 'DONE'));
    },
  },
  {
    name: 'the workers of a host are killed while programs run: their turns go on in it, and no call is repeated',
    engines: BOTH,
    async run(engine, url) {
      await using bench = await Bench.open({ engine, url, leaseMs: 60_000 });
      await bench.oneOfEach('work');
      const host = await bench.host({ hold: { step: 'run', turn: 2 } });
      await host.held(2);
      host.killWorkers();
      // A turn ends its calls before it begins again.
      host.goOn();
      await bench.tells(KILLED_WORKERS);
      await bench.finish();
      await judge(bench, done);
      const requests = bench.shop.requests().length;
      if (requests !== (await bench.expectedOrders())) throw new Error(`a call was repeated: ${requests} requests`);
    },
  },
  {
    name: "the model's server is away for a while: no session ends, and no call is repeated",
    engines: BOTH,
    async run(engine, url) {
      await using bench = await Bench.open({ engine, url, leaseMs: 1000 });
      await bench.oneOfEach('away');
      await bench.host();
      await bench.tells(AWAY);
      await bench.finish();
      await judge(bench, done);
    },
  },
  {
    name: 'more sessions are opened at once than the store may have: the others are refused, and those that are open end',
    engines: BOTH,
    async run(engine, url) {
      await using bench = await Bench.open({ engine, url });
      const one = () => bench.sessions([`work-${randomUUID()}`], 'turn', { store: 4 });
      const open = (count: number) => Promise.allSettled(Array.from({ length: count }, one));
      for (let round = 0; round < 2; round++) {
        const refused = (await open(12)).flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
        if (refused.length !== 8 || !refused.every((error) => error instanceof BusyError))
          throw new Error(`${refused.length} refused: ${refused}`);
        const host = await bench.host();
        await bench.ended();
        await host.drain();
      }
      await bench.finish();
      await judge(bench, done);
    },
  },
  nested('is killed', async (bench, host) => {
    await host.kill();
    await bench.host();
  }),
  nested('is stopped beyond its lease, and continues when another host has ended the session', async (bench, host) => {
    host.signal('SIGSTOP');
    await bench.host();
    await bench.all('another host has ended the session', ({ sid, status }) => sid !== 'ask-1' || status !== 'open');
    host.signal('SIGCONT');
    host.goOn();
  }),
  {
    name: '10,000 belongings of sessions that move from host to host are given back where they were made',
    engines: BOTH,
    async run(engine, url) {
      await using bench = await Bench.open({ engine, url });
      const count = 10_000 / (KEEPS.turns * KEEPS.each);
      await bench.sessions(Array.from({ length: count }, (_, index) => `keep-${index}`));
      const stopped = await bench.host({ hold: { step: 'call', turn: 2 } });
      await stopped.held(1);
      stopped.signal('SIGSTOP');
      const drained = await bench.host({ hold: { step: 'call', turn: 3 } });
      await drained.held(1);
      await drained.drain();
      await bench.host();
      await bench.all('another host has ended the sessions', ({ status }) => status !== 'open');
      stopped.signal('SIGCONT');
      stopped.goOn();
      await bench.finish();
      await judge(bench, done);
      judgeBelongings(bench, 10_000);
    },
  },
];
