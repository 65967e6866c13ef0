// Twelve questions of somebody on call: each is answered by at most two actions from the list of sessions of the real server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { reads, WIDE } from './browser.ts';
import { realStage } from './stage.ts';

const staged = realStage();

/** A reader who counts: each click and each text entered is one action. */
class Reader {
  actions = 0;
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  get main(): Locator {
    return this.page.locator('main');
  }

  async click(element: Locator): Promise<void> {
    this.actions += 1;
    await element.first().click();
  }

  /** Opens a session by its row. */
  opens(sid: string): Promise<void> {
    return this.click(this.main.locator('a.row', { hasText: sid }));
  }

  follows(name: string | RegExp): Promise<void> {
    return this.click(this.main.getByRole('link', { name }));
  }

  async enters(query: string): Promise<void> {
    this.actions += 1;
    await this.page.getByLabel('Find').fill(query);
  }
}

const QUESTIONS: readonly (readonly [question: string, answer: (reader: Reader) => Promise<void>])[] = [
  [
    'why did it halt',
    async (reader) => {
      await reader.opens('order');
      await reads(reader.main, /The host halted it: ERR_EXEC: the program failed/);
    },
  ],
  [
    'which line',
    async (reader) => {
      await reader.opens('order');
      await reader.follows('line 9');
      await reader.page.locator('tr.is-wrong', { hasText: 'fail "no pen in stock"' }).waitFor();
    },
  ],
  [
    'the failed call with its arguments',
    async (reader) => {
      await reader.opens('cleanup');
      await reads(reader.main, /tool\.fs\.Delete\("\/var\/reports\/old"\)/i);
    },
  ],
  [
    'what waits, and for whom',
    async (reader) => {
      await reader.opens('approval');
      await reads(reader.main, /tool\.human\.approve[\s\S]*all customers[\s\S]*asks the shop's owner[\s\S]*in 2\d(?:\.\d)? h/i);
    },
  ],
  [
    'what did the agent see',
    async (reader) => {
      await reader.opens('order');
      await reader.follows('what the agent saw');
      await reads(reader.main, /"subject":\s*"the shop"/);
    },
  ],
  [
    'did a nested ask fail',
    async (reader) => {
      await reader.click(reader.main.locator('a.row', { hasText: 'asker' }).filter({ hasNotText: 'of asker' }));
      await reads(reader.main.getByRole('group', { name: 'Tree of asks' }), /ask 1\.1[\s\S]*halted[\s\S]*ERR_EXEC/);
    },
  ],
  [
    'would a fix help',
    async (reader) => {
      await reader.opens('order');
      await reader.follows('would a fix help?');
      await reads(reader.main, /Tried without line 9[\s\S]*Tried\s*(✓\s*)?DONE|Nothing answered/);
    },
  ],
  [
    'is the log whole',
    async (reader) => {
      await reader.click(reader.page.getByRole('link', { name: 'Log', exact: true }));
      await reads(reader.main, /each follows from the one before/);
    },
  ],
  [
    'the slowest call',
    async (reader) => {
      await reader.opens('order');
      await reads(reader.main, /slowest call\s*1\.\d tool\.\S+, [\d.]+ m?s/i);
    },
  ],
  [
    'how long did it take',
    async (reader) => {
      await reads(reader.main.locator('a.row', { hasText: 'order' }).first(), /\d m?s/);
    },
  ],
  [
    'who called this tool last week',
    async (reader) => {
      await reader.enters('tool:shop.Stock since:7d');
      await reader.page.waitForFunction(() => document.querySelectorAll('.row-place').length === 2);
      await reads(reader.main.getByRole('list', { name: 'Sessions', exact: true }), /greeting[\s\S]*order|order[\s\S]*greeting/);
    },
  ],
  [
    'why did the agent not reply',
    async (reader) => {
      await reader.opens('mute');
      await reads(reader.main, /ERR_AGENT[\s\S]*(transcript|reply|replies)/i);
    },
  ],
];

for (const [where, viewport] of [
  ['on a desk', WIDE],
  ['on a phone', { width: 390, height: 844 }],
] as const)
  for (const [question, answer] of QUESTIONS)
    test(`issue 49, on call ${where}: ${question}: at most two actions`, async () => {
      const { page } = staged().opened;
      await page.setViewportSize(viewport);
      await page.goto(`${new URL(page.url()).origin}/#/`);
      await page.locator('a.row', { hasText: 'order' }).first().waitFor();
      const reader = new Reader(page);
      await answer(reader);
      assert.ok(reader.actions <= 2, `${question} took ${reader.actions} actions`);
    });

test('no question met an error of the page', () => {
  assert.deepEqual(staged().opened.faults, []);
});
