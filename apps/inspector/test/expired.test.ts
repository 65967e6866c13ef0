// A call that waited too long: the page takes no answer that the server would refuse.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, reads } from './browser.ts';
import { sessionRow, sessionView, whole } from './mock.ts';
import { stage } from './stage.ts';

const { browser, served } = stage();

for (const [name, leftMs, buttons] of [
  ['has expired', -1000, 0],
  ['has not expired', 3_600_000, 1],
] as const)
  test(`a waiting call that ${name} can${buttons === 0 ? 'not' : ''} be answered`, async () => {
    const since = Date.now() - 60_000;
    const call = {
      ...{ call: '1.1', turn: 1, tool: 'tool.human.Approve', args: [whole('"all"')], reason: 'may I?', since },
      ...{ expiresAt: Date.now() + leftMs, answer: 'truth' as const, plan: null, completed: false, refusal: null },
    };
    const mock = await served({
      about: { approve: true, log: null },
      session: () => sessionView(sessionRow('late', 0, { phase: 'waiting', waiting: 1, started: 1 }), { calls: [call] }),
      turns: () => [],
    });
    const { page, faults } = await open(browser(), `${mock.address}#/s/late`);
    const main = page.locator('main');
    await main.getByText('waits because').waitFor();
    assert.equal(await main.getByText('No answer is taken any more').count(), 1 - buttons);
    assert.equal(await main.getByRole('button', { name: 'Approve' }).count(), buttons);
    await main.getByText('At a terminal').click();
    await reads(main, /sessions resume late/);
    assert.equal((await main.textContent())?.includes('sessions complete late'), buttons === 1);
    assert.deepEqual(faults, []);
    await page.context().close();
  });
