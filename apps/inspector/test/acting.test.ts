// A person who uses the keyboard alone approves one call and refuses another, on the real server; axe judges each state on the way.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import type axe from 'axe-core';
import type { Page } from 'playwright-core';
import { open, reads } from './browser.ts';
import { Real } from './real.ts';
import { realStage } from './stage.ts';

declare global {
  /** Of the script that the test puts into the page. */
  interface Window {
    readonly axe: typeof axe;
  }
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const staged = realStage(
  async () => {
    const real = await Real.of({ approval: Real.approval, second: Real.approval });
    for (const sid of ['order-a', 'order-b']) await real.plan(sid);
    return real;
  },
  ...['--approve', '--tools', 'tools.yaml', '--keys', 'keys.json'],
);

async function clean(page: Page): Promise<void> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => window.axe.run());
  assert.deepEqual(
    violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]),
    [],
  );
}

/** Opens the palette, writes words, and runs the first action that has them. */
async function runs(page: Page, words: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.locator('dialog[open]').waitFor();
  await page.keyboard.type(words);
  await page.getByRole('option').first().waitFor();
  await page.keyboard.press('Enter');
}

/** Opens a session from the list by keyboard. */
async function goes(page: Page, sid: string): Promise<void> {
  await page.keyboard.press('s');
  await page.locator('a.row', { hasText: sid }).first().waitFor();
  await page.keyboard.press('j');
  for (let rows = 0; rows < 14; rows += 1) {
    if ((await page.evaluate(() => document.activeElement?.textContent ?? '')).includes(sid)) break;
    await page.keyboard.press('j');
  }
  await page.keyboard.press('Enter');
}

for (const [sid, verb, given] of [
  ['approval', 'Approve', 'approved'],
  ['second', 'Refuse', 'refused'],
] as const)
  test(`issue 49: by keyboard alone, a person learns what a call touches, and ${given === 'approved' ? 'approves' : 'refuses'} it`, async () => {
    const { page } = staged().opened;
    await goes(page, sid);
    await reads(page.locator('main'), /waits because[\s\S]*asks the shop's owner[\s\S]*expires\s*in 2\d(?:\.\d)? h/);
    await clean(page);
    await page.keyboard.press('Control+k');
    await page.locator('dialog[open]').waitFor();
    await clean(page);
    await page.keyboard.press('Escape');
    await runs(page, verb.toLowerCase());
    const question = page.getByRole('group', { name: /tool\.human\.approve\(\{"to":\s?"all customers"\}\)\?/i });
    await question.waitFor();
    assert.match((await question.textContent()) ?? '', new RegExp(`^${verb} `));
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Yes');
    await clean(page);
    await page.keyboard.press('Enter');
    await page.getByText(`${given} call 1.1`).waitFor();
    await page.getByText('answered; the session has not gone on yet').waitFor();
  });

test('issue 49: the command that approves a plan stands ready to be copied, where the page cannot answer', async () => {
  const { real, browser } = staged();
  const { page, faults } = await open(browser, await real.serve());
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await goes(page, 'order-a');
  await page.getByText('start "neuroscript ui" with --approve').waitFor();
  await runs(page, 'at a terminal');
  await runs(page, 'copy the command that approves');
  await page.getByText('copied the command that approves the plan').waitFor();
  const command = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(command, /^neuroscript sessions complete order-a plan true --store \S+ --keys KEYS$/);
  assert.deepEqual(faults, []);
  await page.context().close();
});

for (const [sid, verb, given, ends] of [
  ['order-a', 'Approve', 'approved', 'done'],
  ['order-b', 'Refuse', 'refused', 'halted'],
] as const)
  test(`issue 49: by keyboard alone, a person learns what a plan may do at most, and it is ${given}`, async () => {
    const { page } = staged().opened;
    await goes(page, sid);
    const plan = page.getByRole('group', { name: 'Calls of the plan' });
    await plan.waitFor();
    await reads(page.locator('main'), /3 calls, 2 of which may change something\. It makes no other calls\./);
    const rows = await plan.locator('tbody tr').allInnerTexts();
    // What is new stands first, and in it what may change something.
    assert.match(rows[0] ?? '', /^new\s+tool\.shop\.order\s+may change something[\s\S]*any number of times/);
    assert.match(rows[1] ?? '', /^new\s+tool\.shop\.stock\s+no effect/);
    assert.match(rows[2] ?? '', /^as before\s+tool\.shop\.order[\s\S]*pen[\s\S]*at most once/);
    await reads(page.locator('main'), /expires\s*in \d[\d.]* [hd], /);
    // One screen: the calls and the buttons are seen together.
    const seen = (selector: string) =>
      page.evaluate((wanted) => {
        const { top, bottom } = document.querySelector(wanted)?.getBoundingClientRect() ?? { top: -1, bottom: -1 };
        return top >= 0 && bottom <= innerHeight;
      }, selector);
    await page.locator('#waiting').scrollIntoViewIfNeeded();
    assert.deepEqual([await seen('.plan'), await seen('.card .toolbar')], [true, true]);
    await clean(page);
    await runs(page, verb.toLowerCase());
    await page.getByRole('group', { name: new RegExp(`^${verb} ACTIONS: 3 calls`) }).waitFor();
    await clean(page);
    await page.keyboard.press('Enter');
    await page.getByText(`${given} the plan of turn 2`).waitFor();
    await page.getByText('answered; the session has not gone on yet').waitFor();
    await staged().real.resume(sid, '--approve', 'plan', '--keys', 'keys.json');
    await page.locator('.head .badge', { hasText: ends }).waitFor();
  });

test('the commands of a terminal stand ready to be copied', async () => {
  const { page } = staged().opened;
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await goes(page, 'second');
  await page.getByText('answered; the session has not gone on yet').waitFor();
  await runs(page, 'at a terminal');
  await page.getByText(/neuroscript sessions resume second --store/).waitFor();
  await runs(page, 'copy the command that goes on');
  await page.getByText('copied the command that goes on').waitFor();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^neuroscript sessions resume second --store \S+/);
});

test('nothing of this met an error of the page', () => {
  assert.deepEqual(staged().opened.faults, []);
});
