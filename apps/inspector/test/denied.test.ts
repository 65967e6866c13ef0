// A turn that the policy denied before it ran: what the page offers, where the record can be executed and where it cannot.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from './browser.ts';
import { sessionRow, sessionView, turnRow, turnView, whole } from './mock.ts';
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
    const verdict = { allowed: false, rule: 'deny', entry: 'tool.fs.*', reason: REASON };
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
