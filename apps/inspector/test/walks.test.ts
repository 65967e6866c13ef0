// Walks of a newcomer through the page of the real server, with sessions that the real command line made.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { NARROW, open, reads } from './browser.ts';
import { realStage } from './stage.ts';

const staged = realStage();

const link = (page: Page, name: RegExp | string) => page.locator('main').getByRole('link', { name }).first();

test('a newcomer finds why a session halted: which call, in which line, with which error', async () => {
  const { page } = staged().opened;
  await page.keyboard.press('s');
  await link(page, /halted\s*order/).click();
  await page.getByText('The host halted it: ERR_EXEC: the program failed.').waitFor();
  await link(page, 'Open turn 1, the last one').click();
  const happened = page.getByRole('region', { name: 'What happened' });
  await happened.getByText('no pen in stock').first().waitFor();
  await happened.getByRole('link', { name: 'Show line 9 in the program' }).click();
  await page.locator('tr.is-wrong', { hasText: 'fail "no pen in stock"' }).waitFor();
  await page.getByRole('link', { name: /^Calls/ }).click();
  await reads(page.locator('main'), /tool\.shop\.Stock[\s\S]*argument 1\s*"pen"\s*result\s*0/i);
});

test('a newcomer finds which tool which rule denied', async () => {
  const { page } = staged().opened;
  await page.keyboard.press('s');
  await page.getByLabel('Find').fill('error:ERR_POLICY');
  await page.waitForFunction(() => document.querySelectorAll('.row-place').length === 1);
  await link(page, /halted\s*cleanup/).click();
  await page.getByText('ERR_POLICY: the policy, or a person, does not allow what the program does').waitFor();
  await link(page, 'Open turn 2, the last one').click();
  const happened = page.getByRole('region', { name: 'What happened' });
  await happened.getByText(/for the tool\s+tool\.fs\.delete/i).waitFor();
  await reads(happened, /policy rule: tool\.fs\.\*.*denied by the rule deny/s);
  await page.getByRole('link', { name: 'Changes' }).click();
  await page.locator('.come', { hasText: 'tool.fs.Delete("/var/reports/old")' }).waitFor();
});

test('a newcomer finds what would have happened with another answer, and with another program', async () => {
  const { page } = staged().opened;
  await page.goto(`${new URL(page.url()).origin}/#/s/order/t/1/trial`);
  await page.getByLabel(/^call 1\.1/).selectOption('value');
  await page.getByLabel('JSON value of call 1.1').fill('5');
  await page.getByRole('button', { name: 'Try it out' }).click();
  const tried = page.getByRole('region', { name: 'Tried', exact: true });
  await tried.waitFor();
  await reads(page.getByRole('region', { name: 'Recorded', exact: true }), /HALT[\s\S]*ERR_EXEC[\s\S]*no pen in stock/);
  // Nothing recorded an answer to the order, which the program now makes.
  await reads(page.locator('main'), /Nothing answered .*tool\.shop\.order/i);
  await page.getByLabel(/^call 1\.2/).selectOption('value');
  await page.getByLabel('JSON value of call 1.2').fill('"ordered"');
  await page.getByRole('button', { name: 'Try it out' }).click();
  await tried.getByText('DONE').waitFor();
  await page.getByRole('button', { name: 'Start over' }).click();
  const program = page.getByLabel('Program');
  await program.fill(
    (await program.inputValue()).replace(
      'fail "no pen in stock"',
      `emit tool.aeiou.magic("LOOP", {"action": "abort"})\n    return`,
    ),
  );
  await page.getByRole('button', { name: 'Try it out' }).click();
  await tried.getByText('ABORT').waitFor();
});

test('each token of a turn verifies again in the page, and a record that was changed does not', async () => {
  const { page } = staged().opened;
  await page.goto(`${new URL(page.url()).origin}/#/s/greeting/t/2/tokens`);
  await page.getByText('every check passes, as the host found').waitFor();
  await page.route('**/api/sessions/greeting/turns/2', async (route) => {
    const response = await route.fetch();
    await route.fulfill({
      response,
      body: (await response.text()).replace(/"nonce":"[^"]+"/, '"nonce":"AAAAAAAAAAAAAAAAAAAAAA"'),
    });
  });
  await page.reload();
  await page.getByText('The host found something else: do not trust this record.').waitFor();
  await page.unroute('**/api/sessions/greeting/turns/2');
});

test('the page replays a turn, and shows a session of another process while it begins and when it ends', async () => {
  const { page } = staged().opened;
  await page.goto(`${new URL(page.url()).origin}/#/s/greeting/t/1`);
  await page.getByRole('button', { name: 'Execute the turn again' }).click();
  await page.getByText('The turn gives the same result again.').waitFor();
  await page.keyboard.press('s');
  await link(page, /greeting/).waitFor();
  const flags = ['--tools', 'tools.yaml', '--policy', 'policy.yaml', '--log', 'log.jsonl'];
  await staged().real.command('loop', '--agent', 'script:greeting.txt', '--sid', 'later', '--store', 'sessions.db', ...flags);
  await link(page, /done\s*later/).waitFor();
});

test('the log shows each line that follows, and the line at which it was changed', async () => {
  const { page } = staged().opened;
  await page.goto(`${new URL(page.url()).origin}/#/log`);
  await page.getByText('each follows from the one before').waitFor();
  // A session that an ask opened has a random id, which tells nothing; the others say what they are about.
  await link(page, /^ask 1\.1 of asker$/).waitFor();
  await reads(page.locator('main'), /greeting\s*the shop/);
  const file = join(staged().real.folder, 'log.jsonl');
  const text = readFileSync(file, 'utf8');
  const lines = text.split('\n');
  lines[2] = (lines[2] ?? '').replace('cleanup', 'cleanUp');
  writeFileSync(file, lines.join('\n'));
  await page.reload();
  await page.getByText('The chain breaks in line').waitFor();
  await reads(page.locator('tr.is-broken'), /^3✕ breaks here/);
  writeFileSync(file, text);
});

test('one file shows a session without a server, at any width', async () => {
  await staged().real.command('sessions', 'show', 'order', '--store', 'sessions.db', '--html', 'order.html');
  const { page, faults } = await open(staged().browser, pathToFileURL(join(staged().real.folder, 'order.html')).href, {
    viewport: NARROW,
  });
  await page.getByText('ERR_EXEC: the program failed.').waitFor();
  await link(page, 'Open turn 1, the last one').click();
  await page.getByText('no pen in stock').first().waitFor();
  await page.keyboard.press('2');
  await page.locator('tr', { hasText: 'tool.shop.Stock("pen")' }).first().waitFor();
  await page.keyboard.press('9');
  await page.getByText('this file has no server').waitFor();
  assert.deepEqual(faults, []);
});

test('no walk met an error of the page', () => {
  assert.deepEqual(staged().opened.faults, []);
});
