// A call that waits is answered by the control that fits what its tool returns.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnswerForm } from '../../../src/wire/journal.ts';
import { open } from './browser.ts';
import { sessionRow, sessionView, whole } from './mock.ts';
import { stage } from './stage.ts';

const { browser, served } = stage();

const ways: readonly (readonly [
  name: string,
  answer: AnswerForm | null,
  given: (page: Page) => Promise<void>,
  value: unknown,
])[] = [
  ['a text', 'text', (page) => page.getByLabel('The answer').fill('by the "red" door'), 'by the "red" door'],
  ['a number', 'number', (page) => page.getByLabel('The answer, a number').fill('2.5'), 2.5],
  ['a choice', { choices: ['red', 'green'] }, (page) => page.getByLabel('green').check(), 'green'],
  ['any value', null, (page) => page.getByLabel('The value as JSON').fill('{"a": 1}'), { a: 1 }],
];
type Page = Awaited<ReturnType<typeof open>>['page'];

for (const [name, answer, give, value] of ways)
  test(`issue 49: a call whose answer is ${name} has a field for it first, and nothing to approve`, async () => {
    const since = Date.now() - 60_000;
    const call = {
      ...{ call: '1.1', turn: 1, tool: 'tool.human.Ask', args: [whole('"which door?"')], reason: 'asks', since, answer },
      ...{ expiresAt: since + 3_600_000, plan: null, completed: false, refusal: null },
    };
    const mock = await served({
      about: { approve: true },
      session: () => sessionView(sessionRow('asking', 0, { phase: 'waiting', waiting: 1, started: 1 }), { calls: [call] }),
      turns: () => [],
    });
    const { page, faults } = await open(browser(), `${mock.address}#/s/asking`);
    await page.getByText('waits because').waitFor();
    assert.equal(await page.locator('main').getByRole('button', { name: 'Approve' }).count(), 0);
    await give(page);
    const sent = page.waitForRequest((request) => request.method() === 'POST');
    await page.getByRole('button', { name: 'Send the answer' }).first().click();
    assert.deepEqual((await sent).postDataJSON(), { call: '1.1', value });
    await page.getByText('answered call 1.1').waitFor();
    assert.deepEqual(faults, []);
    await page.context().close();
  });
