// Debian's Chromium, and a page in it that fails the test for every error and every request to another host.
import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';

export const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--enable-precise-memory-info'] });

export interface Opened {
  readonly page: Page;
  /** Errors of the page: exceptions, refusals of the policy, failed requests. */
  readonly faults: string[];
}

export const WIDE = { width: 1280, height: 800 };
export const NARROW = { width: 400, height: 800 };

/**
 * How many times slower the pages and their requests are: `SLOW=4 npm test` shows which test takes the speed of a machine for
 * granted.
 */
const SLOW = Number(process.env.SLOW ?? 1);

async function slow(page: Page): Promise<void> {
  if (SLOW === 1) return;
  const client = await page.context().newCDPSession(page);
  await client.send('Emulation.setCPUThrottlingRate', { rate: SLOW });
  const latency = { offline: false, latency: 25 * SLOW, downloadThroughput: -1, uploadThroughput: -1 };
  await client.send('Network.emulateNetworkConditions', latency);
}

/** Milliseconds after which a page that has not come to show something never will. */
const PATIENCE = 60_000;

/** Asks again and again until the answer satisfies; what a page shows comes later than the key or click that leads to it. */
export async function until<T>(ask: () => Promise<T>, satisfies: (answer: T) => boolean): Promise<T> {
  const end = performance.now() + PATIENCE;
  for (;;) {
    const answer = await ask();
    if (satisfies(answer) || performance.now() > end) return answer;
    await setTimeout(25);
  }
}

/** Waits until the text of an element is like this. */
export async function reads(element: Locator, wanted: RegExp): Promise<void> {
  assert.match(
    await until(
      async () => (await element.textContent()) ?? '',
      (text) => wanted.test(text),
    ),
    wanted,
  );
}

export async function open(browser: Browser, address: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const context = await browser.newContext({ viewport: WIDE, ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  page.on('request', (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (protocol.startsWith('http') && hostname !== '127.0.0.1') faults.push(`asked ${request.url()}`);
  });
  await slow(page);
  await page.goto(address);
  return { page, faults };
}
