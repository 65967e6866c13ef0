// What a session costs, and a session that cannot be shown.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from './browser.ts';
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
