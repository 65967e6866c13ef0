import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from '../../../grammar/index.ts';
import { SESSION_RULES, systemPrompt } from '../../../src/aeiou/index.ts';
import { neuroscriptTool } from '../../../src/ai/index.ts';
import { agentBrief, functionAgent, programReply } from '../../../src/loop/agents/index.ts';
import { LoopController } from '../../../src/loop/controller.ts';
import { parseControl, v1SystemPrompt } from '../../../src/loop/v1/index.ts';
import { V1_EXAMPLE_ACTIONS } from '../../../src/loop/v1/prompt.ts';
import { createRuntime, type Runtime } from '../../../src/runtime/index.ts';
import { defineTool, type ToolDefinition } from '../../../src/tools/index.ts';
import { pureTools, timeTools, toolsTools } from '../../../stdlib-tools/index.ts';
import { ROOT } from '../../architecture/source.ts';
import { examplesOf, promised } from '../../docs/programs.ts';
import { namedHabits } from './habits.ts';
import { FEATURES, OF_SESSIONS, TASKS, unshown } from './tasks.ts';
import { TEN } from './tools.ts';

const { countTokens }: { countTokens(text: string): number } = createRequire(import.meta.url)(
  'gpt-tokenizer/encoding/o200k_base',
);

const STANDARD = [...pureTools(), ...timeTools(), ...toolsTools()];
const ALL = [...TEN, ...STANDARD];
const PROMPT = agentBrief({ tools: ALL });

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ tools: ALL, policy: { allow: ['*'] } });
  return () => runtime.close();
});

const command = (...lines: readonly string[]) => `command\n${lines.join('\n')}\nendcommand`;

/** What the statements of a command block emit, or the code of the error that ends it. */
async function told(...lines: readonly string[]): Promise<readonly string[]> {
  const { emits, error } = await runtime.run(command(...lines), { checkFirst: true });
  return error === null ? emits : [...emits, error.code];
}

/** For each entry of the page that begins so: programs, each with what it emits. */
const STATEMENTS: readonly (readonly [entry: string, ...programs: readonly (readonly [string, ...(readonly string[])])[]])[] = [
  [
    '- A handler guards',
    ['on error do\nclear_error\nendon\nset x = 1\nset x = 1 / 0\nemit x', '1'],
    ['for each d in [0, 1]\non error do\nclear_error\ncontinue\nendon\nset x = 1 / d\nemit x\nendfor', '1'],
    ['on error do\nfail "why"\nendon\nset x = 1 / 0\nemit 2', 'NS1'],
    ['set x = 1 / 0\nemit 2', 'NS14'],
  ],
  [
    '- `set x = e`',
    ['set l = []\nset m = {}\nset m.key = 2\nset l[len(l)] = 3\nset a, b = [1, 2]\nemit [m, l, a, b]', '[{"key": 2}, [3], 1, 2]'],
    ...['x += 1', 'x++', 'let x = 1'].map((line) => [`set x = 1\n${line}`, 'NS15'] as const),
  ],
  [
    '- `emit e` is output',
    ['tool.str.Length("a")', 'NS15'],
    ['call tool.str.Length("a")\nset r = tool.str.Length("ab")\nemit r', '2'],
    ['for each v in [1, 2]\nbreak\nendfor\nemit v\nmust v == 1\nreturn\nemit 3', '1'],
    ['must 1 > 2', 'NS5'],
  ],
  [
    '- `if c`',
    ['set n = 1\nif n > 1\nemit 1\nelse\nemit 2\nendif\nwhile n < 3\nset n = n + 1\nendwhile\nemit n', '2', '3'],
    ['if true\nendif', 'NS15'],
    ['if false\nemit 1\nelif true\nemit 2\nendif', 'NS15'],
  ],
  [
    '- `for each v in xs`',
    [
      'for each v in "ab"\nemit v\nendfor\nfor each k, v in {"a": 1}\nemit k + v\nendfor\nfor each v in [7]\nemit v\nendfor',
      'a',
      'b',
      'a1',
      '7',
    ],
    ['for i = 1 to 3\nemit i\nendfor', 'NS15'],
  ],
  [
    '- Text:',
    ["emit len(\"a\\n\")\nemit '''\\d+'''\nset n = 1\nemit ```a{{n + 1}}```", '2', '\\d+', 'a2'],
    ["emit '\\d'", 'NS15'],
  ],
  [
    '- `nil`',
    [
      'set a = [1]\nset b = a\nset b[0] = 2\nemit [a, true, {"key": 1}, nil]\nemit is_nil(nothing)',
      '[[1], true, {"key": 1}, nil]',
      'true',
    ],
  ],
  [
    '- `and or not`',
    [
      'emit [1 < 2 and not false, 1 == 2 or 2 != 1, 2 ** 3, 7 % 4]\nemit "a" + 1\nemit [1] + [2]\nemit ["1" + "2", "10" > "9"]',
      '[true, true, 8, 3]',
      'a1',
      '[1, 2]',
      '[3, true]',
    ],
    ['emit [1 or 0, no "", no 0, no nil, no []]\nemit "1" * 2', '[true, true, true, true, true]', '11'],
  ],
  ['- `m.key`', ['set m = {}\nemit [m.key, m["key"]]\nset l = [1]\nemit l[-1]', '[nil, nil]', 'NS8']],
  [
    '- Built in',
    [
      'emit [len("ab"), typeof 1, is_string(""), is_number(1), is_list([]), is_map({}), is_nil(nil)]',
      '[2, "number", true, true, true, true, true]',
    ],
    ...['last', 'error', 'event'].map((name) => [`set ${name} = 1`, 'NS15'] as const),
  ],
  ['- `#`, `--`', ['together\nset a = tool.shop.Price("x") # 1\nendtogether\nemit a.id -- 2\n// 3', 'x']],
];

describe('the prompt of a turn', () => {
  it('has at most 1,800 tokens with ten tools of the application and the standard tools', () => {
    expect(TEN).toHaveLength(10);
    expect(countTokens(PROMPT)).toBeLessThanOrEqual(1800);
    for (const { name } of TEN) expect(PROMPT).toMatch(new RegExp(`^${name.replaceAll('.', '\\.')}\\(.*\\n {2}\\S`, 'm'));
    expect(countTokens(neuroscriptTool(runtime).description)).toBeLessThanOrEqual(1600);
    // Without tool.meta.Find standard tools have signatures alone.
    expect(countTokens(agentBrief({ tools: [...TEN, ...pureTools()] }))).toBeLessThanOrEqual(4000);
  });

  it('names only tools that there are, whatever tools there are, and every standard tool', () => {
    for (const tools of [ALL, TEN, STANDARD, []]) {
      const known = new Set(['tool.aeiou.magic', ...tools.map(({ canonicalName }) => canonicalName)]);
      const groups = [...known].map((name) => name.slice(0, name.lastIndexOf('.')));
      const named = agentBrief({ tools }).match(/\btool(?:\.\w+)+/g) ?? [];
      expect(named.filter((name) => !known.has(name.toLowerCase()) && !groups.includes(name.toLowerCase()))).toEqual([]);
    }
    const listed = [...PROMPT.matchAll(/^(tool\.\w+): (.*)$/gm)].flatMap(([, group, names = '']) =>
      names.split(' ').map((name) => `${group}.${name}`),
    );
    expect(listed.toSorted()).toEqual(STANDARD.map(({ name }) => name).toSorted());
  });

  it('has examples that ACTIONS takes, and that do what their comments say', async () => {
    const examples = examplesOf(PROMPT);
    expect(examples).toHaveLength(2);
    for (const example of examples) {
      const result = await runtime.run(example.lines.join('\n'), { checkFirst: true });
      expect({ emits: result.emits, error: result.error }).toEqual({ emits: promised(example).emits, error: null });
    }
    for (const text of [PROMPT, neuroscriptTool(runtime).description]) expect(text).not.toMatch(/\bfunc\b/);
  });

  it('has one entry for each row of the table of statements, and a row for each entry', () => {
    const language = PROMPT.slice(PROMPT.indexOf('# NeuroScript'), PROMPT.indexOf('# Tools'));
    const entries = language.split('\n').filter((line) => line.startsWith('- '));
    for (const entry of entries) expect(STATEMENTS.filter(([start]) => entry.startsWith(start))).toHaveLength(1);
    expect(STATEMENTS).toHaveLength(entries.length);
  });

  it.each(STATEMENTS)('is true: %s', async (_entry, ...programs) => {
    for (const [program = '', ...expected] of programs) expect([program, await told(program)]).toEqual([program, expected]);
  });

  it('shows every feature that the sixty tasks need, and so do the tool of the AI SDK and a v1 loop, but for those of sessions', () => {
    expect(TASKS).toHaveLength(60);
    expect(unshown(PROMPT)).toEqual([]);
    const others = [neuroscriptTool(runtime).description, agentBrief({ rules: v1SystemPrompt(), procedures: true, tools: ALL })];
    for (const text of others) expect(unshown(text, OF_SESSIONS)).toEqual([]);
    expect(unshown('').length).toBeGreaterThan(150);
    expect(Object.keys(FEATURES).toSorted()).toEqual([...new Set(TASKS.flatMap(([, features]) => features))].toSorted());
  });

  it('issue 50: names what to write instead for as many known habits as docs/agents.md says, with the table of forms', () => {
    const { named, all } = namedHabits(PROMPT);
    expect(named / all).toBeGreaterThan(0.7);
    const page = readFileSync(join(ROOT, 'docs/agents.md'), 'utf8').replaceAll('\n', ' ');
    expect(page).toContain(`${named} of the ${all} slips`);
    expect(page).toContain(`(${Math.round((100 * named) / all)} %)`);
    expect(namedHabits('').named).toBe(0);
  });

  it('shows a call of an own tool that runs', async () => {
    const [, call = ''] = /`set x = (tool\.[^`]+)`/.exec(PROMPT) ?? [];
    expect(parse(command(`set x = ${call}`, 'emit x')).ok).toBe(true);
    expect(await told(`set x = ${call}`, 'emit x.words')).toEqual(['a']);
  });
});

describe('issue 50: the prompt of a v1 loop', () => {
  const v1 = (tools: readonly ToolDefinition[]) => agentBrief({ rules: v1SystemPrompt(), procedures: true, tools });
  const PAGE = v1(ALL);

  it('has at most 2,000 tokens with ten tools of the application and the standard tools', () => {
    expect(countTokens(PAGE)).toBeLessThanOrEqual(2000);
  });

  it('names only tools that there are, whatever tools there are', () => {
    for (const tools of [ALL, TEN, STANDARD, []]) {
      const known = tools.map(({ canonicalName }) => canonicalName);
      const named = (v1(tools).match(/\btool(?:\.\w+){2,}/g) ?? []).map((name) => name.toLowerCase());
      expect(named.filter((name) => !known.includes(name))).toEqual([]);
    }
    const kept = ['tool.policy.Allow', 'tool.memory.Get', 'tool.memory.CAS', 'tool.scratch.PutCAS'].map((name) => {
      return defineTool({ name, args: [], run: () => null });
    });
    for (const { name } of kept) expect(v1(kept)).toContain(`${name}(`);
  });

  it('has examples that run, and do what their comments say', async () => {
    const examples = examplesOf(PAGE);
    expect(examples).toHaveLength(3);
    for (const example of examples) {
      const src = example.lines.join('\n');
      const call = src.startsWith('func') ? { call: { name: 'main', args: [] } } : {};
      const { emits, error } = await runtime.run(src, { ...call, checkFirst: true });
      expect({ emits, error }).toEqual({ emits: promised(example).emits, error: null });
    }
    expect(PAGE).toContain(V1_EXAMPLE_ACTIONS);
    expect((await runtime.run(V1_EXAMPLE_ACTIONS, { checkFirst: true })).error).toBeNull();
  });

  it.each<[statement: string, output: string, signal: string | null]>([
    [`emit '{"loop":"continue","notes":"what is next"}'`, '{"loop":"continue","notes":"what is next"}', 'continue'],
    [`'{"loop":"done","notes":"what was done"}'`, '{"loop":"done","notes":"what was done"}', 'done'],
    ['"[[loop:continue]]"', '[[loop:continue]]', 'continue'],
    ['"[[loop:done]]"', '[[loop:done]]', 'done'],
    ['"[[loop:abort:reason=why]]"', '[[loop:abort:reason=why]]', 'abort'],
    ['Without a control signal the loop stops', 'nothing', null],
    ['The strongest signal counts: abort, halt, done, continue', '[[loop:continue]]\n[[loop:done]]', 'done'],
    [
      'The strongest signal counts: abort, halt, done, continue',
      '[[loop:done]]\n[[loop:halt]]\n[[loop:abort:reason=x]]',
      'abort',
    ],
  ])('is true: %s', (statement, output, signal) => {
    expect(PAGE.replaceAll(/\n +/g, ' ')).toContain(statement);
    expect(parseControl(output).signal).toBe(signal);
  });
});

describe('what the prompt says of sessions', () => {
  const magic = (action: string) => `emit tool.aeiou.magic("LOOP", {"action": "${action}"})`;

  /** Plays programs, one a turn; the last one is repeated. */
  async function play(...programs: readonly string[]) {
    const asked: string[] = [];
    const loop = new LoopController({ runtime });
    const agent = functionAgent(({ prompt, system }) => {
      asked.push(prompt);
      expect(system).toContain('tool.shop.Price(');
      return programReply(command(programs[Math.min(asked.length, programs.length) - 1] ?? ''));
    });
    const result = await loop.runLoop({ userdata: { subject: 's', fields: { name: 'Ada' } }, agent, maxTurns: 9 });
    return { result, asked };
  }

  it('holds for the end of a session, and for what the next turn shows and knows', async () => {
    expect(systemPrompt()).toContain(SESSION_RULES);
    const { result, asked } = await play(
      `set kept = 1\nemit "first " + userdata.fields.name\nwhisper self, "note"\n${magic('continue')}`,
      `emit is_nil(kept)\n${magic('continue')}`,
      magic('done'),
    );
    expect(result.decision).toBe('DONE');
    expect(asked[1]).toContain('first Ada');
    expect(asked[1]).toContain('note');
    expect(asked[2]).toContain('true');
    expect(asked[2]).not.toContain('first Ada');
    expect((await play(magic('abort'))).result.decision).toBe('ABORT');
    const silent = await play(`if userdata.subject == ""\n${magic('done')}\nendif`);
    expect([silent.result.decision, silent.asked.length]).toEqual(['HALT', 1]);
    expect((await play(`emit 1\n${magic('continue')}`)).asked).toHaveLength(3);
  });

  it('holds for a program that fails: it is asked for again, and its calls are not made again', async () => {
    const { asked, result } = await play(`set x = 1 / 0\n${magic('done')}`, magic('done'));
    expect(result.decision).toBe('DONE');
    expect(asked[1]).toContain('"reply_problem"');
  });
});

describe('tool.meta.Find', () => {
  it.each([
    ['split a text', 'tool.str.Split'],
    ['sort a list by a key', 'tool.list.SortBy'],
    ['regular expression groups', 'tool.regex.Groups'],
    ['parse JSON', 'tool.json.Parse'],
    ['price of a product', 'tool.shop.Price'],
    ['current time', 'tool.time.Now'],
  ])('finds for %s among its first three %s, with its signature', async (words, name) => {
    const { values } = await runtime.run(command(`emit tool.meta.Find("${words}", 3)`));
    const [found] = values;
    expect(Array.isArray(found) && found.some((line) => String(line).startsWith(`${name}(`))).toBe(true);
  });

  it('finds only tools that the program may call, and at most as many as asked for', async () => {
    const policy = { allow: ['*'], deny: ['tool.shop.*'] };
    const { values } = await runtime.run(
      command('emit tool.meta.Find("price of a product")', 'emit len(tool.meta.Find("list", 2))'),
      { policy },
    );
    expect(JSON.stringify(values[0])).not.toContain('tool.shop');
    expect(values[1]).toBe(2);
  });
});
