// Each view: wide and narrow, light and dark, by keyboard alone, and as axe judges it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import type axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { launch, NARROW, open, reads, until, WIDE } from './browser.ts';
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
  [`s/${SID}`, 'ask 1.4'],
  ['s/approval-7', 'a human must approve it'],
  [`s/${SID}/t/3`, 'What happened'],
  [`s/${SID}/t/3/program`, 'tool.db.Query'],
  [`s/${SID}/t/3/calls`, 'denied by the rule'],
  [`s/${SID}/t/3/output`, 'the sum is'],
  [`s/${SID}/t/3/tokens`, 'every check passes'],
  [`s/${SID}/t/3/envelope`, 'Carries web from tool.web.get'],
  [`s/${SID}/t/3/changes`, 'Compared with turn 2'],
  [`s/${SID}/t/3/flames`, 'prepare'],
  [`compare/${SID}:2/${SID}:3`, 'tool.fs.Delete'],
  [`compare/${SID}:3:2/${SID}:3`, 'attempt 2'],
  [`compare/${SID}/approval-7`, 'turn by turn'],
  ['s/plan-9', 'It makes no other calls'],
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
    test(`axe finds nothing in any view, ${name} and ${colorScheme}, and nothing is wider than the page`, async () => {
      // The page's own policy refuses what a test injects.
      const { page, faults } = await open(browser, mock.address, { viewport, colorScheme, bypassCSP: true });
      await page.addScriptTag({ content: AXE });
      for (const view of VIEWS) {
        await go(page, view);
        const found = await page.evaluate(async () => {
          const { violations } = await window.axe.run(document, { resultTypes: ['violations'] });
          return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`);
        });
        assert.deepEqual(found, [], `#/${view[0]}`);
        const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.equal(wider, 0, `#/${view[0]} scrolls sideways`);
        const covering = await page.evaluate(() => {
          const cells = [...document.querySelectorAll('td, th')];
          return cells.filter((each) => each.scrollWidth > each.clientWidth + 1).map(({ textContent }) => textContent);
        });
        assert.deepEqual(covering, [], `#/${view[0]} has cells whose text covers the next one`);
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
  await go(page, [`s/${SID}`, '3 attempts']);
  await reads(page.locator('#left-over'), /Call 2 of attempt 2/);
  await go(page, [`s/${SID}/t/3/changes`, 'Compared with turn 2']);
  const cards = await page.locator('.attempts > article').allInnerTexts();
  assert.equal(cards.length, 3);
  assert.match(cards[0] ?? '', /Attempt 1: rejected before it ran[\s\S]*let rows[\s\S]*NS15[\s\S]*unknown tool/);
  assert.match(
    cards[1] ?? '',
    /Attempt 2: failed while it ran[\s\S]*−\s+let rows[\s\S]*\+\s+set rows[\s\S]*2 calls, 1 answered by an earlier attempt/,
  );
  assert.match(cards[2] ?? '', /Attempt 3: HALT[\s\S]*−\s[\s\S]*amonut[\s\S]*\+\s[\s\S]*amount/);
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
  await tabTo(page, 'call 3.3');
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
  assert.equal(await page.locator('dialog[open]').isVisible(), true);
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
  await tabTo(page, 'Another answer');
  await page.keyboard.press('Enter');
  await page.locator('#answer-2\\.1').focus();
  await page.keyboard.type('{"ok": true}');
  await tabTo(page, 'Send the answer');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.getElementById('said')?.textContent?.startsWith('answered call 2.1'));

  await go(page, [`s/${SID}/t/3/steps?at=40`, 'line 4, visit 40']);
  await page.keyboard.press('ArrowRight');
  await shows(page, 'visit 41');
  await page.keyboard.press('End');
  await shows(page, 'visit 66');

  await go(page, [`s/${SID}/t/3/flames`, 'prepare']);
  await page.getByLabel('fuel').check();
  await shows(page, 'Procedures');
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

test('issue 49: two sessions, two turns and two attempts stand side by side, each by its link', async () => {
  const { page, faults } = await open(browser, `${mock.address}#/s/${SID}`);
  await page.getByText('Compare with another session').click();
  await page.getByLabel('Its id').fill('approval-7');
  await page.keyboard.press('Enter');
  await page.waitForURL(/#\/compare\/nightly-report\/approval-7$/);
  const pairs = page.getByRole('group', { name: 'Turns in pairs' }).locator('tbody tr');
  await pairs.nth(2).waitFor();
  await reads(pairs.nth(2), /^turn 3✕ HALT NS1003[\s\S]*1 failed/);
  await pairs.nth(0).getByRole('link', { name: 'turn 1' }).click();
  await page.waitForURL(/#\/compare\/nightly-report:1\/approval-7:1$/);
  await page.getByRole('link', { name: 'both sessions' }).waitFor();
  await go(page, [`s/${SID}/t/3/changes`, 'Compared with turn 2']);
  await page
    .getByRole('article', { name: /^Attempt 2/ })
    .getByRole('link', { name: /compare with the attempt/ })
    .click();
  await page.waitForURL(/#\/compare\/nightly-report:3:2\/nightly-report:3$/);
  await reads(
    page.getByRole('region', { name: 'attempt 2 of turn 3 of nightly-report' }),
    /failed while it ran[\s\S]*2 calls[\s\S]*tool\.db\.Query/,
  );
  await reads(page.getByRole('region', { name: 'turn 3 of nightly-report', exact: true }), /HALT[\s\S]*tool\.fs\.Delete/);
  await reads(page.getByRole('region', { name: 'Program', exact: true }), /−\s[\s\S]*amonut[\s\S]*\+\s[\s\S]*amount/);
  await go(page, [`compare/${SID}:3:9/${SID}:3`, 'turn 3 has no attempt 9']);
  assert.deepEqual(faults, []);
  await page.context().close();
});

test('issue 49: at each width, a row of the list names its session, and no text of it is cut at the edge', async () => {
  for (const width of [1440, 1101, 1100, 768, 701, 700, 390]) {
    const { page } = await open(browser, mock.address, { viewport: { width, height: 800 } });
    const row = page.locator('a.row', { hasText: 'approval-7' });
    await row.waitFor();
    const name = await row.getByText('approval-7', { exact: true }).boundingBox();
    assert.ok((name?.width ?? 0) > 50, `${width}: ${name?.width} px`);
    const cut = await row.evaluate((each) =>
      [...each.querySelectorAll('.in-sessions > *')].some(
        (cell) => cell.getBoundingClientRect().right > each.getBoundingClientRect().right + 1,
      ),
    );
    assert.equal(cut, false, `${width}`);
    const status = page.locator('a.row', { hasText: 'crawler' }).locator('.in-sessions > *', { hasText: '▶ running' });
    assert.equal(await status.evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth), false, `${width}`);
    const [page1, footer] = await page.evaluate(() => [
      document.documentElement.scrollHeight,
      document.querySelector('footer')?.getBoundingClientRect().bottom ?? 0,
    ]);
    assert.ok(Math.abs((page1 ?? 0) - (footer ?? 0)) < 2, `${width}: the page ends at ${page1}, its footer at ${footer}`);
    await page.context().close();
  }
});

test('issue 49: the palette finds every action of each view by its words', async () => {
  const { page, faults } = await open(browser, mock.address);
  for (const view of VIEWS) {
    await go(page, view);
    // Links and buttons by their texts, fields by the texts of their labels.
    const names = await page.evaluate(() => {
      const named = [...document.querySelectorAll('main :is(a[href], button:not(:disabled), summary, label)')];
      const texts = named.map((each) =>
        (each.getAttribute('aria-label') ?? each.firstChild?.parentElement?.textContent ?? '').trim(),
      );
      return texts.filter((text, index) => /^[\w ]{4,30}$/.test(text) && texts.indexOf(text) === index);
    });
    await page.keyboard.press('Control+k');
    const words = page.getByLabel('Words of an action');
    for (const name of [names[0], names[Math.floor(names.length / 2)], names.at(-1)]) {
      if (name === undefined) continue;
      await words.fill(name);
      await page.getByRole('option', { name, exact: true }).waitFor();
    }
    await page.keyboard.press('Escape');
  }
  assert.deepEqual(faults, []);
  await page.context().close();
});

test('issue 49: the legend of a timeline names the phases that occur, and no other', async () => {
  const { page, faults } = await open(browser, `${mock.address}#/s/${SID}`);
  await page.locator('.rows .lane').first().waitFor();
  const named = () =>
    page.evaluate(() => [
      [...document.querySelectorAll('.legend .swatch')].map(({ className }) => className.replace('swatch ', '')).toSorted(),
      [
        ...new Set([...document.querySelectorAll('.rows .lane .span')].map(({ className }) => className.replace('span ', ''))),
      ].toSorted(),
    ]);
  const [legend, drawn] = await until(named, ([a, b]) => a?.join() === b?.join());
  assert.deepEqual(legend, drawn);
  assert.ok(drawn?.includes('in-run') && !drawn.includes('in-before'));
  assert.deepEqual(faults, []);
  await page.context().close();
});

test('issue 49: over time, counts are stacked bars with their sums, and a bar leads to its sessions', async () => {
  const { page, faults } = await open(browser, `${mock.address}#/series`);
  const chart = page.getByRole('figure', { name: /^Decisions/ });
  await chart.locator('rect').first().waitFor();
  // 48 steps: 0 to 8 CONTINUE over and over, 0 to 2 DONE.
  const sums = { CONTINUE: 5 * 36 + 3, DONE: 48 };
  const legend = page.getByRole('region', { name: 'Decisions' }).locator('.legend');
  await reads(legend, new RegExp(`CONTINUE ${sums.CONTINUE}[\\s\\S]*DONE ${sums.DONE}`));
  const tallest = await chart
    .locator('a')
    .evaluateAll((bars) => Math.max(...bars.map((bar) => Number(bar.getAttribute('aria-label')?.match(/: (\d+)/)?.[1]))));
  assert.ok(tallest >= 8);
  // A colour has one meaning: HALT and its reasons are not those of what went well.
  const fills = await chart.locator('rect').evaluateAll((bars) => [...new Set(bars.map((bar) => getComputedStyle(bar).fill))]);
  assert.equal(fills.length, 2);
  await page
    .getByRole('figure', { name: /^Reasons of HALT/ })
    .locator('a')
    .first()
    .click();
  await page.waitForURL(/#\/\?q=reason%3AERR_EXEC\+since%3A/);
  await page.goBack();
  await page.getByText('Decisions as a table').click();
  const [cells = ''] = await page.getByRole('group', { name: 'Decisions as a table' }).locator('tbody tr').allInnerTexts();
  assert.match(cells, /^2026-11-23 07:12:00Z\s+0\s+0$/);
  assert.deepEqual(faults, []);
  await page.context().close();
});

test('issue 49: the longest turn ends at the end of a true axis, which enlarges by keyboard and by drag', async () => {
  const { page, faults } = await open(browser, `${mock.address}#/s/${SID}`, { viewport: WIDE });
  const axis = page.getByRole('slider');
  await axis.waitFor();
  // The lanes share the axis: the end of each bar stands where its time does.
  const ends = () =>
    page.evaluate(() =>
      [...document.querySelectorAll('.rows .lane')].map((lane) => {
        const { left, width } = lane.getBoundingClientRect();
        return ((lane.lastElementChild?.getBoundingClientRect().right ?? 0) - left) / width;
      }),
    );
  assert.ok(Math.abs(Math.max(...(await ends())) - 1) < 0.01);
  const ticks = () => page.locator('.axis .tick').allTextContents();
  const all = await ticks();
  assert.equal(all[0], '0 ms');
  await axis.focus();
  await page.keyboard.press('+');
  await until(ticks, (now) => now.join() !== all.join());
  await page.keyboard.press('0');
  await until(ticks, (now) => now.join() === all.join());
  const box = await axis.boundingBox();
  assert.ok(box !== null);
  await page.mouse.move(box.x + box.width * 0.5, box.y + 5);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.75, box.y + 5);
  await page.mouse.up();
  await until(ticks, (now) => now.join() !== all.join() && !now.includes('0 ms'));
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.getByLabel('logarithmic').check();
  await until(ticks, (now) => now.includes('10 ms'));
  assert.deepEqual(faults, []);
  await page.context().close();
});
