// A record that was changed after it was sealed is seen in the list, at the head of its session and at its turn.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, reads } from './browser.ts';
import { sessionRow, sessionView, turnRow, turnView } from './mock.ts';
import { stage } from './stage.ts';

const { browser, served } = stage();

test('issue 49: a changed record is marked in the list, at the head and on the timeline, and what was not verified is said', async () => {
  const plain = sessionRow('long', 400, { phase: 'done' });
  const row = { ...plain, last: plain.last && { ...plain.last, changed: true } };
  const timeline = { turns: [], damaged: [], changed: [2], next: 200 };
  const mock = await served({
    sessions: () => ({ sessions: [row], next: null }),
    session: () => sessionView(row, { timeline }),
    turns: () => [1, 2, 3].map((turn) => turnRow(turn)),
    turn: (sid, turn) => turnView(sid, turnRow(turn)),
  });
  const { page, faults } = await open(browser(), mock.address);
  await reads(page.locator('a.row', { hasText: 'long' }), /long\s+record changed/);
  await page.goto(`${mock.address}#/s/long`);
  await reads(page.locator('main'), /The record of turn 2 was changed after it was sealed\./);
  await reads(page.locator('main'), /the others unchanged up to turn 200, later ones not verified/);
  const marked = page.locator('a.row', { hasText: 'record changed' });
  await marked.waitFor();
  assert.equal(await marked.getAttribute('href'), '#/s/long/t/2');
  assert.deepEqual(faults, []);
  await page.context().close();
});
