// What a session costs, and a session that cannot be shown.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, reads, until } from './browser.ts';
import { sessionRow, sessionView, turnRow } from './mock.ts';
import { SAMPLE, SID } from './sample.ts';
import { stage } from './stage.ts';

const { browser, served } = stage();

test('issue 49: amounts of one column have the same decimals', async () => {
  const mock = await served(SAMPLE);
  const { page } = await open(browser(), `${mock.address}#/s/${SID}`);
  const costs = page.locator('section[aria-labelledby="nested"] tbody td:last-child');
  await costs.first().waitFor();
  assert.deepEqual(await costs.allTextContents(), ['$0.0012', '–', '$1,200.0500']);
  await page.context().close();
});

test('issue 49: the page of a session that cannot be shown says which one, why, and of which store', async () => {
  const mock = await served(SAMPLE);
  const { page } = await open(browser(), `${mock.address}#/s/no-such-session`);
  await page.getByRole('heading', { name: 'Session no-such-session cannot be shown' }).waitFor();
  await page.getByRole('alert').waitFor();
  await page.getByText('The id may be mistyped').waitFor();
  assert.match(await page.title(), /no-such-session/);
  await page.context().close();
});

test('issue 49: a session that a process drives is running in the list, on its page and in the words of a query', async () => {
  const row = sessionRow('crawler', 1, { driven: true });
  const mock = await served({ ...SAMPLE, sessions: () => ({ sessions: [row], next: null }), session: () => sessionView(row) });
  const { page } = await open(browser(), mock.address);
  await reads(page.locator('a.row'), /▶ running/);
  await page.getByRole('link', { name: /^status:running/ }).waitFor();
  await page.locator('a.row').click();
  await reads(page.locator('.head'), /▶ running/);
  await page.context().close();
});

test('issue 49: the time of a turn and of a session have a name each, and the list says what is of the last turn alone', async () => {
  const row = sessionRow('import-3', 1, { phase: 'done' });
  const mock = await served({ ...SAMPLE, sessions: () => ({ sessions: [row], next: null }), session: () => sessionView(row) });
  const { page } = await open(browser(), mock.address, { viewport: { width: 1440, height: 800 } });
  const of = page.getByText('last turn', { exact: true });
  await of.waitFor();
  const places = await page.evaluate(() =>
    ['.of-last', '.sort:nth-child(6)', '.sort:nth-child(10)', '.sort:nth-child(5)'].map((each) => {
      const { left, right } = document.querySelector(each)?.getBoundingClientRect() ?? { left: 0, right: 0 };
      return { left, right };
    }),
  );
  const [above, code, attempts, turns] = places;
  assert.ok(above !== undefined && code !== undefined && attempts !== undefined && turns !== undefined);
  assert.ok(above.left <= code.left && above.right >= attempts.right && above.left >= turns.right, JSON.stringify(places));
  await page.locator('a.row').click();
  await reads(page.locator('main'), /lasted\s*9 min/);
  assert.equal(await page.locator('dt', { hasText: 'took' }).count(), 0);
  await page.context().close();
});

test('issue 49: a turn that cannot be read says so in its row and where the session says why it ended', async () => {
  const row = sessionRow('torn', 2, { phase: 'done' });
  const mock = await served({
    ...SAMPLE,
    session: () => sessionView(row),
    turns: () => [turnRow(1)],
    damaged: [2],
    turn: () => null,
  });
  const { page } = await open(browser(), `${mock.address}#/s/torn`);
  await reads(page.locator('.unread'), /^cannot be read: turn 2 is not JSON/);
  await page.locator('.ending').getByRole('alert').waitFor();
  await page.context().close();
});

test('issue 49: from 1280 pixels on, and where few columns are left, the list cuts no code', async () => {
  const code = 'ERR_ENV_SECTION_MISSING';
  const row = sessionRow('s', 1, { phase: 'halted', last: { code, ms: 24, tokens: 1200, cost: 0, attempts: 1, changed: false } });
  const mock = await served({ ...SAMPLE, sessions: () => ({ sessions: [row], next: null }) });
  const { page } = await open(browser(), mock.address);
  const cut = () => page.locator('a.row .reason').evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth);
  for (const width of [1440, 1280, 1024, 768]) {
    await page.setViewportSize({ width, height: 800 });
    assert.equal(await until(cut, (isCut) => !isCut), false, `${width}`);
  }
  await page.context().close();
});
