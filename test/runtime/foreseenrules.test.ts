import { describe, expect, it } from 'vitest';
import { RealmSandbox } from '../../src/engine/sandbox.ts';
import { Runtime } from '../../src/runtime/runtime.ts';
import { checkSettings } from '../../src/runtime/settings.ts';
import { defineTool, type PolicyOptions, ToolError } from '../../src/tools/index.ts';
import { fits } from '../../src/wire/foreseen.ts';
import { Dice, programOf } from './callprograms.ts';

let fails = false;
const tool = (name: string) =>
  defineTool({
    name,
    setsVariables: false,
    args: [
      { name: 'a', type: 'any', required: false },
      { name: 'b', type: 'any', required: false },
    ],
    run: ({ a }) => {
      if (fails && name.startsWith('tool.web')) throw new ToolError(6, 'it is not there');
      return a;
    },
  });
const TOOLS = ['tool.web.Get', 'tool.db.Write', 'tool.pay.Quote', 'tool.pay.Transfer'].map(tool);

function runtimeOf(policy: PolicyOptions): Runtime {
  return new Runtime(new RealmSandbox(), checkSettings({ tools: TOOLS, policy: { allow: ['*'], ...policy } }));
}

const RULES: PolicyOptions = {
  when: { 'tool.pay.Transfer': [{ a: { max: 100 } }, { a: 'all', b: { in: ['EUR', 'USD'] } }], 'tool.web.Get': [{ a: 'http*' }] },
  order: [
    { tool: 'tool.pay.Transfer', needs: 'tool.pay.Quote' },
    { tool: 'tool.db.*', 'not-after': 'tool.web.*', else: 'ask' },
  ],
};

async function verdicts(policy: PolicyOptions, ...lines: readonly string[]) {
  await using runtime = runtimeOf(policy);
  const { preview } = await runtime.foresee(`command\n${lines.join('\n')}\nendcommand`, { values: { v: null } });
  return preview?.calls.map(({ verdict }) => verdict?.policy);
}

describe('issue 46: what a policy says of arguments and order before a run', () => {
  it.each<[verdicts: readonly string[], lines: readonly string[]]>([
    [
      ['keeps', 'keeps'],
      ['call tool.pay.Quote()', 'call tool.pay.Transfer(5)'],
    ],
    [
      ['breaks', 'keeps'],
      ['call tool.pay.Transfer(5)', 'call tool.pay.Quote()'],
    ],
    [
      ['keeps', 'breaks'],
      ['call tool.pay.Quote()', 'call tool.pay.Transfer(500)'],
    ],
    [
      ['keeps', 'may'],
      ['set n = tool.pay.Quote()', 'call tool.pay.Transfer(n)'],
    ],
    [
      ['keeps', 'may'],
      ['on error do', 'clear_error', 'endon', 'call tool.pay.Quote()', 'call tool.pay.Transfer(5)'],
    ],
    [
      ['keeps', 'keeps', 'may'],
      ['set n = tool.pay.Quote(1)', 'if n == 1', 'call tool.pay.Quote(2)', 'endif', 'call tool.pay.Transfer(n)'],
    ],
    [
      ['keeps', 'keeps'],
      ['call tool.db.Write(1)', 'call tool.web.Get("http:a")'],
    ],
    [
      ['keeps', 'may'],
      ['call tool.web.Get("http:a")', 'call tool.db.Write(1)'],
    ],
    [
      ['may', 'keeps'],
      ['for each x in [1, 2, 3]', 'call tool.db.Write(1)', 'call tool.web.Get("http:a")', 'endfor'],
    ],
    [['breaks'], ['call tool.web.Get("ftp:a")']],
    [['keeps'], ['call tool.web.Get("http:" + v)']],
  ])('%j: %j', async (expected, lines) => {
    expect(await verdicts(RULES, ...lines)).toEqual(expected);
  });

  it('gives the reason, and its rule', async () => {
    await using runtime = runtimeOf(RULES);
    const { preview } = await runtime.foresee(
      'command\ncall tool.pay.Quote()\nset n = tool.pay.Quote(1)\ncall tool.pay.Transfer(n)\ncall tool.web.Get(1)\nendcommand',
    );
    expect(preview?.calls.map(({ verdict }) => verdict)).toMatchObject([
      { allowed: true, policy: 'keeps', rule: 'allow' },
      { allowed: true, policy: 'keeps', rule: 'allow' },
      { allowed: true, policy: 'may', rule: 'when', reason: expect.stringMatching(/^it may be refused: .*argument 'a' is/) },
      { allowed: false, policy: 'breaks', rule: 'when', reason: expect.stringMatching(/argument 'a' is 1$/) },
    ]);
  });

  it('is found by a check where it is certain, whatever the program is given', async () => {
    await using runtime = runtimeOf(RULES);
    const lines = [
      'command',
      'call tool.pay.Quote()',
      'call tool.pay.Transfer(500)',
      'call tool.pay.Transfer(given)',
      'call tool.web.Get("http:a")',
    ];
    const sources = [{ name: 'a.ns', text: `${lines.join('\n')}\nendcommand` }];
    const { findings } = await runtime.check(sources, { globals: ['given'] });
    expect(findings.filter(({ code }) => code === 'LINT_DENIED_TOOL')).toMatchObject([
      {
        file: 'a.ns',
        line: 3,
        severity: 'error',
        tool: 'tool.pay.transfer',
        message: expect.stringMatching(/argument 'a' is 500$/),
      },
    ]);
    expect((await runtime.check(sources, { globals: ['given'], policy: false })).findings).toEqual([]);
  });

  it('is never milder than at the call: 150 programs', { timeout: 300_000 }, async () => {
    await using runtime = runtimeOf({
      ...RULES,
      order: RULES.order?.map((rule) => ({ ...rule, else: 'refuse' as const })) ?? [],
    });
    const wrong: unknown[] = [];
    const seen = { keeps: 0, may: 0, breaks: 0, refused: 0 };
    for (let seed = 1; seed <= 150; seed++) {
      const { lib, source } = programOf(new Dice(seed));
      const { preview, diagnostics } = await runtime.foresee(source, { lib, values: { g: 1 } });
      expect(diagnostics).toEqual([]);
      fails = seed % 3 === 0;
      const { journal } = await runtime.run(source, { lib, values: { g: 1 } });
      for (const { verdict } of preview?.calls ?? []) seen[verdict?.policy ?? 'keeps']++;
      for (const entry of journal) {
        if (entry.kind !== 'tool') continue;
        const { source: file, line, column } = entry.at;
        const rows = (preview?.calls ?? []).filter(
          ({ file: each, line: at, column: from, args }) =>
            at === line &&
            from === column &&
            each === file &&
            (args === null || args.every((arg, index) => fits(arg, entry.args[index] ?? null))),
        );
        const refused = !entry.outcome.ok && 'code' in entry.outcome && entry.outcome.code === 1003;
        seen.refused += Number(refused);
        const said = rows.map(({ verdict }) => verdict?.policy);
        if (refused ? said.every((each) => each === 'keeps') : said.every((each) => each === 'breaks'))
          wrong.push([source, line, said, entry.outcome]);
      }
    }
    expect(wrong).toEqual([]);
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(100);
  });
});
