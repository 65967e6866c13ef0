// The playground as a person uses it, in Debian's Chromium, and its engine beside the sandbox over the conformance suite.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname } from 'node:path';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { createRuntime } from '../../../dist/src/entries/index.js';
import { pureTools } from '../../../dist/src/entries/stdlib-tools.js';
import { readChunks } from '../../../test/conformance/chunks.ts';
import { filesIn } from '../../../test/lsp/files.ts';

const dist = new URL('../dist/', import.meta.url);
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

let server;
let browser;
let address;
const asked = [];

before(async () => {
  server = createServer((request, response) => {
    const path = request.url === '/' ? '/index.html' : request.url;
    asked.push(path);
    try {
      const body = readFileSync(new URL(`.${path}`, dist));
      response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'text/plain' }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${server.address().port}/`;
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
});

after(async () => {
  await browser?.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** A page with the program of a link or the first example; fails the test for an error of the page itself. */
async function open(fragment = '', options = {}) {
  const page = await browser.newPage(options);
  const faults = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  await page.goto(address + fragment);
  await page.waitForFunction(() => document.querySelector('.cm-content')?.textContent !== '');
  return { page, faults };
}

async function write(page, text) {
  await page.locator('.cm-content').click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

const outputOf = (page, wanted) =>
  page.waitForFunction((text) => document.getElementById('output').textContent.includes(text), wanted, { timeout: 20_000 });

test('runs an example with its tools, and every other one to its end', async () => {
  const { page, faults } = await open();
  await page.getByRole('button', { name: 'Run' }).click();
  await outputOf(page, 'pen costs 3');
  await outputOf(page, 'gold: tool.shop.Price has no answer for gold');
  assert.match(await page.locator('#calls').textContent(), /tool\.shop\.price\("pen"\) → 3/);
  assert.match(await page.locator('#calls').textContent(), /failed: tool\.shop\.Price has no answer for gold \(NS9\)/);
  assert.match(await page.locator('#usage').textContent(), /fuel[\d,]+/);
  const expected = ['pen costs 3', 'the: 3', 'no event came', 'ERR_QUOTA', 'order a-1: 3'];
  for (const [index, text] of expected.entries()) {
    await page.locator('#example').selectOption(String(index));
    await page.locator('.cm-content').press('ControlOrMeta+Enter');
    await outputOf(page, text);
  }
  assert.deepEqual(faults, []);
  await page.close();
});

test('shows problems with a fix, and colours by the lexer', async () => {
  const { page, faults } = await open();
  await write(page, 'command\nset total = 1\nemit totl + tool.str.Lenth("x")\nendcommand\n');
  await page.waitForSelector('.cm-lintRange');
  await page.locator('.cm-lintRange', { hasText: /^totl$/ }).hover();
  await page.getByRole('button', { name: 'Fix' }).first().click();
  await page.waitForFunction(() => document.querySelector('.cm-content').textContent.includes('emit total +'));
  assert.ok((await page.locator('.ns-keyword').allTextContents()).includes('emit'));
  await page.getByRole('button', { name: 'Format' }).click();
  await page.waitForFunction(() => document.querySelector('.cm-content').textContent.includes('  emit total'));
  assert.deepEqual(faults, []);
  await page.close();
});

test('issue 49: no heading stands over nothing, and a program that says nothing is not one that did not run', async () => {
  const { page } = await open();
  const headings = page.locator('#results > h2:visible');
  assert.deepEqual(await headings.allTextContents(), ['Output']);
  await write(page, 'command\n  set x = 1\nendcommand\n');
  await page.getByRole('button', { name: 'Run' }).click();
  await outputOf(page, 'The program says nothing.');
  assert.deepEqual(await headings.allTextContents(), ['Output', 'Used']);
  await page.close();
});

test('a link brings back the program and the tools', async () => {
  const { page } = await open();
  await write(page, 'command\n  emit "wörld 😀 " + tool.a.B("x")\nendcommand\n');
  await page.locator('summary').first().click();
  await page.locator('#tools').fill('{"tool.a.B": {"*": 7}}');
  await page.getByRole('button', { name: 'Copy link' }).click();
  await page.waitForFunction(() => location.hash.startsWith('#1.'));
  const second = await open(new URL(page.url()).hash);
  await second.page.getByRole('button', { name: 'Run' }).click();
  await outputOf(second.page, 'wörld 😀 7');
  const broken = await open('#1.AAAA');
  await broken.page.waitForFunction(() => document.getElementById('status').textContent.includes('cannot be read'));
  for (const { page: each } of [{ page }, second, broken]) await each.close();
});

test('stops a program that does not end, and shows texts of programs as text', async () => {
  const { page, faults } = await open();
  await page.locator('summary').first().click();
  await page.locator('#fuel').fill('1000000000000000');
  await write(page, 'command\nwhile true\nset x = 1\nendwhile\nendcommand\n');
  await page.getByRole('button', { name: 'Run' }).click();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.waitForFunction(() => document.getElementById('status').textContent === 'stopped');
  await write(page, 'command\nemit "<img src=x onerror=alert(1)>"\nendcommand\n');
  await page.getByRole('button', { name: 'Run' }).click();
  await outputOf(page, '<img src=x');
  assert.equal(await page.locator('#output img').count(), 0);
  assert.deepEqual(faults, []);
  await page.close();
});

test('issue 49, finding 8: the line at which a run failed is marked, and what a run gave is marked once the program is another one', async () => {
  const { page, faults } = await open();
  await write(page, 'command\n  emit "begun"\n  set x = 1 / 0\nendcommand\n');
  const stale = page.locator('#stale');
  assert.equal(await stale.isVisible(), false);
  await page.getByRole('button', { name: 'Run' }).click();
  await outputOf(page, 'begun');
  await page.locator('.cm-line.is-failing', { hasText: 'set x = 1 / 0' }).waitFor();
  assert.equal(await stale.isVisible(), false);
  await page.locator('.cm-content').press('ControlOrMeta+End');
  await page.keyboard.type(' ');
  await stale.waitFor();
  assert.equal(await page.locator('.is-failing').count(), 0);
  await write(page, 'command\n  emit "well"\nendcommand\n');
  await page.getByRole('button', { name: 'Run' }).click();
  await outputOf(page, 'well');
  await stale.waitFor({ state: 'hidden' });
  assert.deepEqual(faults, []);
  await page.close();
});

test('issue 49, finding 8: in the dark, nothing of the editor is white', async () => {
  const { page } = await open('', { colorScheme: 'dark' });
  const light = await page.evaluate(() => {
    const isLight = (colour) => {
      const [red = 0, green = 0, blue = 0, alpha = 1] = colour.match(/[\d.]+/g)?.map(Number) ?? [];
      return alpha > 0 && red + green + blue > 380;
    };
    return [...document.querySelectorAll('body, #editor, #editor *, pre')]
      .filter((each) => isLight(getComputedStyle(each).backgroundColor))
      .map(({ className }) => className);
  });
  assert.deepEqual(light, []);
  await page.close();
});

test('takes envelopes and tokens apart', async () => {
  const { page } = await open();
  await page.locator('summary').nth(1).click();
  const envelope =
    '<<<NSENV:V3:START>>>\n<<<NSENV:V3:USERDATA>>>\n{"subject":"s","fields":{}}\n<<<NSENV:V3:ACTIONS>>>\ncommand\n  emit 1\nendcommand\n<<<NSENV:V3:END>>>\n';
  await page.locator('#protocol').fill(envelope);
  assert.match(await page.locator('#artefact').textContent(), /USERDATA.*ACTIONS/s);
  await page.locator('#protocol').fill('<<<NSMAG:V3:LOOP:e30.AAAA>>>');
  assert.match(await page.locator('#artefact').textContent(), /signaturenot verified/);
  await page.close();
});

test('gives the output and the fuel of the sandbox, over the conformance suite', async () => {
  const chunks = filesIn().flatMap((path) => readChunks(path));
  const plain = chunks.filter(
    ({ host, globals, events, stdin, source }) =>
      !host &&
      Object.keys(globals).length === 0 &&
      events.length === 0 &&
      stdin === null &&
      !/^\s*ask\b/m.test(source) &&
      !/\btool\.(?!str|math|list|map|json|regex|shape|template|diff|error)/i.test(source),
  );
  const { page } = await open();
  const engine = readdirSync(new URL('assets/', dist)).find((name) => name.startsWith('engine-'));
  const there = await page.evaluate(
    async ([path, jobs]) => {
      const worker = new Worker(path, { type: 'module' });
      const outcomes = [];
      for (const job of jobs) {
        const answered = new Promise((resolve) => {
          worker.onmessage = ({ data }) => resolve(data);
        });
        worker.postMessage(job);
        const { result, failure } = await answered;
        outcomes.push(
          failure ?? [
            result.emits,
            result.whispers,
            result.error?.code,
            result.error?.message,
            result.error?.line,
            result.usage.fuel,
            result.usage.peakMemoryBytes,
          ],
        );
      }
      return outcomes;
    },
    [`/assets/${engine}`, plain.map(({ source, limits }) => ({ source, answers: {}, limits }))],
  );
  await using runtime = await createRuntime({ tools: pureTools(), policy: { allow: ['*'] } });
  for (const [index, chunk] of plain.entries()) {
    const call = /^func main\b/m.test(chunk.source) ? { call: { name: 'main', args: [] } } : {};
    const { emits, whispers, error, usage } = await runtime.run(chunk.source, { limits: chunk.limits, ...call });
    const here = [emits, whispers, error?.code, error?.message, error?.line, usage.fuel, usage.peakMemoryBytes];
    assert.deepEqual(JSON.parse(JSON.stringify(there[index])), JSON.parse(JSON.stringify(here)), chunk.title);
  }
  assert.ok(plain.length > 350, `only ${plain.length} programs`);
  assert.ok(asked.every((path) => path === '/index.html' || path.startsWith('/assets/') || path === '/favicon.ico'));
  await page.close();
});
