import { ChainWalk, endEntry, PLAIN_SETUP, READER, type SessionSetup } from '../../loop/index.ts';
import { check, eventually, refused } from './check.ts';
import { commitOf, LEASED, lease, ODD, started, state, WAITS } from './samples.ts';
import type { StoreCase } from './sessions.ts';

const setup = (more: Partial<SessionSetup>): SessionSetup => ({ ...PLAIN_SETUP, ...more });

/** What every store of sessions does for many hosts. */
export const FLEET_CASES: readonly StoreCase[] = [
  {
    name: 'a host claims what is ready, each session once, that which has been ready longest first',
    run: async (store) => {
      for (const [at, sid] of ['c', 'a', 'b', 'd'].entries()) {
        await store.set(at);
        await store.create(state(sid), at);
      }
      await store.claim('d', lease('other', 5, 50));
      check(await store.next('h', 2)).equals(['c', 'a']);
      check(await store.next('i', 9)).equals(['b']);
      check(await store.next('i', 9)).equals([]);
      await store.start(started('a'), 'h');
      await store.commit(commitOf('a', 1, { owner: 'h', keep: false }));
      check(await store.next('i', 9)).equals(['a']);
      await store.release('c', 'h');
      // A lease that has ended makes its session ready, and what its owner writes is refused.
      await store.set(50);
      check(await store.next('i', 1)).equals(['c']);
      check(await store.next('j', 9)).equals(['d']);
      await refused(store.start(started('d'), 'other'), LEASED);
    },
  },
  {
    name: 'tenants take turns, however many sessions one of them has',
    run: async (store) => {
      for (let i = 0; i < 6; i++) await store.create(state(`big${i}`), 1, setup({ tenant: 'big' }));
      for (const tenant of ['one', 'two']) await store.create(state(tenant), 1, setup({ tenant }));
      const first = await store.next('h', 4);
      check(first.map((sid) => sid.slice(0, 3)).sort()).equals(['big', 'big', 'one', 'two']);
      check(await store.next('h', 9, { profiles: [''], without: ['big'] })).equals([]);
      let left = 4;
      for (let found = await store.next('h', 9); found.length > 0; found = await store.next('h', 9)) left -= found.length;
      check(left).equals(0);
      for (const tenant of ['a', 'b', 'c'])
        for (const n of [1, 2]) await store.create(state(`${tenant}${n}`), 1, setup({ tenant }));
      const turns = [];
      for (let i = 0; i < 6; i++) turns.push(...(await store.next('h', 1)));
      check(
        turns
          .map((sid) => sid.slice(0, 1))
          .slice(0, 3)
          .sort(),
      ).equals(['a', 'b', 'c']);
      check(
        turns
          .map((sid) => sid.slice(0, 1))
          .slice(3)
          .sort(),
      ).equals(['a', 'b', 'c']);
    },
  },
  {
    name: 'a host claims only what it can run',
    run: async (store) => {
      await store.create(state('plain'), 1);
      await store.create(state('mail'), 1, setup({ profile: 'mail', configuration: { agent: ODD } }));
      await store.create(state('newer'), 1, setup({ profile: 'mail', reader: READER + 1, engine: '9.0.0' }));
      check(await store.next('h', 9, { profiles: [] })).equals([]);
      check(await store.next('h', 9, { profiles: ['mail'] })).equals(['mail']);
      check(await store.claim('mail', lease('h'))).matches({
        setup: setup({ profile: 'mail', configuration: { agent: ODD } }),
      });
      await refused(store.claim('newer', lease('h')), { code: 'ERR_STORE', detail: 'newer' });
      check(await store.list()).matches([
        { sid: 'mail' },
        { sid: 'newer', engine: '9.0.0', reader: READER + 1 },
        { sid: 'plain' },
      ]);
      for (const odd of [{ tenant: 'a b' }, { profile: '\u0000' }, { tenant: 'x'.repeat(129) }, { reader: 0 }])
        await refused(store.create(state('x'), 1, setup(odd)), { code: 'ERR_CONFIG' });
    },
  },
  {
    name: 'a session that waits is ready when its call has its answer or has expired, and a nested one never',
    run: async (store) => {
      for (const sid of ['answered', 'waits']) {
        await store.take(sid, 'a');
        await store.start({ ...started(sid), suspended: WAITS }, 'a');
        await store.release(sid, 'a');
      }
      await store.create(state('nested', { parent: { sid: 'waits', turn: 1, seq: 1 } }), 1);
      check(await store.next('h', 9)).equals([]);
      await store.claim('answered', lease('a', 1));
      const completion = { ok: true, value: 1 } as const;
      await store.start({ ...started('answered'), suspended: { ...WAITS, completion } }, 'a');
      await store.release('answered', 'a');
      check(await store.next('h', 9)).equals(['answered']);
      await store.set(499);
      check(await store.next('h', 9)).equals([]);
      await store.set(500);
      check(await store.next('h', 9)).equals(['waits']);
      check(await store.next('h', 9)).equals([]);
    },
  },
  {
    name: 'a session whose end was requested is ready although it waits, whether it waited before or since',
    run: async (store) => {
      let wakes = 0;
      for (const sid of ['before', 'since']) {
        await store.take(sid, 'a');
        if (sid === 'since') await store.cancel(sid);
        await store.start({ ...started(sid), suspended: WAITS }, 'a');
        await store.release(sid, 'a');
      }
      check(await store.next('h', 9)).equals(['since']);
      const forget = store.onReady(() => (wakes += 1));
      await store.cancel('before');
      await eventually('the end of a session that waits wakes hosts', store.wakesWithinMs, () => wakes > 0);
      forget();
      check(await store.next('h', 9)).equals(['before']);
    },
  },
  {
    name: 'wakes those that wait for work, until they stop',
    run: async (store) => {
      let woken = 0;
      const stop = store.onReady(() => (woken += 1));
      const wakes = async (work: () => Promise<unknown>): Promise<void> => {
        // A connection of its own may need a moment, and wakes when it is there.
        woken = 0;
        await work();
        await eventually('a session that becomes ready wakes hosts', store.wakesWithinMs, () => woken > 0);
      };
      await wakes(() => store.create(state('s'), 1));
      await store.claim('s', lease('a'));
      await wakes(() => store.release('s', 'a'));
      stop();
      await store.summary('s');
      woken = 0;
      await store.create(state('t'), 1);
      await store.summary('s');
      check(woken).equals(0);
    },
  },
  {
    name: 'a store with a log of its own writes a decision and its turn together, chained in order',
    run: async (store) => {
      const { log } = store;
      if (log === undefined) return;
      await store.take('s', 'a');
      for (const turn of [1, 2]) {
        await store.start(started('s', turn), 'a');
        const entry = endEntry({ sid: 's', nextTurn: turn, reason: 'ERR_AGENT', message: null }, 5);
        await refused(store.commit(commitOf('s', turn + 1, { entry })), {});
        await store.commit(commitOf('s', turn, { entry }));
      }
      await log.append(endEntry({ sid: 't', nextTurn: 0, reason: 'ERR_AGENT', message: null }, 6));
      check([await log.has('s', 1), await log.has('s', 2), await log.has('s', 3), await log.has('t', 0)]).equals([
        true,
        true,
        false,
        true,
      ]);
      const walk = new ChainWalk();
      const lines = [];
      for await (const { line, text } of log.lines()) lines.push([line, walk.next(text)]);
      check(lines).equals([1, 2, 3].map((line) => [line, null]));
    },
  },
];
