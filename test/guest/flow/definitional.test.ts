import { describe, expect, it } from 'vitest';
import { GLOBALS } from '../../../conformance/language/generate/expressions.ts';
import type { Program } from '../../../conformance/language/generate/programs.ts';
import { SLOW } from '../../groups.ts';
import { compared, withoutHandlers } from './definitional.ts';
import { generated } from './generated.ts';
import { EXPRESSIONS, NEAR, PROGRAMS, STATEMENTS } from './suite.ts';

const SEND = '\ncall tool.mail.Send(x)\nendcommand';
const GIVEN = { ...GLOBALS, userdata: { subject: 'mail', fields: { note: 'from the web', name: 'Ada' } } };

function flow(source: string): Program {
  const [command = '', ...procedures] = source.split(/^(?=func |command$)/m).reverse();
  const text = [command, ...procedures].reverse().join('').replaceAll('§(', 'tool.web.Echo(');
  return { source: text, answers: [{ value: 'a' }], constants: {}, call: null, globals: GIVEN, stdin: ['typed'], events: [] };
}

describe('the labels of the product and of the second interpreter', () => {
  it('are the same in the flows of the suite', () => {
    const programs = [
      ...EXPRESSIONS.map((expression) => `command\nset x = ${expression}${SEND}`),
      ...[...STATEMENTS, ...NEAR].map(([, program]) => `command\n${program}${SEND}`),
      ...PROGRAMS.map(([, program]) => program),
    ];
    const results = programs.map((program) => [program, compared(flow(program), 1)] as const);
    for (const [program, result] of results) expect(result?.what ?? null, program).toBeNull();
    expect(results.filter(([, result]) => (result?.labelled ?? 0) > 0).length).toBeGreaterThan(180);
  });

  for (const [programs, options] of [
    [100, {}],
    [3000, SLOW],
  ] as const)
    it(`are the same in ${programs} programs without handlers, and cover those of the second with them`, options, () => {
      const sum = { labelled: 0, more: 0 };
      for (let index = 0; index < programs; index++) {
        const made = generated(4601, index);
        for (const program of [made, withoutHandlers(made)]) {
          const result = compared(program, index);
          expect(result?.what ?? null, program.source).toBeNull();
          sum.labelled += result?.labelled ?? 0;
          sum.more += result?.more ?? 0;
        }
      }
      expect(sum.labelled).toBeGreaterThan(programs);
      expect(sum.more).toBeLessThan(sum.labelled / 5);
    });
});
