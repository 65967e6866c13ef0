// Debian's Chromium, and a page in it that fails the test for every error and every request to another host.
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

export const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--enable-precise-memory-info'] });

export interface Opened {
  readonly page: Page;
  /** Errors of the page: exceptions, refusals of the policy, failed requests. */
  readonly faults: string[];
}

export const WIDE = { width: 1280, height: 800 };
export const NARROW = { width: 400, height: 800 };

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
  await page.goto(address);
  return { page, faults };
}
