// Writes the pictures of pictures.md, from real sessions in Debian's Chromium: `npm --prefix apps/inspector run pictures`. Look at them.
import { mkdirSync, writeFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { launch, NARROW, open, WIDE } from './test/browser.ts';
import { Real, script, token } from './test/real.ts';

const FOLDER = new URL('pictures/', import.meta.url);

/** A session of several turns that differ in what they use. */
const stocktaking = script(
  ...Array.from({ length: 14 }, (_, index) => {
    const action = index === 13 ? 'done' : 'continue';
    const calls = Array.from({ length: index % 5 }, (_, call) => `  set n${call} = tool.shop.Stock("article ${call}")\n`).join(
      '',
    );
    const work = `  set sum = 0\n  for each n in tool.list.Range(0, ${200 + ((index * 731) % 1900)})\n    set sum = sum + n * 2\n  endfor\n`;
    return `command\n${calls}${work}  emit "shelf ${index}: " + sum\n${token(action)}endcommand\n`;
  }),
);

/** A view, how it is looked at, and what is done in it before the picture. */
interface Picture {
  readonly name: string;
  readonly path: string;
  readonly dark?: true;
  readonly narrow?: true;
  /** Whether the server has the keys with which plans are answered. Tokens of the other sessions verify with the keys of their records. */
  readonly signs?: true;
  readonly height?: number;
  readonly before?: (page: Page) => Promise<void>;
}

const PICTURES: readonly Picture[] = [
  { name: 'session', path: 's/stocktaking' },
  { name: 'plan', path: 's/restocking', signs: true, height: 800 },
  { name: 'turn', path: 's/order/t/1', height: 700 },
  { name: 'program', path: 's/stocktaking/t/14/program', height: 440 },
  { name: 'steps', path: 's/stocktaking/t/14/steps?at=7:20', height: 480 },
  { name: 'tokens', path: 's/greeting/t/2/tokens', dark: true, height: 560 },
  {
    name: 'trial',
    path: 's/order/t/1/trial',
    height: 1150,
    before: async (page) => {
      await page.getByLabel(/^call 1\.1/).selectOption('value');
      await page.getByLabel('JSON value of call 1.1').fill('5');
      await page.getByRole('button', { name: 'Try it out' }).click();
      await page.getByLabel(/^call 1\.2/).selectOption('value');
      await page.getByLabel('JSON value of call 1.2').fill('"ordered"');
      await page.getByRole('button', { name: 'Try it out' }).click();
      await page.getByRole('region', { name: 'Tried', exact: true }).getByText('DONE').waitFor();
    },
  },
  { name: 'narrow', path: 's/cleanup/t/2', dark: true, narrow: true },
];

mkdirSync(FOLDER, { recursive: true });
const browser = await launch();
const real = await Real.make({ stocktaking });
await real.plan('restocking');
try {
  // The first browser that opens the address is let in; the others take its cookie.
  const entered = async (...flags: readonly string[]) => {
    const { page } = await open(browser, await real.serve(...flags));
    return { storageState: await page.context().storageState(), origin: new URL(page.url()).origin };
  };
  const [plain, signing] = [await entered(), await entered('--approve', '--keys', 'keys.json')];
  for (const { name, path, dark, narrow, signs, height, before } of PICTURES) {
    const { storageState, origin } = signs ? signing : plain;
    const size = narrow ? NARROW : WIDE;
    const viewport = { ...size, height: height ?? size.height };
    const { page } = await open(browser, `${origin}/#/${path}`, { viewport, colorScheme: dark ? 'dark' : 'light', storageState });
    await page.waitForFunction(() => document.querySelector('main h1') !== null && document.querySelector('.pending') === null);
    await before?.(page);
    // Pictures of the heat come after an answer of the server, and nothing else in the page says that it is there.
    await page.waitForTimeout(1500);
    const client = await page.context().newCDPSession(page);
    const { data } = await client.send('Page.captureScreenshot', { format: 'webp', quality: 60 });
    writeFileSync(new URL(`inspector-${name}.webp`, FOLDER), Buffer.from(data, 'base64'));
    await page.context().close();
  }
} finally {
  await browser.close();
  await real[Symbol.asyncDispose]();
}
