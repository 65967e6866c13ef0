// Large sessions: the first paint of 1,000 turns, and the memory of a page by which 10,000 turns stream.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { open, until } from './browser.ts';
import { sessionRow, sessionView, turnRow } from './mock.ts';
import { stage } from './stage.ts';

const { browser, served } = stage();

const rows = (turns: number, from: number, limit: number) =>
  Array.from({ length: Math.max(0, Math.min(limit, turns - from)) }, (_, index) => turnRow(from + index + 1));

const least = (values: readonly number[]): number => Math.min(...values);

/** Milliseconds from the navigation to the first paint with any content, and to the paint of what `selector` finds. */
async function paintsOf(address: string, selector: string): Promise<{ first: number; whole: number }> {
  const { page } = await open(browser(), address);
  const times = await page.evaluate(
    (wanted) =>
      new Promise<{ first: number; whole: number }>((resolve) => {
        const look = () => {
          const [paint] = performance.getEntriesByName('first-contentful-paint');
          if (paint === undefined || document.querySelector(wanted) === null) return void requestAnimationFrame(look);
          // The frame after the one that has the element: it is painted.
          requestAnimationFrame(() => resolve({ first: paint.startTime, whole: performance.now() }));
        };
        look();
      }),
    selector,
  );
  await page.context().close();
  return times;
}

test('the first paint of a session with 1,000 turns takes at most 4 times as long as that of an empty page', async () => {
  const mock = await served({
    session: (sid) => sessionView(sessionRow(sid, Number(sid), { phase: 'done' })),
    turns: (sid, from, limit) => rows(Number(sid), from, limit),
  });
  const times: Record<'empty' | 'few' | 'many', { first: number; whole: number }[]> = { empty: [], few: [], many: [] };
  for (let round = 0; round < 6; round += 1) {
    times.empty.push(await paintsOf(`${mock.address}empty`, 'h1'));
    times.few.push(await paintsOf(`${mock.address}#/s/1`, '.in-turns .lane'));
    times.many.push(await paintsOf(`${mock.address}#/s/1000`, '.in-turns .lane'));
  }
  // Other work of the machine only ever adds to a time.
  const [empty, few, many] = [times.empty, times.few, times.many].map((each) => ({
    first: least(each.map(({ first }) => first)),
    whole: least(each.map(({ whole }) => whole)),
  }));
  assert.ok(
    empty && few && many && many.first <= 4 * empty.first,
    `first paint: ${many?.first} ms, an empty page ${empty?.first} ms`,
  );
  assert.ok(many.whole <= 2 * few.whole, `1,000 turns: ${many.whole} ms, one turn: ${few.whole} ms`);
});

/** Bytes of the JavaScript heap after a garbage collection. */
async function heapOf(page: Page): Promise<number> {
  const client = await page.context().newCDPSession(page);
  await client.send('HeapProfiler.collectGarbage');
  const { usedSize } = await client.send('Runtime.getHeapUsage');
  await client.detach();
  return usedSize;
}

test('memory stays flat while 10,000 turns stream by', async () => {
  let turns = 300;
  const mock = await served({
    session: (sid) => sessionView(sessionRow(sid, turns)),
    turns: (_, from, limit) => rows(turns, from, limit),
  });
  const { page, faults } = await open(browser(), `${mock.address}#/s/stream`);
  const grow = async (to: number, by: number) => {
    while (turns < to) {
      turns = Math.min(to, turns + by);
      mock.tell({ kind: 'session', sid: 'stream' });
      const shown = (count: number): boolean => document.querySelector(`[data-row="${count - 1}"] .lane`) !== null;
      await page.waitForFunction(shown, turns, { timeout: 240_000 });
    }
  };
  await grow(1500, 100);
  const early = await heapOf(page);
  await grow(11_500, 250);
  const late = await heapOf(page);
  assert.ok(late - early < 2_000_000, `the heap grew from ${early} to ${late} bytes`);
  const nodes = await page.evaluate(() => document.querySelectorAll('*').length);
  assert.ok(nodes < 3000, `${nodes} elements`);
  assert.deepEqual(faults, []);
  await page.context().close();
});

test('a list of thousands of sessions has few rows in the page, and reaches each of them', async () => {
  const total = 6000;
  const mock = await served({
    sessions: (query) => {
      const from = Number(query.get('after') ?? 0);
      const limit = Number(query.get('limit'));
      const sessions = Array.from({ length: Math.min(limit, total - from) }, (_, index) =>
        sessionRow(`s-${from + index}`, index),
      );
      return { sessions, next: from + limit < total ? String(from + limit) : null };
    },
  });
  const { page, faults } = await open(browser(), mock.address);
  await page.locator('[data-row="0"]').focus();
  const head = async () => {
    await page.keyboard.press('End');
    return (await page.locator('h1 + p').textContent()) ?? '';
  };
  assert.match(await until(head, (text) => text.startsWith('6\u202f000 sessions in')), /^6\u202f000 sessions in/);
  await page.keyboard.press('End');
  await page.waitForFunction(() => document.activeElement?.textContent?.includes('s-5999'));
  const nodes = await page.evaluate(() => document.querySelectorAll('*').length);
  assert.ok(nodes < 2000, `${nodes} elements`);
  assert.deepEqual(faults, []);
  await page.context().close();
});
