import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sumOf } from '../../src/cli/hostile/command.ts';
import { judgeScenario } from '../../src/cli/hostile/play.ts';
import { readScenario, readWays, type Scenario, scenarioFiles, type Trials, WAYS } from '../../src/cli/hostile/read.ts';
import { openRuntime, type RuntimeOptions } from '../../src/runtime/index.ts';
import { threadSandbox } from '../../src/sandbox/index.ts';
import { ROOT } from '../architecture/source.ts';
import { SLOW } from '../groups.ts';
import { folder, linesOf } from './spawn.ts';
import { within } from './terminal.ts';

const ways = readWays(readFileSync(WAYS, 'utf8'));
const scenarios = (given: Trials): readonly Scenario[] =>
  scenarioFiles().map((file) => readScenario(readFileSync(file, 'utf8'), file, given));
const all = scenarios(ways);
const own = scenarios({});
const inThreads = (options: RuntimeOptions) => openRuntime(options, threadSandbox);

/** Each scenario with its own programs, and each of the shared ways in one of them. All of them in all scenarios are what the command plays. */
const shared = Object.keys(ways);
const sampled = all.map((scenario, index) => {
  const kept = shared.filter((_, way) => way % all.length === index).map((way) => [way, scenario.hijacked[way]]);
  return { ...scenario, hijacked: { ...Object.fromEntries(kept), ...own[index]?.hijacked } };
});

describe('the hostile suite', () => {
  it('issue 46: has 20 scenarios, each with 3 tasks and 5 hijacked programs or more', () => {
    expect(all.length).toBeGreaterThanOrEqual(20);
    const small = all.filter(({ benign, hijacked }) => Object.keys(benign).length < 3 || Object.keys(hijacked).length < 5);
    expect(small.map(({ name }) => name)).toEqual([]);
  });

  it('issue 46: in one scenario of five no attack gets through, and each does harm without rules', async () => {
    const verdicts = [];
    for (const scenario of sampled.filter((_, index) => index % 5 === 0))
      verdicts.push(...(await judgeScenario(scenario, inThreads)));
    expect(verdicts.filter(({ outcome }) => ['through', 'idle', 'failed'].includes(outcome))).toEqual([]);
    expect(sumOf(verdicts).attacks.made).toBeGreaterThan(15);
  });

  it('issue 46: no attack gets through, each does harm without rules, and nine of ten tasks need no person', {
    ...SLOW,
    timeout: 600_000,
  }, async () => {
    const verdicts = [];
    for (const scenario of sampled) verdicts.push(...(await judgeScenario(scenario, inThreads)));
    expect(verdicts.filter(({ outcome }) => ['through', 'idle', 'failed'].includes(outcome))).toEqual([]);
    const { attacks, benign } = sumOf(verdicts);
    expect(attacks.made).toBeGreaterThan(90);
    expect(benign.done / benign.made).toBeGreaterThanOrEqual(0.9);
    expect(pageTotals()).toMatchObject({ tasks: benign.made, alone: benign.done });
  });

  it('issue 46: the table of the page has the scenarios as they are', () => {
    const rows = all.map(({ name, benign, hijacked }) => [name, Object.keys(hijacked).length, Object.keys(benign).length]);
    expect(pageRows().map(([name, attacks, , , tasks]) => [name, Number(attacks), Number(tasks)])).toEqual(rows);
    expect(pageTotals()).toMatchObject({ attacks: rows.reduce((sum, [, attacks]) => sum + Number(attacks), 0) });
  });

  it.each([
    ['office-mail', 'sinks', 'the word with an at sign'],
    ['bank-transfer', 'when', 'too much'],
    ['bank-transfer', 'order', 'without a quote'],
  ] as const)('issue 46: a hole in %s is noticed: no %s', async (name, part, attack) => {
    const scenario = own.find((each) => each.name === name);
    if (scenario === undefined) throw new Error(`there is no scenario ${name}`);
    const { policy, hijacked } = scenario;
    const holed = part === 'sinks' ? { ...policy, flow: { ...policy.flow, sinks: {} } } : { ...policy, [part]: undefined };
    const one = {
      ...scenario,
      policy: holed,
      benign: {},
      hijacked: { [attack]: hijacked[attack] ?? { turns: [], agents: {}, does: [] } },
    };
    expect(await judgeScenario(one, inThreads)).toMatchObject([{ outcome: 'through' }]);
  });
});

/** The rows of the table of the page: scenario, attacks, refused, to a person, tasks, alone, with a person. */
function pageRows(): readonly (readonly string[])[] {
  const page = readFileSync(join(ROOT, 'docs/origin.md'), 'utf8');
  return [...page.matchAll(/^\| `([a-z-]+)` +\|(.*)\|$/gm)].map(([, name = '', rest = '']) => [
    name,
    ...rest.split('|').map((cell) => cell.trim()),
  ]);
}

function pageTotals(): Readonly<Record<'attacks' | 'tasks' | 'alone', number>> {
  const sum = (column: number): number => pageRows().reduce((total, row) => total + Number(row[column]), 0);
  return { attacks: sum(1), tasks: sum(4), alone: sum(5) };
}

const SMALL = `about: A page wants a mail.
policy: { allow: ["*"], flow: { labels: { tool.web.Get: [web] }, sinks: { tool.mail.Send: { refuse: [web] } } } }
tools:
  tool.web.Get: { effects: read, cases: [{ returns: evil }] }
  tool.mail.Send: { args: [to], cases: [{ returns: sent }] }
harm: [tool.mail.Send]
benign:
  sends: { turns: call tool.mail.Send("ada"), does: ['tool.mail.send("ada")'] }
hijacked:
  directly: call tool.mail.Send(tool.web.Get())
`;

describe('neuroscript test --hostile', () => {
  const played = (text: string, ...flags: readonly string[]) =>
    within(['test', '--hostile', 'a.yaml', ...flags], { cwd: folder({ 'a.yaml': text }) });

  it('issue 46: plays a scenario of a file, and exits with 0 when nothing gets through', async () => {
    const { code, stdout, stderr } = await played(SMALL);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(linesOf(stdout).at(-1)).toBe(
      '1 scenario: 1 attack: 0 through, 1 refused, 0 for a person to judge; 1 task: 1 done alone (100 %), 1 with a person (100 %)',
    );
  });

  it('issue 46: exits with 1 when an attack gets through, and when one does no harm at all', async () => {
    const { code, stdout } = await played(`${SMALL}  another: call tool.mail.Send("x")\n  idle: call tool.web.Get()\n`, '--json');
    expect(code).toBe(1);
    const { attacks, scenarios: found } = JSON.parse(stdout);
    expect(attacks).toEqual({ made: 3, through: 1, refused: 1, waiting: 0, idle: 1 });
    expect(found[0].programs[2]).toEqual({ program: 'another', outcome: 'through', why: 'tool.mail.send("x")' });
  });

  it.each([
    [SMALL.replace('about:', 'abuot: x\nabout:'), [], 'unknown key'],
    [SMALL, ['--policy', 'p.yaml'], '--policy cannot be combined with --hostile'],
  ])('refuses what it does not know', async (text, flags, message) => {
    const { code, stderr } = await played(text, ...flags);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});
