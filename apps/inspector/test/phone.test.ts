// What a reader sees on a phone: nothing is squeezed out of its row, an axis has a time, a dialog begins at its beginning.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, reads, until } from './browser.ts';
import { sessionRow } from './mock.ts';
import { SAMPLE, SID } from './sample.ts';
import { stage } from './stage.ts';

const { browser, served } = stage();
const PHONE = { viewport: { width: 390, height: 844 } };

test('issue 49: on a phone, each text of a row of the list has room', async () => {
  const rows = [null, 'NS1003'].map((code, index) => {
    const row = sessionRow(`a-session-with-a-name-${index}`, 3);
    return { ...row, last: row.last && { ...row.last, code } };
  });
  const mock = await served({ ...SAMPLE, sessions: () => ({ sessions: rows, next: null }) });
  const { page, faults } = await open(browser(), mock.address, PHONE);
  await page.locator('a.row').nth(1).waitFor();
  const widths = await page
    .locator('a.row .in-sessions > *')
    .evaluateAll((cells) =>
      cells
        .filter((cell) => cell.textContent !== '' && getComputedStyle(cell).display !== 'none')
        .map((cell) => cell.clientWidth),
    );
  assert.ok(Math.min(...widths) > 20, widths.join());
  assert.deepEqual(faults, []);
  await page.context().close();
});

test('issue 49: on a phone, the charts over time say when', async () => {
  const mock = await served(SAMPLE);
  const { page } = await open(browser(), `${mock.address}#/series`, PHONE);
  await reads(page.getByRole('figure', { name: /^Decisions/ }), /11-23 07:\d\d/);
  await page.context().close();
});

test('issue 49: on a phone, the list of keys begins at its beginning', async () => {
  const mock = await served(SAMPLE);
  const { page } = await open(browser(), mock.address, PHONE);
  await page.getByRole('button', { name: 'Keys' }).click();
  const heading = page.locator('dialog[open] h2', { hasText: 'Keys' });
  await heading.waitFor();
  const { y } = (await heading.boundingBox()) ?? { y: -1 };
  assert.ok(y >= 0 && y < 200, `${y}`);
  await page.context().close();
});

test('issue 49: on a phone, no word of a command breaks', async () => {
  const mock = await served(SAMPLE);
  const { page } = await open(browser(), `${mock.address}#/s/approval-7`, PHONE);
  await page.getByText('At a terminal').click();
  const words = page.locator('.command .word');
  await words.first().waitFor();
  const lines = await words.evaluateAll((all) => all.map((word) => Math.round(word.getBoundingClientRect().height / 19)));
  assert.ok(lines.length > 10 && lines.every((each) => each === 1), lines.join());
  await page.context().close();
});

test('issue 49: a list without sessions and a log without lines offer nothing that leads nowhere', async () => {
  const log = { log: 'decisions.jsonl', whole: 0, head: '0000', broken: null, repeated: null, total: 0, lines: [] };
  const mock = await served({ sessions: () => ({ sessions: [], next: null }), log: () => log });
  const { page } = await open(browser(), mock.address, PHONE);
  await page.getByText('There is no session yet').waitFor();
  assert.equal(await page.locator('details').count(), 0);
  await page.goto(`${mock.address}#/log`);
  await reads(page.locator('main'), /It has no line yet/);
  assert.equal(await page.locator('main').getByRole('button').count(), 0);
  assert.doesNotMatch((await page.locator('main').textContent()) ?? '', /follows|head/);
  await page.context().close();
});

test('issue 49: a program ends with its last line, its stack is one of procedures, and attempts are counted in words', async () => {
  const mock = await served(SAMPLE);
  const { page } = await open(browser(), `${mock.address}#/s/${SID}/t/3/steps`);
  await page.getByRole('heading', { name: 'Stack, innermost first' }).waitFor();
  const numbers = () => page.locator('.listing tbody th').allTextContents();
  assert.equal((await until(numbers, ({ length }) => length > 0)).at(-1), '15');
  await reads(page.getByRole('navigation', { name: 'Parts of the turn' }), /Changes of 3 attempts/);
  await page.context().close();
});
