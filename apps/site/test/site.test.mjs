// The built site as a reader uses it, in Debian's Chromium, served from a path below the root: search, missing pages, folders.
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const DIST = fileURLToPath(new URL('../dist/', import.meta.url));
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json' };
const BELOW = '/some/where/';
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let server;
let browser;
let root;

before(async () => {
  server = createServer((request, response) => {
    const path = decodeURIComponent(request.url.split(/[?#]/)[0]);
    const named = path.startsWith(BELOW) ? join(DIST, path.slice(BELOW.length)) : '';
    const file = [named, join(named, 'index.html'), `${named}.html`].find((each) => existsSync(each) && statSync(each).isFile());
    const found = file ?? join(DIST, '404.html');
    response.writeHead(file === undefined ? 404 : 200, { 'content-type': TYPES[extname(found)] ?? 'text/plain' });
    response.end(readFileSync(found));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  root = `http://127.0.0.1:${server.address().port}${BELOW}`;
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
});

after(async () => {
  await browser?.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** A page of the site, with what went wrong in it. */
async function open(path) {
  const page = await browser.newPage();
  const faults = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  await page.goto(root + path);
  return { page, faults };
}

test('a table of many columns fits a phone, and names the column of each cell', async () => {
  const { page } = await open('docs/limits.html');
  await page.setViewportSize({ width: 390, height: 844 });
  const table = page.locator('table.wide').first();
  assert.equal(await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth), 0);
  assert.deepEqual(
    await table
      .locator('tbody tr')
      .first()
      .locator('td')
      .evaluateAll((cells) => cells.slice(0, 3).map((cell) => cell.dataset.column)),
    ['limit', 'flag', 'default'],
  );
  await page.close();
});

test('issue 49: at no width does a page or a table of it scroll sideways, and no markup is text', async () => {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, javaScriptEnabled: false });
  const page = await context.newPage();
  const paths = globSync('**/*.html', { cwd: DIST }).filter((path) => !/^(?:playground|reference.api)/.test(path));
  assert.ok(paths.length > 100);
  for (const path of paths) {
    await page.goto(root + path);
    for (const width of [390, 768, 960, 1280]) {
      await page.setViewportSize({ width, height: 844 });
      const wide = await page.evaluate(() =>
        [document.documentElement, ...document.querySelectorAll('.vp-doc table')]
          .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
          .map(({ textContent }) => textContent.trim().slice(0, 80)),
      );
      assert.deepEqual(wide, [], `${path}, ${width} px`);
    }
    assert.doesNotMatch(await page.locator('body').textContent(), /<br>/, path);
  }
  await context.close();
});

test('issue 49: names of two columns stay whole where there is room, and stand above their meaning on a phone', async () => {
  const { page } = await open('reference/api/');
  const name = page.locator('.vp-doc td:first-child code', { hasText: 'neuroscript-runtime/aeiou' }).first();
  const rows = () => name.evaluate((code) => code.getClientRects().length);
  for (const width of [1440, 768, 390]) {
    await page.setViewportSize({ width, height: 844 });
    assert.equal(await rows(), 1, `${width}`);
  }
  const { y: below } = await page.locator('.vp-doc tbody tr').first().locator('td').nth(1).boundingBox();
  const { y } = await page.locator('.vp-doc tbody tr').first().locator('td').first().boundingBox();
  assert.ok(below > y + 10, `${below} ${y}`);
  await page.close();
});

for (const [path, next] of [
  ['docs/errors/NS14.html', 0],
  ['reference/', 0],
  ['docs/embedding.html', 1],
])
  test(`issue 49: ${path} ${next === 0 ? 'has no next page, as no menu has it' : 'leads to the next page of the menu'}`, async () => {
    const { page } = await open(path);
    assert.equal(await page.locator('.VPDocFooter .pager-link.next').count(), next);
    await page.close();
  });

test('search finds the page of each subject', async () => {
  const { page, faults } = await open('docs/tutorial.html');
  await page
    .getByRole('button', { name: /search/i })
    .first()
    .click();
  await page.locator('#localsearch-input').fill('NS14');
  await page.locator('#localsearch-list a[href*="docs/errors/NS14"]').first().waitFor();
  assert.match(await page.locator('#localsearch-list a').first().getAttribute('href'), /docs\/errors\/NS14/);
  const known = {
    'tenant budgets': 'docs/embedding',
    'decision log': 'docs/',
    'key rotation': 'docs/keys',
    'foresee effects': 'docs/foresee',
    'together statement': 'docs/',
  };
  for (const [query, path] of Object.entries(known)) {
    await page.locator('#localsearch-input').fill(query);
    await page.waitForFunction(
      (wanted) => [...document.querySelectorAll('#localsearch-list a')].slice(0, 5).some((a) => a.href.includes(wanted)),
      path,
      { timeout: 15_000 },
    );
  }
  await page.locator('#localsearch-list a').first().click();
  await page.waitForFunction(() => document.querySelector('.vp-doc h1') !== null);
  assert.ok(page.url().startsWith(root));
  assert.deepEqual(faults, []);
  await page.close();
});

test('no page scrolls sideways at any width of its bar', async () => {
  const { page } = await open('reference/');
  for (const width of [390, 768, 860, 960, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    assert.equal(
      await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth),
      0,
      `${width}`,
    );
  }
  await page.close();
});

for (const path of ['nothing', 'docs/nothing.html', 'docs/errors/deep/er/nothing'])
  test(`a missing page, ${path}, says so and leads home`, async () => {
    const { page, faults } = await open(path);
    assert.match(await page.locator('h1').textContent(), /Page not found/);
    await page.locator('#home').click();
    await page.waitForFunction(() => document.body?.textContent.includes('Ten-minute tutorial'));
    assert.equal(page.url(), root);
    assert.deepEqual(faults, []);
    await page.close();
  });

for (const [folder, link] of [
  ['docs/', 'Embedding'],
  ['docs/errors/', 'NS14'],
  ['reference/', 'Commands and flags'],
])
  test(`the folder ${folder} has a page that links what is in it`, async () => {
    const { page, faults } = await open(folder);
    await page.locator('.vp-doc').getByRole('link', { name: link, exact: true }).first().click();
    await page.waitForFunction(() => document.querySelector('.vp-doc h1') !== null);
    assert.deepEqual(faults, []);
    await page.close();
  });

for (const colorScheme of ['light', 'dark'])
  test(`issue 49: axe finds nothing on the first page, a page, an error, a missing page and the playground, ${colorScheme}`, async () => {
    const context = await browser.newContext({ colorScheme, bypassCSP: true });
    const page = await context.newPage();
    for (const [path, shown] of Object.entries({
      '': 'Ten-minute tutorial',
      'docs/tutorial.html': 'A first program',
      'docs/errors/NS14.html': 'NS14',
      'docs/nothing': 'Go to the first page',
      'playground/': 'Run',
    })) {
      await page.goto(root + path);
      await page.getByText(shown).first().waitFor();
      await page.evaluate(AXE);
      const found = await page.evaluate(async () => {
        const { violations } = await window.axe.run(document, { resultTypes: ['violations'] });
        return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target}`));
      });
      // Its label is its text; what follows are the keys of a shortcut, which nobody says.
      assert.deepEqual(
        found.filter((each) => each !== 'label-content-name-mismatch: .DocSearch'),
        [],
        path,
      );
    }
    await context.close();
  });

test('issue 49: the first program of the tutorial runs in the playground, one click away', async () => {
  const { page, faults } = await open('docs/tutorial.html');
  const opening = page.waitForEvent('popup');
  await page.getByRole('link', { name: 'Try it' }).first().click();
  const playground = await opening;
  playground.on('pageerror', (error) => faults.push(String(error)));
  await playground.waitForFunction(() => document.querySelector('.cm-content')?.textContent.includes('"Hello, " + name'));
  await playground.getByRole('button', { name: 'Run' }).click();
  await playground.waitForFunction(() => document.getElementById('output').textContent.includes('Hello, Ada\nHello, Alan'));
  assert.deepEqual(faults, []);
  await playground.close();
  await page.close();
});
