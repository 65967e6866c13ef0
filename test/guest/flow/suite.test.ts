import { describe, expect, it } from 'vitest';
import { parse } from '../../../grammar/index.ts';
import { PURE_TOOLS } from '../../../src/wire/pure/tools.ts';
import { inWorld, reached } from './flow.ts';
import { EXPRESSIONS, NEAR, PROGRAMS, STATEMENTS } from './suite.ts';

const SEND = '\ncall tool.mail.Send(x)';
const HELPERS =
  'func second(needs a, b) means\nreturn b\nendfunc\nfunc pair(needs a) means\nreturn "b", a\nendfunc\nfunc looked(needs a) means\nset y = a + a\nreturn "b"\nendfunc\n';

/** The program with the labelled source, and its twin with another one. */
const flowing = (program: string): string => program.replaceAll('§(', 'tool.web.Echo(');
const clean = (program: string): string => program.replaceAll('§(', 'tool.own.Echo(');

const programs: readonly (readonly [string, string])[] = [
  ...EXPRESSIONS.map((expression) => [expression, `set x = ${expression}${SEND}`] as const),
  ...STATEMENTS.map(([about, program]) => [about, program + SEND] as const),
  ...PROGRAMS,
];

describe('flows', () => {
  it.each(programs)('a label reaches the sink through %s', (_, program) => {
    expect(reached(inWorld(flowing(program))).to).toEqual(['web']);
  });

  it.each(programs)('no label reaches the sink without one: %s', (_, program) => {
    const run = inWorld(clean(program));
    expect(reached(run)).toEqual({ to: [], rest: [], deciding: [] });
    expect(run.labels).toEqual({ output: [], scratchpad: [] });
  });

  it.each(NEAR)('no label reaches the sink past %s', (_, program) => {
    const run = inWorld(`${HELPERS}command\n${flowing(program)}${SEND}\nendcommand`);
    expect(reached(run).to).toEqual([]);
  });
});

it('a `return` that fails by itself has nothing of an error before it', () => {
  const run = inWorld(
    'func f() means\nset y = tool.web.Fail("a")\nreturn nothing["k"], 1\ncall tool.mail.Send("b")\non error do\nclear_error\nendon\nendfunc\ncommand\ncall f()\nendcommand',
  );
  expect(reached(run)).toEqual({ to: [], rest: [], deciding: [] });
});

describe('what decides on a call', () => {
  const HANDLED = '\non error do\nclear_error\nendon';

  it.each([
    [
      'an error in a handler, after which another one goes on',
      `if true\nmust false\non error do\nset y = §(1)\nclear_error\nendon\ncall tool.mail.Send(1)\nendif${HANDLED}`,
      ['web'],
    ],
    [
      'an error that an inner handler leaves to an outer one',
      `if true\nif true\nmust §(true)\non error do\nset y = 1\nendon\nendif\ncall tool.mail.Send(1)\nendif${HANDLED}`,
      ['web'],
    ],
    ['no error that nothing handled', `set y = §(1)\nif true\ncall tool.mail.Send(1)${HANDLED}\nendif`, []],
    [
      'no error after which the program goes on',
      `for each c in [1, 2]\nif c == 2\ncall tool.mail.Send(1)\nendif\nset y = §(c)\nendfor${HANDLED}`,
      [],
    ],
    [
      'no error that was cleared',
      `for each c in [1, 2]\nif c == 2\ncall tool.mail.Send(1)\nendif\nmust §(false)\nendfor${HANDLED}`,
      [],
    ],
  ])('%s', (_, program, deciding) => {
    expect(reached(inWorld(flowing(program))).deciding).toEqual(deciding);
    expect(reached(inWorld(clean(program))).deciding).toEqual([]);
  });
});

it.each([
  [
    'a condition before a block that handles nothing',
    'if true\nset n = VALUE\nif s + n\non error do\nemit 1\nendon\nendif\nendif\nset x = "b"\ncall tool.mail.Send(x)\non error do\nclear_error\nendon',
  ],
  [
    'what a handler leaves unset',
    'set x = "b"\ncall VALUE\ncall tool.mail.Send(x)\non error do\nclear_error\nif false\nset x = "c"\nendif\nendon',
  ],
])('carries the same whether it fails: %s', (_, body) => {
  const [first, ...others] = ['tool.web.Echo("a")', 'tool.web.Echo(1)', 'tool.web.Fail("a")'].map((value) =>
    reached(inWorld(`func f() means\n${body.replace('VALUE', value)}\nendfunc\ncommand\ncall f()\nendcommand`)),
  );
  for (const other of others) expect(other).toEqual(first);
});

describe('code that calls no tool', () => {
  const SENDS = '\nfor each part in [1]\nset x = x + ""\nendfor\ncall tool.mail.Send(x)\nendcommand';

  it.each([
    ['a procedure', `func f() means\nreturn userdata.fields.note\nendfunc\ncommand\nset x = f()${SENDS}`, ['web']],
    [
      'a procedure of a procedure',
      `func f() means\nreturn g()\nendfunc\nfunc g() means\nreturn userdata\nendfunc\ncommand\nset x = f()${SENDS}`,
      ['web'],
    ],
    ['a loop', `command\nset x = ""\nfor each n in [1]\nset x = x + userdata.fields.note\nendfor${SENDS}`, ['web']],
    [
      'a constant',
      `func f() means\nreturn FIXED\nendfunc\ncommand\ncall tool.own.Fix(tool.web.Get(""))\nset x = f()${SENDS}`,
      ['web'],
    ],
    ['nothing of it', `func f() means\nreturn "a"\nendfunc\ncommand\nset y = tool.web.Get("")\nset x = f()${SENDS}`, []],
  ])('has the labels of what it reads: %s', (_, program, labels) => {
    expect(reached(inWorld(program)).to).toEqual(labels);
  });
});

/** The example of each pure tool, once for each of its arguments: that one comes from the source. */
function pureCalls(): readonly (readonly [string, string])[] {
  return Object.values(PURE_TOOLS)
    .flatMap((group) => Object.entries(group))
    .flatMap(([name, { example }]) => {
      const [call] = example;
      const parsed = parse(`command\nset x = ${call}\nendcommand`, { name: 'example' });
      const [block] = parsed.ok ? parsed.file.commands : [];
      const [stmt] = block?.body.stmts ?? [];
      if (stmt?.k !== 'set' || stmt.value.k !== 'tool') throw new Error(`the example of ${name} is no call`);
      const source = `command\nset x = ${call}\nendcommand`;
      return stmt.value.args.map(({ s, e }, index) => {
        const program = `${source.slice(0, s)}§(${source.slice(s, e)})${source.slice(e)}`;
        return [`argument ${index + 1} of ${name}`, program.replace('\nendcommand', `${SEND}\nendcommand`)] as const;
      });
    });
}

describe('pure tools', () => {
  it.each(pureCalls())('the result carries the label of %s', (_, program) => {
    expect(reached(inWorld(flowing(program))).to).toEqual(['web']);
    expect(reached(inWorld(clean(program))).to).toEqual([]);
  });
});
