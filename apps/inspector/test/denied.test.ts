// Turns that the policy refused: what the page offers for one that was denied before it ran, and where the argument of a refused call came from.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallView } from '../../../src/ui/views.ts';
import { open, reads } from './browser.ts';
import { NO_ORIGIN, sessionRow, sessionView, turnRow, turnView, whole } from './mock.ts';
import { stage } from './stage.ts';

const { browser, served } = stage();
const SID = 'denied';
const REASON = "tool 'tool.fs.Delete' is denied";
const REFUSAL = 'the record does not say with which tools the turn ran, so it cannot be executed again';

const ways = [
  { name: 'can be executed', refusal: null, offers: 1 },
  { name: 'cannot be executed', refusal: REFUSAL, offers: 0 },
] as const;

for (const { name, refusal, offers } of ways)
  test(`issue 49, finding 4: a turn that was denied before it ran and ${name} offers ${offers === 0 ? 'no execution' : 'one'}`, async () => {
    const row = turnRow(1, {
      ...{ decision: 'HALT', reason: 'ERR_POLICY', calls: 0, error: { code: 'NS1003', message: REASON } },
      measures: turnRow(1).measures.map((measure) => ({ ...measure, used: 0 })),
    });
    const verdict = { ...NO_ORIGIN, allowed: false, rule: 'deny', entry: 'tool.fs.*', reason: REASON };
    const turn = turnView(SID, row, {
      program: whole('command\n  call tool.fs.Delete("/old")\nendcommand\n'),
      denied: { tool: 'tool.fs.Delete', verdict },
      failure: {
        ...{ kind: 'policy', name: 'ToolDenied', code: 'NS1003', message: REASON, hint: null },
        ...{ source: 'ACTIONS', line: 2, column: 3, lines: [`ACTIONS:2:3: ${REASON} (NS1003)`] },
      },
      record: { ...turnView(SID, row).record, notExecutable: refusal },
    });
    const asked: string[] = [];
    const mock = await served({
      session: () => sessionView(sessionRow(SID, 1, { phase: 'halted', reason: 'ERR_POLICY' })),
      turns: () => [row],
      turn: () => turn,
      steps: (query) => {
        asked.push(String(query));
        return { sid: SID, turn: 1, verdict: 'same', why: null, steps: 0, visits: 0, step: null };
      },
    });
    const { page, faults } = await open(browser(), `${mock.address}#/s/${SID}`);
    const main = page.locator('main');
    const goes = async (part: string, text: string) => {
      await page.goto(`${mock.address}#/s/${SID}${part}`);
      await main.getByText(text).first().waitFor();
    };
    await goes('', 'was not called');
    assert.equal(await main.getByRole('link', { name: 'would a fix help?' }).count(), offers);
    await goes('/t/1', 'Nothing: the program did not run.');
    assert.equal(await main.getByText(REASON).count(), 1, 'the message stands once');
    assert.equal(await main.getByRole('button', { name: 'Execute the turn again' }).count(), offers);
    assert.equal(await main.getByText(REFUSAL).count(), 1 - offers);
    await goes('/t/1/program', 'call tool.fs.Delete');
    assert.equal(await main.getByRole('link', { name: '2', exact: true }).count(), offers);
    assert.equal(await main.getByRole('radio', { name: 'fuel' }).count(), offers);
    await goes('/t/1/steps', refusal ?? 'come to this statement');
    assert.equal(asked.length, offers);
    await goes('/t/1/trial', refusal ?? 'Try it out');
    assert.equal(await main.getByRole('button', { name: 'Try it out' }).count(), offers);
    assert.deepEqual(faults, []);
    await page.context().close();
  });

test('issue 46: a call that is refused for where its argument came from leads to the lines that brought it in', async () => {
  const reason = "tool 'tool.mail.send' may not be called with what came from elsewhere, by policy rule: flow tool.mail.Send.to";
  const error = { code: 'NS1003', message: reason };
  const row = turnRow(2, { ...{ decision: 'HALT', reason: 'ERR_POLICY', calls: 1, failed: 1, error } });
  const call: CallView = {
    ...{
      seq: 1,
      call: '2.1',
      kind: 'tool',
      name: 'tool.mail.send',
      args: [whole('"a"')],
      result: null,
      ms: 1,
      cost: 0,
      begin: 0,
    },
    at: { fork: 'f', source: 'ACTIONS', line: 3, column: 3 },
    failed: { ...error, hint: null, halted: false },
    verdict: {
      ...{ allowed: false, rule: 'flow', entry: 'tool.mail.Send.to', reason, argument: 'to' },
      origins: [
        { label: 'web', from: 'tool.web.get', source: 'ACTIONS', line: 2 },
        { label: 'crm', from: 'program', source: null, line: null },
      ],
    },
    ...{ nested: null, repeated: false },
  };
  const turn = turnView(SID, row, { journal: [call], before: 1 });
  const session = sessionView(sessionRow(SID, 2, { phase: 'halted', reason: 'ERR_POLICY' }));
  const mock = await served({ session: () => session, turns: () => [row], turn: () => turn });
  const { page, faults } = await open(browser(), `${mock.address}#/s/${SID}/t/2`);
  const said =
    /denied by the rule flow \(tool\.mail\.Send\.to\): its argument 'to' has web from tool\.web\.get in line 2, crm from what its agent had read/;
  for (const part of ['', '/t/2', '/t/2/calls']) {
    await page.goto(`${mock.address}#/s/${SID}${part}`);
    await reads(page.locator('main'), said);
    const origin = page.locator('.problem').filter({ hasText: 'its argument' });
    assert.deepEqual(await origin.getByRole('link').evaluateAll((links) => links.map((link) => link.getAttribute('href'))), [
      `#/s/${SID}/t/2/program?at=2`,
      `#/s/${SID}/t/2/envelope`,
    ]);
  }
  assert.deepEqual(faults, []);
  await page.context().close();
});
