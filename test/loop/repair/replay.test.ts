import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { replaySession, replayTurn, runtimeExecutor, tryOut } from '../../../src/loop/index.ts';
import type { FailedAttempt, TurnRecord } from '../../../src/loop/record/record.ts';
import { sealRecord } from '../../../src/loop/record/seal.ts';
import type { MemoryStore } from '../../../src/loop/sessions/sqlite.ts';
import { createRuntime, type Runtime } from '../../../src/runtime/index.ts';
import { defineTool } from '../../../src/tools/index.ts';
import { actions, bench, turnOf } from '../harness.ts';
import { command } from '../sessions.ts';
import { mailRuntime, PROGRAMS, repairedSession } from './repaired.ts';

let recording: Runtime;
let replaying: Runtime;
let store: MemoryStore;
let record: TurnRecord;
beforeAll(async () => {
  recording = await mailRuntime();
  replaying = await createRuntime({ concurrency: 1 });
  ({ store, record } = await repairedSession(recording));
});
afterAll(() => Promise.all([recording.close(), replaying.close()]));

/** The record with another attempt, sealed anew by somebody who can write to the store. */
function forged(turn: TurnRecord, index: number, change: (attempt: FailedAttempt) => Partial<FailedAttempt>): TurnRecord {
  const { seal: _, ...rest } = turn;
  const attempts = (turn.attempts ?? []).map((each, at) => (at === index ? { ...each, ...change(each) } : each));
  return sealRecord({ ...rest, attempts }, null);
}

it('issue 47: a turn that was not begun, because it costs too much, is replayed on a host without its tools', async () => {
  const tool = defineTool({ name: 'tool.pay.Order', cost: { usd: 1 }, run: () => null });
  await using dear = await createRuntime({
    concurrency: 1,
    tools: [tool],
    policy: { allow: ['tool.pay.*'] },
    limits: { cost: 0.5 },
  });
  const host = { ...bench({}), executor: runtimeExecutor(dear, dear.interpreter()) };
  const { record: refused } = await turnOf(host, '', { input: actions(command('call tool.pay.Order()')) });
  expect(refused).toMatchObject({ decision: 'HALT', reason: 'ERR_QUOTA', error: { limit: 'cost' }, journal: [] });
  expect(await replayTurn(replaying, refused)).toMatchObject({ verdict: 'same', why: null });
});

describe('the replay of a turn with several attempts', () => {
  it('executes each attempt again, without its tools, and judges a rejected program again', async () => {
    const replay = await replaySession(replaying, store, 's');
    expect(replay).toMatchObject({ ok: true, turns: [{ verdict: 'same', divergence: null }] });
    expect(replay.turns[0]?.attempts).toEqual([
      { attempt: 1, end: 'rejected', verdict: 'same', why: null, divergence: null },
      { attempt: 2, end: 'failed', verdict: 'same', why: null, divergence: null },
    ]);
  });

  it('finds a change of one byte of an attempt by its seal', async () => {
    const attempts = record.attempts?.map((each) => ({ ...each, output: each.output.replace('shared', 'shareD') }));
    expect(await replayTurn(replaying, { ...record, attempts: attempts ?? [] })).toMatchObject({
      verdict: 'changed',
      faults: [{ part: 'attempts.2.output', problem: 'changed' }],
    });
  });

  it.each<[string, number, (attempt: FailedAttempt) => Partial<FailedAttempt>, string]>([
    ['output', 1, ({ output }) => ({ output: output.replace('shared', 'shareD') }), 'attempt 2: line 2 of OUTPUT'],
    ['scratchpad', 1, ({ scratchpad }) => ({ scratchpad: `${scratchpad}x` }), 'attempt 2: line 2 of SCRATCHPAD'],
    ['fuel', 1, ({ usage }) => ({ usage: { ...usage, fuel: usage.fuel + 1 } }), 'attempt 2: fuel'],
    ['error', 1, ({ error }) => ({ error: { ...error, message: 'other' } }), 'attempt 2: error'],
    ['calls', 1, ({ journal }) => ({ journal: journal.slice(0, 1) }), 'attempt 2: call 2'],
    ['program', 1, ({ reply }) => ({ reply: reply.replace('shared', 'shareD') }), 'attempt 2: envelope'],
    ['problems', 0, ({ problems }) => ({ problems: problems.slice(1) }), 'attempt 1: problems'],
    ['rejection', 0, ({ error }) => ({ error: { ...error, line: 1 } }), 'attempt 1: error'],
  ])('finds another %s of an attempt by executing it, if the record was sealed anew', async (_, index, change, where) => {
    const replay = await replayTurn(replaying, forged(record, index, change));
    expect(replay).toMatchObject({ verdict: 'differs', faults: [], divergence: { where } });
    expect(replay.attempts[index]).toMatchObject({ attempt: index + 1, verdict: 'differs', divergence: { where } });
  });

  it('issue 43: finds another correction of an attempt that failed while it ran', async () => {
    const programs = [PROGRAMS[1].replace(/fail .*/, 'emit [1].length'), PROGRAMS[2]];
    const { record: corrected } = await repairedSession(recording, programs);
    expect(corrected.attempts?.[0]).toMatchObject({
      end: 'failed',
      problems: [{ fix: [{ text: expect.stringContaining('len([1])') }] }],
    });
    expect(await replayTurn(replaying, corrected)).toMatchObject({ verdict: 'same' });
    const other = forged(corrected, 0, ({ problems }) => ({ problems: problems.map((each) => ({ ...each, fix: [] })) }));
    expect(await replayTurn(replaying, other)).toMatchObject({
      verdict: 'differs',
      divergence: { where: 'attempt 1: problems' },
    });
  });

  it('compares an attempt whose worker was killed as far as it went', async () => {
    const killed = (output: string) =>
      forged(record, 1, ({ error }) => ({
        ...{ end: 'interrupted', output, scratchpad: '', outputComplete: true },
        error: { ...error, code: 'ERR_WORKER' },
      }));
    const attemptOf = async (output: string) => (await replayTurn(replaying, killed(output))).attempts[1];
    expect(await attemptOf('sent to Ada-L')).toMatchObject({ end: 'interrupted', verdict: 'prefix' });
    expect(await attemptOf('sent to Bob')).toMatchObject({ verdict: 'differs' });
  });

  it('reads a reply without an envelope again, and a program without a token', async () => {
    const silent = 'command\n  emit 1\nendcommand';
    const { record: own } = await repairedSession(recording, ['prose', silent, PROGRAMS[2]]);
    expect((await replayTurn(replaying, own)).attempts.map(({ verdict }) => verdict)).toEqual(['same', 'same']);
    const other = forged(own, 0, ({ error }) => ({ error: { ...error, message: 'other' } }));
    expect(await replayTurn(replaying, other)).toMatchObject({ verdict: 'differs', divergence: { where: 'attempt 1: error' } });
  });

  const NAMES: readonly (readonly [why: string, slip: string, error: object])[] = [
    ['an unknown tool', PROGRAMS[2].replace('Send', 'Sent'), { code: 'NS3', hint: expect.stringContaining('tool.mail.send') }],
    ['a tool that its group lacks', PROGRAMS[2].replace('Send', 'Zebra'), { code: 'NS3', hint: expect.stringContaining('has ') }],
    [
      'an unknown group',
      PROGRAMS[2].replace('mail.Send', 'zebra.Quux'),
      { code: 'NS3', hint: expect.stringContaining('there are ') },
    ],
    ['a wrong number of arguments', PROGRAMS[2].replace('("shared")', '()'), { code: 'NS4' }],
    ['an unknown procedure', PROGRAMS[2].replace('tool.mail.Send', 'send'), { code: 'NS2' }],
    ['an operator that cannot take its operand', PROGRAMS[2].replace('"shared"', '1 < 2 < 3'), { code: 'NS7' }],
    ['a program without a token', 'command\n  emit tool.mail.Send("x")\nendcommand', { code: 'ERR_TOKEN_MISSING' }],
  ];

  it.each<(typeof NAMES)[number]>([
    ...NAMES,
    ['a procedure beside the block', `func f() means\n  return 1\nendfunc\n${PROGRAMS[2]}`, { code: 'NS15' }],
  ])('judges a program that was rejected for %s again, on a host without its tools', async (_, slip, error) => {
    const { record: own } = await repairedSession(recording, [slip, PROGRAMS[2]]);
    expect(own.attempts).toMatchObject([{ end: 'rejected', error }]);
    expect(await replayTurn(replaying, own)).toMatchObject({ verdict: 'same', attempts: [{ verdict: 'same' }] });
    const other = forged(own, 0, ({ error: was }) => ({ error: { ...was, message: 'other' } }));
    expect(await replayTurn(replaying, other)).toMatchObject({ verdict: 'differs', divergence: { where: 'attempt 1: error' } });
  });

  it.each(NAMES)(
    'issue 43: judges a turn again that a rejection for %s decided, on a host without its tools',
    async (_, slip, error) => {
      const host = { ...bench({}), executor: runtimeExecutor(recording, recording.interpreter()) };
      const { record: decided } = await turnOf(host, '', { input: actions(slip), strict: true });
      expect(decided).toMatchObject({ decision: 'HALT', error, inputs: { scene: { run: null, names: { denied: [] } } } });
      expect(await replayTurn(replaying, decided)).toMatchObject({ verdict: 'same', why: null });
      const { seal: _seal, ...rest } = decided;
      const other = sealRecord({ ...rest, error: decided.error && { ...decided.error, message: 'other' } }, null);
      expect(await replayTurn(replaying, other)).toMatchObject({ verdict: 'differs', divergence: { where: 'error' } });
    },
  );

  it('is of the attempts alone when the agent gave no further reply, and a malformed attempt is not executed', async () => {
    const { seal: _, ...rest } = record;
    const undecided = sealRecord({ ...rest, inputs: { ...rest.inputs, scene: null } }, null);
    expect(await replayTurn(replaying, undecided)).toMatchObject({
      verdict: 'incomplete',
      attempts: [{ verdict: 'same' }, { verdict: 'same' }],
    });
    const malformed = forged(record, 1, ({ run }) => ({ run: run && { ...run, forkId: JSON.parse('7') } }));
    expect(await replayTurn(replaying, malformed)).toMatchObject({
      verdict: 'malformed',
      why: expect.stringContaining('attempts.1.run.forkId'),
      attempts: [],
    });
  });
});

describe('a trial of a turn with several attempts', () => {
  it('answers the calls that only an earlier attempt made from its journal', async () => {
    const session = { sid: 's', head: record.seal.hash, turns: [record] };
    const { turns } = await tryOut(replaying, session, { fromTurn: 1, program: PROGRAMS[1].replace(/\n {2}fail .*/, '') });
    expect(turns[0]).toMatchObject({ unanswered: [], tried: { decision: 'DONE' } });
    expect(turns[0]?.tried.output).toContain('sent to Ada-Lovelace');
    const twice = PROGRAMS[2].replace(/( {2}emit tool.mail.Send.*\n)/, '$1$1');
    const again = await tryOut(replaying, session, { fromTurn: 1, program: twice });
    expect(again.turns[0]?.unanswered).toEqual(['1.2 tool.mail.send']);
  });
});
