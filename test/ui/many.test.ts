import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { recentSql, type SessionStore, SqliteStore } from '../../src/loop/index.ts';
import { SESSIONS } from '../../src/loop/sessions/tables.ts';
import { state } from '../../src/testing/contracts/samples.ts';
import { Changes } from '../../src/ui/changes.ts';
import type { SessionsView } from '../../src/ui/index.ts';
import { Latest } from '../../src/ui/inspector.ts';
import { openStream } from '../../src/ui/server.ts';
import { tempFolder } from '../folder.ts';
import { drive, inspectorOf, MemoryStore, PROGRAMS, serve } from './kit.ts';

const folder = tempFolder();

describe('issue 24: thousands of sessions', () => {
  const SESSIONS_IN_ALL = 5000;
  let looked = 0;
  let turns = 0;
  /** Decided turns of each session. */
  let decided = 0;
  class Counting extends MemoryStore {
    override async recent(query: Parameters<SessionStore['recent']>[0]): ReturnType<SessionStore['recent']> {
      const found = await super.recent(query);
      looked += found.length;
      return found.map((session) => ({ ...session, turns: decided }));
    }
    override async turns(...asked: Parameters<SessionStore['turns']>): ReturnType<SessionStore['turns']> {
      turns += asked[2]?.limit ?? Number.POSITIVE_INFINITY;
      return super.turns(...asked);
    }
  }
  const store = new Counting();
  const page = async (query: Record<string, string>): Promise<SessionsView & { readonly looked: number }> => {
    looked = 0;
    const asked = { path: ['sessions'], query: new URLSearchParams(query), signal: new AbortController().signal };
    const view = (await inspectorOf(store).read(asked)) as SessionsView;
    return { ...view, looked };
  };
  beforeAll(async () => {
    for (let index = 0; index < SESSIONS_IN_ALL; index += 1)
      await store.create(state(`s${index}`, { agent: index === 1234 ? 'rare' : 'usual' }), Math.floor(index / 3));
  });

  it('each page reads no more than it shows, and all pages have each session once', async () => {
    const seen = new Set<string>();
    for (let after: string | null = ''; after !== null; ) {
      const view = await page({ limit: '500', ...(after === '' ? {} : { after }) });
      expect(view.looked).toBeLessThanOrEqual(501);
      for (const { sid } of view.sessions) seen.add(sid);
      after = view.next;
    }
    expect(seen.size).toBe(SESSIONS_IN_ALL);
  });

  it('issue 49: the first rows of 5,000 sessions cost what those of 50 do', async () => {
    const few = new Counting();
    for (let index = 0; index < 50; index += 1) await few.create(state(`s${index}`), index);
    const costOf = async (of: Counting): Promise<readonly number[]> => {
      // Each row has a last turn, which the list reads.
      [looked, turns, decided] = [0, 0, 1];
      const asked = { path: ['sessions'], query: new URLSearchParams({ limit: '50' }), signal: new AbortController().signal };
      await using inspector = inspectorOf(of);
      const { sessions } = (await inspector.read(asked)) as SessionsView;
      decided = 0;
      return [sessions.length, looked, turns];
    };
    expect(await costOf(few)).toEqual([50, 50, 50]);
    // One more tells whether there is a next page.
    expect(await costOf(store)).toEqual([50, 51, 50]);
  });

  it('a filter that matches little looks at a bounded number for each page, and finds it in the end', async () => {
    const found: string[] = [];
    let pages = 0;
    for (let after: string | null = ''; after !== null; pages += 1) {
      const view = await page({ q: 'agent:rare', ...(after === '' ? {} : { after }) });
      expect(view.looked).toBeLessThanOrEqual(2250);
      found.push(...view.sessions.map(({ sid }) => sid));
      after = view.next;
    }
    expect(found).toEqual(['s1234']);
    expect(pages).toBe(11);
  });

  it('SQLite finds each page in an index, without sorting', () => {
    const database = new DatabaseSync(':memory:');
    for (const form of SESSIONS.forms) database.exec(form);
    const after = { updatedAt: 5, sid: 's' };
    for (const query of [
      {},
      { after },
      { since: 1, until: 9, after },
      { status: 'halted', after },
      { reason: 'ERR_EXEC', after },
    ] as const) {
      const [sql, ...values] = recentSql({ limit: 5, ...query });
      const plan = database.prepare(`EXPLAIN QUERY PLAN SELECT * FROM sessions AS s ${sql.replace(/\$\d/g, '?')}`).all(...values);
      const text = plan.map(({ detail }) => String(detail)).join('\n');
      expect(text).toMatch(/USING INDEX sessions_(?:recent|status|reason)/);
      expect(text).not.toContain('TEMP B-TREE');
    }
    database.close();
  });
});

describe('issue 24: answers that are expensive', () => {
  it('are made one at a time, and given again while their source is unchanged', async () => {
    const latest = new Latest();
    const { signal } = new AbortController();
    let [making, most, made] = [0, 0, 0];
    const make = async () => {
      making += 1;
      made += 1;
      most = Math.max(most, making);
      await new Promise(setImmediate);
      making -= 1;
      return { made };
    };
    const same = await Promise.all(['a', 'a', 'a'].map((key) => latest.get(key, signal, make)));
    expect(same).toEqual([{ made: 1 }, { made: 1 }, { made: 1 }]);
    expect(await Promise.all(['b', null, null].map((key) => latest.get(key, signal, make)))).toEqual([
      { made: 2 },
      { made: 3 },
      { made: 4 },
    ]);
    expect(most).toBe(1);
    const failing = latest.get('c', signal, () => Promise.reject(new Error('it broke')));
    await expect(failing).rejects.toThrow('it broke');
    expect(await latest.get('c', signal, make)).toEqual({ made: 5 });
  });
});

describe('issue 24: a page follows what other processes do', () => {
  it('hears of a session that another connection to the file drives, and of the log', async () => {
    const path = join(folder, 'live.db');
    const log = join(folder, 'live.jsonl');
    using own = await SqliteStore.open(path);
    await using inspector = inspectorOf(own, { log });
    await using served = await serve(inspector);
    const controller = new AbortController();
    const stream = await fetch(`${served.origin}/api/events`, {
      headers: { cookie: await served.enter() },
      signal: controller.signal,
    });
    expect(stream.headers.get('content-type')).toContain('text/event-stream');
    let heard = '';
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of stream.body ?? []) heard += decoder.decode(chunk);
    })().catch(() => {});
    await vi.waitFor(() => expect(heard).toContain(': listening'), 20_000);
    using other = await SqliteStore.open(path);
    const { good = [] } = PROGRAMS;
    let run = 0;
    await vi.waitFor(
      async () => {
        run += 1;
        await drive(other, { [`good${run}`]: good }, { log });
        expect(heard).toMatch(/data: \{"kind":"session","sid":"good\d+"\}/);
        expect(heard).toContain('data: {"kind":"log"}');
      },
      { timeout: 40_000, interval: 500 },
    );
    controller.abort();
    await reading;
    await vi.waitFor(() => expect(inspector.changes.size).toBe(0), 20_000);
  });

  it('keeps nothing for a page that does not read, and tells it to look again when it does', () => {
    const written: string[] = [];
    let full = true;
    const response = Object.assign(new EventEmitter(), {
      writeHead: () => response,
      write: (text: string) => {
        written.push(text);
        return !full;
      },
    });
    let tell: Parameters<Changes['listen']>[0]['tell'] = () => {};
    const changes = {
      listen: (listener: Parameters<Changes['listen']>[0]) => {
        tell = listener.tell;
        return () => {};
      },
    };
    // Only what a stream uses of them is there.
    openStream(changes as unknown as Changes, null, response as unknown as ServerResponse);
    for (let index = 0; index < 10_000; index += 1) tell({ kind: 'session', sid: `s${index}` });
    expect(written).toEqual([': listening\n\n']);
    full = false;
    response.emit('drain');
    expect(written.slice(1)).toEqual(['data: {"kind":"sessions"}\n\n', 'data: {"kind":"log"}\n\n']);
    response.emit('close');
  });

  it('names few sessions at a time, and remembers as many as one look returns', async () => {
    const store = new MemoryStore();
    using changes = new Changes(store, null);
    const heard: string[] = [];
    let now = 1;
    await store.create(state('first'), now);
    changes.listen({ sid: null, tell: (change) => heard.push(JSON.stringify(change)) });
    await vi.waitFor(
      async () => {
        for (let index = 0; index < 100; index += 1) await store.create(state(`s${now}`), ++now);
        // The first says that everything may have changed before.
        expect(heard.length).toBeGreaterThan(1);
      },
      { timeout: 40_000, interval: 200 },
    );
    expect(heard.every((each) => each === '{"kind":"sessions"}')).toBe(true);
  });
});
