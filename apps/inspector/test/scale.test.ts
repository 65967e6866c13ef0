// Large sessions: the first paint of 1,000 turns, and the memory of a page by which 10,000 turns stream.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import type { CallView } from '../../../src/ui/views.ts';
import { open, until } from './browser.ts';
import { sessionRow, sessionView, turnRow, turnView, whole } from './mock.ts';
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
    turn: (sid, turn) => turnView(sid, turnRow(turn)),
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
  assert.match(await until(head, (text) => text.startsWith('6,000 sessions in')), /^6,000 sessions in/);
  await page.keyboard.press('End');
  await page.waitForFunction(() => document.activeElement?.textContent?.includes('s-5999'));
  const nodes = await page.evaluate(() => document.querySelectorAll('*').length);
  assert.ok(nodes < 2000, `${nodes} elements`);
  assert.deepEqual(faults, []);
  await page.context().close();
});

test('issue 49: the first rows of 5,000 sessions need the requests, the bytes and the elements of the first rows of 50', async () => {
  const needs = async (total: number) => {
    const mock = await served({
      sessions: (query) => {
        const from = Number(query.get('after') ?? 0);
        const count = Math.min(Number(query.get('limit')), total - from);
        const sessions = Array.from({ length: count }, (_, index) => sessionRow(`s-${String(from + index).padStart(4, '0')}`, 1));
        return { sessions, next: from + count < total ? String(from + count) : null };
      },
    });
    const { page, faults } = await open(browser(), 'about:blank');
    const asked: string[] = [];
    page.on('request', (request) => request.url().includes('/api/sessions') && asked.push(new URL(request.url()).search));
    const answered = page.waitForResponse((response) => response.url().includes('/api/sessions'));
    await page.goto(mock.address);
    const first = await answered;
    await page.locator('[data-row="10"]').waitFor();
    const elements = await page.evaluate(() => document.querySelectorAll('.rows *').length);
    const bytes = (await first.body()).length;
    assert.deepEqual(faults, []);
    await page.context().close();
    return { first: asked[0], bytes, elements };
  };
  const [few, many] = [await needs(50), await needs(5000)];
  assert.equal(many.first, few.first);
  assert.ok(many.bytes < 1.1 * few.bytes, `${many.bytes} bytes, ${few.bytes} for 50 sessions`);
  assert.ok(many.elements < 1.1 * few.elements, `${many.elements} elements, ${few.elements} for 50 sessions`);
});

test('issue 49: 10,000 calls have few rows in the page; they are searched, filtered and ordered, and each can be opened', async () => {
  const total = 10_000;
  const call = (seq: number): CallView => ({
    ...{
      seq,
      call: `1.${seq}`,
      kind: 'tool',
      name: seq % 3 === 0 ? 'tool.db.Read' : 'tool.mail.Send',
      nested: null,
      repeated: false,
    },
    args: [whole(`"item ${seq}"`)],
    result: seq === 77 ? null : whole('1'),
    failed: seq === 77 ? { code: 'NS9', message: 'no such item', hint: null, halted: false } : null,
    verdict: null,
    ...{ ms: seq === 5000 ? 900 : 1, cost: 0, begin: seq },
    at: { fork: 'f', source: 'ACTIONS', line: 2, column: 3 },
  });
  const calls = (from: number, count: number) =>
    Array.from({ length: Math.min(count, total - from) }, (_, index) => call(from + index + 1));
  const row = turnRow(1, { calls: total, failed: 1 });
  const mock = await served({
    session: (sid) => sessionView(sessionRow(sid, 1)),
    turn: (sid) => turnView(sid, row, { journal: calls(0, 500), more: true }),
    calls: (after) => ({ calls: calls(after, 1000), more: after + 1000 < total }),
  });
  const { page, faults } = await open(browser(), `${mock.address}#/s/many/t/1/calls`);
  await page.locator('.rows [data-row="0"]').waitFor();
  const first = (text: RegExp) =>
    page.waitForFunction(
      (wanted) => new RegExp(wanted).test(document.querySelector('[data-row="0"]')?.textContent ?? ''),
      text.source,
    );
  await page.getByLabel('Show').selectOption('slowest');
  await first(/^1\.5000/);
  await page.getByLabel('failed only').check();
  await first(/^1\.77/);
  await page.getByLabel('failed only').uncheck();
  await page.getByLabel('Show').selectOption('tool');
  const groups = page.getByRole('group', { name: 'Calls of each tool' }).locator('tbody tr');
  await until(
    () => groups.allInnerTexts(),
    (rows) =>
      rows.length === 2 &&
      /^tool\.mail\.Send\s+6,667\s+1\s/.test(rows[0] ?? '') &&
      /^tool\.db\.Read\s+3,333\s+–/.test(rows[1] ?? ''),
  );
  assert.match((await groups.allInnerTexts())[0] ?? '', /^tool\.mail\.Send\s+6,667\s+1\s+7\.57 s\s+900 ms/);
  await groups.nth(1).getByRole('button').click();
  await first(/^1\.3tool\.db\.Read/);
  await page.getByLabel('Find').fill('item 9999');
  await first(/^1\.9999/);
  await page.locator('[data-row="0"]').click();
  await page.locator('#call-9999').waitFor();
  await page.getByLabel('Find').fill('');
  await page.locator('[data-row="8"]').waitFor();
  const nodes = await page.evaluate(() => document.querySelectorAll('*').length);
  assert.ok(nodes < 2000, `${nodes} elements`);
  assert.deepEqual(faults, []);
  await page.context().close();
});
