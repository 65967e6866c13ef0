// Changes that reach the page at a bad moment: before it listens, while an answer is on its way, and answers that overtake one another.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page, Route } from 'playwright-core';
import { open } from './browser.ts';
import { sessionRow, sessionView, turnRow } from './mock.ts';
import { stage } from './stage.ts';

const { browser, served } = stage();

/** Lets the server answer the next request to `path`, but holds the answer back until the result is called. */
async function holdNext(page: Page, path: string): Promise<{ readonly held: Promise<void>; readonly release: () => void }> {
  const held = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  await page.route(
    path,
    async (route: Route) => {
      const response = await route.fetch();
      held.resolve();
      await released.promise;
      await route.fulfill({ response });
    },
    { times: 1 },
  );
  return { held: held.promise, release: released.resolve };
}

/** Longer than the page waits between two reactions to changes. */
const settle = (page: Page) => page.waitForTimeout(800);

test('shows a turn that is decided after the page has asked and before it listens', async () => {
  let asked = 0;
  const mock = await served({
    session: (sid) => {
      asked += 1;
      return sessionView(sessionRow(sid, asked === 1 ? 1 : 2));
    },
    turns: (_, from) => [turnRow(1), turnRow(2)].slice(from, Math.min(2, asked)),
  });
  const { page } = await open(browser(), `${mock.address}#/s/early`);
  await page.locator('[data-row="1"] .lane').waitFor();
  await page.context().close();
});

test('lists a session that begins while the list is on its way', async () => {
  let count = 1;
  const mock = await served({
    sessions: () => ({
      sessions: Array.from({ length: count }, (_, index) => sessionRow(`s-${index}`, 1)).reverse(),
      next: null,
    }),
  });
  const { page } = await open(browser(), mock.address);
  await page.getByText('s-0', { exact: true }).waitFor();
  await settle(page);
  const { held, release } = await holdNext(page, '**/api/sessions*');
  mock.tell({ kind: 'sessions' });
  await held;
  count = 2;
  mock.tell({ kind: 'session', sid: 's-1' });
  await settle(page);
  release();
  await page.getByText('s-1', { exact: true }).waitFor();
  await page.context().close();
});

test('goes on with the next page for a reader who came to the end while the list was refreshed', async () => {
  const total = 600;
  const mock = await served({
    sessions: (query) => {
      const from = Number(query.get('after') ?? 0);
      const sessions = Array.from({ length: 200 }, (_, index) => sessionRow(`s-${from + index}`, 1));
      return { sessions, next: from + 200 < total ? String(from + 200) : null };
    },
  });
  const { page } = await open(browser(), mock.address);
  await page.locator('[data-row="0"]').waitFor();
  await settle(page);
  const { held, release } = await holdNext(page, '**/api/sessions*');
  mock.tell({ kind: 'sessions' });
  await held;
  await page.locator('[data-row="0"]').focus();
  await page.keyboard.press('End');
  await page.locator('[data-row="199"]').waitFor();
  release();
  await page.getByText('400 sessions').waitFor();
  await page.context().close();
});

test('keeps the turns of a later request when the answer to an earlier one comes last', async () => {
  let turns = 250;
  const mock = await served({
    session: (sid) => sessionView(sessionRow(sid, turns)),
    turns: (_, from, limit) => Array.from({ length: Math.min(limit, turns - from) }, (_each, index) => turnRow(from + index + 1)),
  });
  const { page } = await open(browser(), 'about:blank');
  const { held, release } = await holdNext(page, '**/turns?after=200*');
  await page.goto(`${mock.address}#/s/late`);
  await held;
  turns = 251;
  mock.tell({ kind: 'session', sid: 'late' });
  await page.locator('[data-row="250"] .lane').waitFor();
  release();
  await settle(page);
  assert.equal(await page.locator('[data-row="250"] .lane').count(), 1);
  await page.context().close();
});
