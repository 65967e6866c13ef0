import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TurnRecord } from '../../../src/loop/record/record.ts';
import { explainTurn, plainPalette } from '../../../src/report/index.ts';
import type { Runtime } from '../../../src/runtime/index.ts';
import { mailRuntime, repairedSession } from './repaired.ts';

let runtime: Runtime;
let record: TurnRecord;
beforeAll(async () => {
  runtime = await mailRuntime();
  ({ record } = await repairedSession(runtime));
});
afterAll(() => runtime.close());

describe('a turn with several attempts', () => {
  it('is explained on a terminal with each attempt in order and the effects that were left over', () => {
    const text = explainTurn(record, plainPalette).join('\n');
    const [, attempts = ''] = text.split('earlier attempts');
    expect(attempts).toMatch(/^[^\n]*\n {2}1 {11}rejected before it ran\n {2}error {7}ACTIONS:2:3: .*\(NS15\)\n {14}hint: /);
    expect(attempts).toMatch(
      /\n {2}asked {7}for another program\n {2}2 {11}failed while it ran\n {2}error {7}ACTIONS:5:3: no Ada/,
    );
    expect(attempts).toMatch(/\n {2}calls {7}2 calls\n {2}asked {7}for another program\n {2}left over {3}call 1 of attempt 2: /);
    const { attempts: _, leftOver: __, ...plain } = record;
    expect(explainTurn(plain, plainPalette).join('\n')).not.toContain('attempt');
  });

  it('is explained with every problem of a rejected program, and with the answers that an attempt took', () => {
    const [first, second] = record.attempts ?? [];
    const problem = first?.problems[0];
    if (first === undefined || second === undefined || problem === undefined) throw new Error('no attempts');
    const many = { ...first, problems: [problem, { ...problem, line: 7, message: 'also this' }] };
    const taken = {
      ...second,
      end: 'interrupted' as const,
      journal: second.journal.map((entry) => ({ ...entry, from: { attempt: 1, seq: 1 } })),
    };
    const text = explainTurn({ ...record, attempts: [many, taken], leftOver: [] }, plainPalette).join('\n');
    expect(text).toContain('also        7:3: also this (NS15)\n');
    expect(text).toContain(
      'calls       2 calls, 2 answered by an earlier attempt\n  asked       nothing: the same program ran again\n',
    );
    expect(text).toContain('left over   none\n');
  });
});
