import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TurnRecord } from '../../../src/loop/record/record.ts';
import { explainTurn, plainPalette } from '../../../src/report/index.ts';
import type { Runtime } from '../../../src/runtime/index.ts';
import { Texts } from '../../../src/ui/texts.ts';
import { partOf, turnView } from '../../../src/ui/turn.ts';
import { mailRuntime, PROGRAMS, repairedSession } from './repaired.ts';

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

  it('is shown on the page with the program and the error of each attempt, and every long text can be had whole', () => {
    const found = { record, before: null, after: null, prev: null };
    const { attempts, leftOver } = turnView(found, new Texts({ each: 20, all: 20, least: 10 }, { parts: true }));
    expect(attempts).toMatchObject([
      { attempt: 1, end: 'rejected', failure: { code: 'NS15', line: 2 }, calls: 0, program: { part: 'attempt.1.actions' } },
      { attempt: 2, end: 'failed', failure: { code: 'NS1', line: 5 }, calls: 2, output: { part: 'attempt.2.output' } },
    ]);
    expect(attempts[0]?.failure.lines.join('\n')).toContain('let x = "Ada-Lovelace"');
    expect(leftOver).toEqual([{ attempt: 2, seq: 1, tool: 'tool.mail.send' }]);
    expect(partOf(record, 'attempt.1.actions')).toBe(PROGRAMS[0]);
    expect(partOf(record, 'attempt.2.output')).toBe(record.attempts?.[1]?.output);
    expect(() => partOf(record, 'attempt.3.output')).toThrow('no such part');
  });
});
