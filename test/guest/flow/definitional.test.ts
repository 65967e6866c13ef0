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

  const x1 = { name: 'x1', source: 'src', payload: [1], id: 'event', ts: 5 };
  it.each<[string, string, Partial<Program>]>([
    [
      'what was the latest value when calls that ran together failed',
      "set v = [1]\ntogether\nset v[tool.set.Any('k')] = tool.none.At(1)\nendtogether\ncall tool.b.Send(last)\non error do\nclear_error\nendon",
      {},
    ],
    [
      'the truth of a list, which is not what is in it',
      'set s = [tool.a.Get(1)]\nset b = s or 1\ncall tool.b.Send(b, s and 1)',
      {},
    ],
    ['what a `clear event` names', "set s = ''\nif g\nset s = 'x'\nendif\nclear event s", { events: [x1] }],
    [
      'an error before a block that a handler guards',
      'for each m in [g[0]]\nfail "x"\non error do\nset b = 1\nendon\nendfor',
      {},
    ],
    [
      'an error in a handler',
      'if 1\non error do\nset m.j = g\ncall tool.b.Send(m, m.k)\nendon\nemit nil.k\nendif\non error do\nclear_error\nendon',
      {},
    ],
    ['an entry that a later one of the same literal replaces', "emit {'k': g, 'k': 1}", {}],
    ['a map that names who is told', "whisper {'k': g}, 1", {}],
    ['what a call gives to a loop', 'for each c in f1(tool.a.Get(4))\nset t = c\nendfor', {}],
    ['a call of no procedure', "set m = {'k': tool.a.Get(2)}\nset a = f4(m)\non error do\nemit 1\nendon", {}],
  ])('are the same for %s', (_what, body, more) => {
    const result = compared({ ...flow(`command\n${body}\nendcommand`), ...more }, 1);
    expect(result).toMatchObject({ what: null });
  });

  it('are the same for a handler that returns a call', () => {
    const source = 'func main() means\nset s = tool.a.Get(4)\non error do\nclear_error\nreturn f1(1)\nendon\nendfunc';
    expect(compared({ ...flow(source), call: 'main' }, 1)).toMatchObject({ what: null });
  });

  it('are the same for the variable of an event where a name decided which handlers there are', () => {
    const source =
      "on event 'x' + 1 as a do\ncall tool.b.Send(a)\nendon\non event tool.a.Get('x') as g do\nclear event 'x'\nendon";
    expect(compared({ ...flow(source), events: [x1] }, 1)).toMatchObject({ what: null });
  });

  it('are the same for what a statement read before it called what failed and was handled without an end', () => {
    const source = `func f1() means
fail "x"
on error do
set q = 1
endon
endfunc
func f2() means
set q = [g, f1()]
on error do
call tool.b.Send(system_error.code)
clear_error
endon
endfunc
func main() means
if g
call f2()
endif
endfunc`;
    expect(compared({ ...flow(source), call: 'main' }, 1)).toMatchObject({ what: null, labelled: 4 });
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
