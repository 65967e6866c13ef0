// Each view: wide and narrow, light and dark, by keyboard alone, and as axe judges it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import type axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { launch, NARROW, open, until, WIDE } from './browser.ts';
import { type Mock, mockServer } from './mock.ts';
import { SAMPLE, SID } from './sample.ts';

declare global {
  /** Of the script that the test puts into the page. */
  interface Window {
    readonly axe: typeof axe;
  }
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The views, and a text that stands in each when it is complete. */
const VIEWS: readonly (readonly [path: string, text: string])[] = [
  ['', 'Nightly report'],
  [`s/${SID}`, `↳ ${SID}.ask`],
  ['s/approval-7', 'a human must approve it'],
  [`s/${SID}/t/3`, 'What happened'],
  [`s/${SID}/t/3/program`, 'tool.db.Query'],
  [`s/${SID}/t/3/calls`, 'denied by the rule'],
  [`s/${SID}/t/3/output`, 'the sum is'],
  [`s/${SID}/t/3/tokens`, 'every check passes'],
  [`s/${SID}/t/3/envelope`, 'the agent wrote it'],
  [`s/${SID}/t/3/changes`, 'Compared with turn 2'],
  [`s/${SID}/t/3/flames`, 'Procedures'],
  [`s/${SID}/t/3/steps`, 'of 66'],
  [`s/${SID}/t/3/trial`, 'Try it out'],
  ['log', 'The chain breaks in line 4'],
  ['series', 'Time to decide'],
];

let browser: Browser;
let mock: Mock;
before(async () => {
  [browser, mock] = await Promise.all([launch(), mockServer(SAMPLE)]);
});
after(async () => {
  await browser?.close();
  await mock?.close();
});

/** Goes to another view of the same page. */
async function go(page: Page, [path, text]: (typeof VIEWS)[number]): Promise<void> {
  await page.evaluate((fragment) => {
    location.hash = `#/${fragment}`;
  }, path);
  await page.waitForFunction((wanted) => document.querySelector('main')?.textContent?.includes(wanted), text);
}

for (const [name, viewport] of [
  ['wide', WIDE],
  ['narrow', NARROW],
] as const) {
  for (const colorScheme of ['light', 'dark'] as const) {
    test(`axe finds nothing serious in any view, ${name} and ${colorScheme}, and nothing is wider than the page`, async () => {
      // The page's own policy refuses what a test injects.
      const { page, faults } = await open(browser, mock.address, { viewport, colorScheme, bypassCSP: true });
      await page.addScriptTag({ content: AXE });
      for (const view of VIEWS) {
        await go(page, view);
        const found = await page.evaluate(async () => {
          const { violations } = await window.axe.run(document, { resultTypes: ['violations'] });
          const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
          return serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`);
        });
        assert.deepEqual(found, [], `#/${view[0]}`);
        const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.equal(wider, 0, `#/${view[0]} scrolls sideways`);
      }
      assert.deepEqual(faults, []);
      await page.context().close();
    });
  }
}

/** What has the focus, as a reader by ear hears it. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const { activeElement: element } = document;
    return element === null ? '' : (element.getAttribute('aria-label') ?? element.textContent ?? '').trim().slice(0, 60);
  });

/** Waits until what has the focus is heard like this. */
async function hasFocus(page: Page, wanted: RegExp): Promise<void> {
  assert.match(
    await until(
      () => focused(page),
      (text) => wanted.test(text),
    ),
    wanted,
  );
}

/** Presses Tab until something with this text has the focus. */
async function tabTo(page: Page, text: string): Promise<void> {
  for (let pressed = 0; pressed < 60; pressed += 1) {
    if ((await focused(page)).includes(text)) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`Tab does not reach '${text}'; last: ${await focused(page)}`);
}

const shows = (page: Page, text: string) =>
  page.waitForFunction((wanted) => document.querySelector('main')?.textContent?.includes(wanted), text);

test('the attempts at a turn stand side by side, with the change of each program and the effects that were left over', async () => {
  const { page, faults } = await open(browser, mock.address);
  await go(page, [`s/${SID}/t/3/changes`, 'Compared with turn 2']);
  const cards = await page.locator('.attempts > article').allInnerTexts();
  assert.equal(cards.length, 3);
  assert.match(cards[0] ?? '', /Attempt 1: rejected before it ran[\s\S]*let rows[\s\S]*NS15[\s\S]*unknown tool/);
  assert.match(
    cards[1] ?? '',
    /Attempt 2: failed while it ran[\s\S]*− +let rows[\s\S]*\+ +set rows[\s\S]*2 calls, 1 answered by an earlier attempt/,
  );
  assert.match(cards[2] ?? '', /Attempt 3: HALT[\s\S]*− [\s\S]*amonut[\s\S]*\+ [\s\S]*amount/);
  assert.match(
    (await await page.locator('#left-over').textContent()) ?? '',
    /Call 2 of attempt 2, tool\.mail\.send, took effect/,
  );
  assert.deepEqual(faults, []);
  await page.close();
});

test('by keyboard alone: from the list to a call, through the parts of a turn, and back', async () => {
  const { page, faults } = await open(browser, mock.address);
  await shows(page, 'Nightly report');
  await page.keyboard.press('Tab');
  assert.equal(await focused(page), 'Skip to the content');
  await page.keyboard.press('Enter');
  await tabTo(page, SID);
  await page.keyboard.press('ArrowDown');
  await hasFocus(page, /approval-7/);
  await page.keyboard.press('End');
  await hasFocus(page, /crawler/);
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  await shows(page, 'Why it ended');
  await tabTo(page, 'failed call');
  await page.keyboard.press('Enter');
  await shows(page, 'Waterfall');
  await page.keyboard.press('5');
  await shows(page, 'every check passes');
  await page.keyboard.press('[');
  await shows(page, 'session nightly-report');
  assert.match(page.url(), /t\/2\/tokens$/);
  await page.keyboard.press('u');
  await shows(page, 'Timeline: 3 turns');
  await page.keyboard.press('l');
  await shows(page, 'The chain breaks');
  await page.keyboard.press('o');
  await shows(page, 'Time to decide');
  await page.keyboard.press('/');
  await shows(page, 'Nightly report');
  await page.keyboard.press('?');
  assert.equal(await page.locator('dialog').isVisible(), true);
  await page.keyboard.press('Escape');
  assert.deepEqual(faults, []);
  await page.context().close();
});

test('by keyboard alone: answers a waiting call, steps, moves in the flame graph, and tries another answer out', async () => {
  const { page, faults } = await open(browser, `${mock.address}#/s/approval-7`);
  await shows(page, 'a human must approve it');
  await tabTo(page, 'Cancel session');
  await page.keyboard.press('Enter');
  await hasFocus(page, /^Yes$/);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.locator('#answer-2\\.1').focus();
  await page.keyboard.type('{"ok": true}');
  await tabTo(page, 'Send the answer');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.getElementById('said')?.textContent === 'call 2.1 has its answer');

  await go(page, [`s/${SID}/t/3/steps?at=40`, 'line 4, visit 40']);
  await page.keyboard.press('ArrowRight');
  await shows(page, 'visit 41');
  await page.keyboard.press('End');
  await shows(page, 'visit 66');

  await go(page, [`s/${SID}/t/3/flames`, 'Procedures']);
  await tabTo(page, 'turn: ');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await hasFocus(page, /^total :1/);
  await page.keyboard.press('Enter');
  await page.waitForFunction(
    () => document.querySelector('[aria-label^="tool.db.Query"]') === null || document.querySelector('.fade') !== null,
  );
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => document.querySelector('.fade') === null);

  await go(page, [`s/${SID}/t/3/trial`, 'Try it out']);
  await page.locator('[id="trial-3.1"]').focus();
  await page.keyboard.press('ArrowDown');
  await tabTo(page, 'Try it out');
  await page.keyboard.press('Enter');
  await shows(page, 'The trial ended: the session would be done');
  assert.deepEqual(faults, []);
  await page.context().close();
});

test('the focus is seen wherever the Tab key goes', async () => {
  const { page } = await open(browser, `${mock.address}#/s/${SID}/t/3/calls`);
  await shows(page, 'Waterfall');
  for (let pressed = 0; pressed < 30; pressed += 1) {
    await page.keyboard.press('Tab');
    const seen = await page.evaluate(() => {
      const { activeElement: element } = document;
      if (element === null || element === document.body) return 'body';
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2 ? '' : element.outerHTML.slice(0, 200);
    });
    if (seen === 'body') break;
    assert.equal(seen, '');
  }
  await page.context().close();
});
