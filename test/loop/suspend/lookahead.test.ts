import { afterEach, expect, it, vi } from 'vitest';
import { PLAN } from '../../../src/loop/index.ts';
import { createRuntime } from '../../../src/runtime/index.ts';
import { Sandbox } from '../../../src/sandbox/index.ts';
import { defineTool } from '../../../src/tools/index.ts';
import { NeuroScriptError } from '../../../src/wire/errors.ts';
import { agentOf, openHost, SESSION } from './stage.ts';

const SENDS =
  'command\ncall tool.t.Send("a")\ncall tool.t.Send("b")\nemit tool.aeiou.magic("LOOP", {"action": "done"})\nendcommand';
const killed = () => new NeuroScriptError('ERR_WORKER', 'the worker process died while parsing: signal SIGKILL');
const late = () => new NeuroScriptError('ERR_TIMEOUT', 'parsing took longer than 30000 ms');

let sent: unknown[] = [];
const send = defineTool({
  name: 'tool.t.Send',
  args: [{ name: 'to', type: 'string' }],
  cost: { usd: 0.1 },
  run: ({ to }) => void sent.push(to),
});

/** Lets the next looks ahead fail, or all of them. */
function failing(...errors: readonly Error[]) {
  sent = [];
  const look = vi.spyOn(Sandbox.prototype, 'foresee');
  for (const error of errors) look.mockRejectedValueOnce(error);
  return look;
}
afterEach(() => void vi.restoreAllMocks());

it.each([
  ['killed once', [killed()], 0],
  ['killed twice', [killed(), killed()], 1],
  ['late', [late()], 1],
  ['late, and killed once', [late(), killed()], 1],
])(
  'issue 47: a turn whose look ahead was %s is tried again, before its plan is shown and after',
  async (_, errors, interrupted) => {
    await using here = await openHost([send], { approve: 'plan' });
    const agent = agentOf(SENDS);
    const look = failing(...errors);
    expect(await here.loop.runLoop({ ...SESSION, agent })).toMatchObject({ decision: 'SUSPENDED', waiting: { call: PLAN } });
    await here.loop.complete('s', PLAN, { result: true });
    for (const error of errors) look.mockRejectedValueOnce(error);
    const { decision, turns } = await here.loop.resume('s', { agent, keepTurns: true });
    expect([decision, sent]).toEqual(['DONE', ['a', 'b']]);
    expect(turns[0]?.attempts?.map(({ end }) => end) ?? []).toEqual(Array(2 * interrupted).fill('interrupted'));
  },
);

it('issue 47: a turn whose plan no worker can foresee ends like one whose worker is killed each time, and nothing happened', async () => {
  await using here = await openHost([send], { approve: 'plan' });
  failing().mockRejectedValue(killed());
  const { reason, error } = await here.loop.runLoop({ ...SESSION, agent: agentOf(SENDS) });
  expect([reason, sent]).toEqual(['ERR_INTERRUPTED', []]);
  expect(error?.message).toContain('nothing was run, because no worker could foresee its plan: the worker process died');
});

it('issue 47: where no worker can foresee what a program costs, each call is judged when it is made', async () => {
  await using runtime = await createRuntime({ tools: [send], policy: { allow: ['*'] }, concurrency: 1 });
  failing().mockRejectedValue(killed());
  const { error, usage } = await runtime.run(SENDS, { limits: { cost: 0.15 } });
  expect([error?.code, usage.cost, sent]).toEqual(['ERR_QUOTA', 0.1, ['a']]);
});
