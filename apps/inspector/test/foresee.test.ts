// The page of `foresee --html` for the person who decides, on a phone.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { launch, open } from './browser.ts';
import { Real } from './real.ts';

let browser: Browser;
let real: Real;
before(async () => {
  [browser, real] = [await launch(), Real.empty()];
});
after(async () => {
  await browser?.close();
  await real?.[Symbol.asyncDispose]();
});

const PROGRAM = `command
  set path = "/var/reports/${'a-long-name-without-a-blank-'.repeat(4)}.txt"
  for each article in ["pen", "ink"]
    emit tool.shop.Order(article)
  endfor
  if tool.shop.Stock("${'pen'.repeat(40)}") > 0
    emit tool.fs.Delete(path)
  endif
endcommand
`;

for (const colorScheme of ['light', 'dark'] as const)
  test(`issue 49, finding 8: the page of foresee fits a phone, ${colorScheme}`, async () => {
    writeFileSync(join(real.folder, 'plan-with-a-rather-long-name.ns'), PROGRAM);
    const page = `plan-${colorScheme}.html`;
    const flags = ['--tools', 'tools.yaml', '--policy', 'policy.yaml', '--html', page];
    await real.command('foresee', 'plan-with-a-rather-long-name.ns', ...flags);
    const opened = await open(browser, pathToFileURL(join(real.folder, page)).href, {
      viewport: { width: 390, height: 844 },
      colorScheme,
    });
    await opened.page.locator('#call-1').waitFor();
    // Nothing but the program, whose lines are wrapped, could be wider; a part that is cut off would be lost.
    const widths = await opened.page.evaluate(() => ({
      page: document.documentElement.scrollWidth,
      cells: Math.max(...[...document.querySelectorAll('td, th, p, pre, h1')].map((each) => each.getBoundingClientRect().right)),
    }));
    assert.ok(widths.page <= 390 && widths.cells <= 390, JSON.stringify(widths));
    assert.deepEqual(opened.faults, []);
    await opened.page.context().close();
  });
