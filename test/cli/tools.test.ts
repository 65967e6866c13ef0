import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../architecture/source.ts';
import { SLOW } from '../groups.ts';
import { command, folder, linesOf, neuroscript } from './spawn.ts';
import { within } from './terminal.ts';

const REAL = `
let calls: number = 0;
export const tools = [
  {
    group: 'shop',
    name: 'Price',
    description: 'Price of an item.',
    args: [{ name: 'item', type: 'string' }, { name: 'apiKey', required: false }],
    effects: 'read',
    run({ item }: { item: string }) {
      if (item === 'gold') throw new Error('no gold');
      return { item, call: ++calls, token: 'top-secret' };
    },
  },
];
`;

const PROGRAM = command(
  'for each item in ["tea", "tea", "gold"]',
  'on error do',
  'emit system_error["message"]',
  'clear_error',
  'endon',
  'emit tool.shop.Price(item)["call"]',
  'endfor',
);

const SEQUENCE =
  'state: { n: 0 }\ntools: { tool.t.Next: { cases: [{ set: { n: { $add: [{ $state: n }, 1] } }, returns: { $state: n } }] } }\n';

const envelope = (...lines: readonly string[]): string =>
  [
    '<<<NSENV:V3:START>>>',
    '<<<NSENV:V3:USERDATA>>>',
    '{"subject":"s","fields":{}}',
    '<<<NSENV:V3:ACTIONS>>>',
    command(...lines).trimEnd(),
    '<<<NSENV:V3:END>>>\n',
  ].join('\n');

/** Mocks of the same tool, which need no process of their own. */
const MOCKS = 'tools:\n  tool.shop.Price:\n    args: [item]\n    otherwise: { returns: { call: 1 } }\n';

/** A tool that fails with a code of its own, if it finds the turn it runs in. */
const SHARING = `
import { currentTurn, defineTool, ToolError } from 'neuroscript-runtime';
export const tools = [defineTool({ name: 'tool.a.Who', run: () => { throw new ToolError(currentTurn() === undefined ? 1233 : 1234, 'x'); } })];
`;

describe('--tools', () => {
  it('takes a module in TypeScript, whose tools are real', SLOW, async () => {
    const cwd = folder({ 'tools.ts': REAL, 'a.ns': PROGRAM });
    const ended = await neuroscript(['run', 'a.ns', '--tools', 'tools.ts'], { cwd });
    expect(ended).toMatchObject({ code: 0, stdout: "1\n2\ntool 'tool.shop.price' failed: no gold\n", stderr: '' });
  });

  it.each<[string, (modules: string) => void]>([
    ['from its own copy', (modules) => symlinkSync(ROOT, join(modules, 'neuroscript-runtime'))],
    [
      'where another copy is installed',
      (modules) => {
        mkdirSync(join(modules, 'neuroscript-runtime'));
        writeFileSync(join(modules, 'neuroscript-runtime', 'index.js'), "throw new Error('another copy');");
      },
    ],
    ['where no copy is installed', () => {}],
  ])(
    'a module that imports this package %s gets the runtime that runs it: its turn, its errors, its checks',
    SLOW,
    async (_, install) => {
      const cwd = folder({
        'main.ns': command('on error do', 'emit system_error["code"]', 'clear_error', 'endon', 'call tool.a.Who()'),
        'tools.mjs': SHARING,
      });
      mkdirSync(join(cwd, 'node_modules'));
      install(join(cwd, 'node_modules'));
      const { stdout, stderr } = await neuroscript(['run', 'main.ns', '--tools', 'tools.mjs'], { cwd });
      expect({ stdout, stderr }).toEqual({ stdout: '1234\n', stderr: '' });
    },
  );

  it('takes mocks from a module too', SLOW, async () => {
    const cwd = folder({ 'm.mjs': 'export default { tools: { "tool.t.X": { cases: [{ returns: [1, 2] }] } } };\n' });
    expect((await neuroscript(['run', '-', '--tools', 'm.mjs'], { cwd, stdin: command('emit tool.t.X()') })).stdout).toBe(
      '[1, 2]\n',
    );
  });

  it.each<[string, string, RegExp]>([
    [
      'that exports nothing of the kind',
      'export const tool = 1;',
      /^neuroscript: m\.mjs: export a list of tools as 'tools', or as default\n$/,
    ],
    ['that cannot be loaded', 'export const tools = ;', /^neuroscript: cannot load m\.mjs: Unexpected token ';'\n$/],
    ['that throws', 'throw new Error("no database");', /^neuroscript: cannot load m\.mjs: no database\n$/],
    [
      'with a mock that is computed',
      'export default { tools: { "tool.t.X": { cases: [{ returns: () => 1 }] } } };',
      /'returns' of a mock is a function/,
    ],
    ['with a tool that is none', 'export const tools = [1];', /item 0 of the list is not a tool/],
    [
      'with a tool without run',
      'export const tools = [{ name: "tool.t.X" }];',
      /^neuroscript: m\.mjs: tool\.t\.X: run must be a function, got undefined\n$/,
    ],
    [
      'with a tool that defineTool did not make',
      'export const tools = [{ canonicalName: "tool.t.x" }];',
      /a tool must be made with defineTool/,
    ],
  ])('refuses a module %s', SLOW, async (_what, text, problem) => {
    const ended = await neuroscript(['run', '-', '--tools', 'm.mjs'], {
      cwd: folder({ 'm.mjs': text }),
      stdin: command('emit 1'),
    });
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(problem) });
  });

  it('starts the state and the sequences of mocks anew for every request of --jsonl', async () => {
    const request = JSON.stringify({ src: command('emit tool.t.Next()', 'emit tool.t.Next()') });
    const cwd = folder({ 't.yaml': SEQUENCE });
    const ended = await within(['run', '--jsonl', '--tools', 't.yaml'], { cwd, stdin: `${request}\n${request}\n` });
    expect(linesOf(ended.stdout).map((line) => JSON.parse(line).emits)).toEqual([
      ['0', '1'],
      ['0', '1'],
    ]);
  });
});

describe('--record', () => {
  it('run: what was recorded answers the same program the same way, without the real tools', SLOW, async () => {
    const cwd = folder({ 'tools.ts': REAL, 'a.ns': PROGRAM });
    const real = await neuroscript(['run', 'a.ns', '--tools', 'tools.ts', '--record', 'calls.yaml'], { cwd });
    expect(real.stderr).toBe('recorded 3 calls in calls.yaml (2 secrets left out)\n');
    expect(statSync(join(cwd, 'calls.yaml')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(cwd, 'calls.yaml'), 'utf8')).not.toContain('top-secret');
    const again = await within(['run', 'a.ns', '--tools', 'calls.yaml'], { cwd });
    expect(again).toMatchObject({ code: 0, stdout: real.stdout, stderr: '' });
  });

  it('turn and loop: the tools that decide are not in it', SLOW, async () => {
    const lines = ['emit tool.shop.Price("tea")["call"]', 'emit tool.aeiou.magic("LOOP", {"action": "done"})'];
    const cwd = folder({ 'tools.ts': REAL, 'e.txt': envelope(...lines) });
    for (const args of [
      ['turn', 'e.txt'],
      ['loop', '--store', 'none', '--agent', 'script:e.txt'],
    ]) {
      const repeat = ['--ids', 'x', '--now', '1760000000', '--json'];
      const real = await neuroscript([...args, '--tools', 'tools.ts', '--record', 'calls.yaml', ...repeat], { cwd });
      expect(real.stderr).toContain('recorded 1 call in calls.yaml');
      expect(readFileSync(join(cwd, 'calls.yaml'), 'utf8')).not.toContain('magic');
      const again = await within([...args, '--tools', 'calls.yaml', ...repeat], { cwd });
      expect(JSON.parse(again.stdout).output ?? JSON.parse(again.stdout).turns?.[0]?.output).toMatch(/^1(?:\n|$)/);
    }
  });

  it('keeps an earlier recording when nothing was executed', async () => {
    const cwd = folder({ 'tools.yaml': MOCKS, 'a.ns': PROGRAM, 'bad.ns': 'command\n  emit )\nendcommand\n' });
    await within(['run', 'a.ns', '--tools', 'tools.yaml', '--record', 'calls.yaml'], { cwd });
    const before = readFileSync(join(cwd, 'calls.yaml'), 'utf8');
    expect(before).toContain('tool.shop.Price');
    const bad = await within(['run', 'bad.ns', '--tools', 'tools.yaml', '--record', 'calls.yaml'], { cwd });
    expect(bad).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('nothing was executed, so nothing is recorded in calls.yaml'),
    });
    expect(readFileSync(join(cwd, 'calls.yaml'), 'utf8')).toBe(before);
    await within(['run', 'bad.ns', '--record', 'new.yaml'], { cwd });
    expect(existsSync(join(cwd, 'new.yaml'))).toBe(false);
  });

  it('leaves no empty file behind when the recording cannot be written', async () => {
    const cwd = folder({ 'tools.yaml': MOCKS, 'a.ns': PROGRAM });
    // The name of the file beside it, which takes its place, is too long.
    const name = `${'a'.repeat(250)}.yaml`;
    const failed = await within(['run', 'a.ns', '--tools', 'tools.yaml', '--record', name], { cwd });
    expect(failed).toMatchObject({ code: 2, stderr: expect.stringContaining('the name is too long') });
    expect(existsSync(join(cwd, name))).toBe(false);
  });

  it('refuses, before anything runs, to overwrite what is no recording, and places that cannot be written', async () => {
    const cwd = folder({ 'mine.yaml': 'tools: {}\n', 'a.ns': command('emit 1') });
    const refused = async (file: string) => (await within(['run', 'a.ns', '--record', file], { cwd })).stderr;
    expect(await refused('mine.yaml')).toBe(
      'neuroscript: mine.yaml exists already and is not a recording; name another file, or remove it\n',
    );
    expect(await refused('no/such.yaml')).toBe('neuroscript: cannot record to no/such.yaml: its folder does not exist\n');
    expect(await refused('/dev/null')).toBe('neuroscript: cannot record to /dev/null: it is not an ordinary file\n');
    expect(readFileSync(join(cwd, 'mine.yaml'), 'utf8')).toBe('tools: {}\n');
    const twice = await within(['run', '--jsonl', '--record', 'x.yaml'], { cwd });
    expect(twice).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--record, --check, --check-first and --bound cannot be combined with --jsonl'),
    });
  });
});

describe('--check-first', () => {
  const POLICY = 'allow: ["*"]\ndeny: [tool.shop.*]\n';

  it('executes nothing when the policy denies a call that stands anywhere in the programs', async () => {
    const source = command('emit "before"', 'if false', 'emit tool.shop.Price("tea")', 'endif');
    const cwd = folder({ 'a.ns': source, 'tools.yaml': MOCKS, 'p.yaml': POLICY });
    const args = ['run', 'a.ns', '--tools', 'tools.yaml', '--policy', 'p.yaml'];
    expect(await within(args, { cwd })).toMatchObject({ code: 0, stdout: 'before\n' });
    expect(await within([...args, '--check-first'], { cwd })).toMatchObject({
      code: 4,
      stdout: '',
      stderr: expect.stringContaining("a.ns:4:8: tool 'tool.shop.price' denied by policy rule: tool.shop.* (NS1003)"),
    });
  });

  it('leaves a program alone that keeps to the policy, and syntax errors to the run', async () => {
    const cwd = folder({ 'a.ns': command('emit 1'), 'b.ns': command('emit )') });
    expect(await within(['run', 'a.ns', '--check-first'], { cwd })).toMatchObject({ code: 0, stdout: '1\n' });
    expect(await within(['run', 'b.ns', '--check-first'], { cwd })).toMatchObject({ code: 3 });
  });

  it('a policy file that is wrong is refused with its line', async () => {
    const cwd = folder({ 'p.yaml': 'allow:\n  - "*"\n  - 5\n', 'a.ns': command('emit 1') });
    const ended = await within(['run', 'a.ns', '--policy', 'p.yaml'], { cwd });
    expect(ended).toMatchObject({
      code: 2,
      stderr: 'neuroscript: p.yaml:3: allow[1]: must be a text, got the number 5\n',
    });
  });
});

describe('tools', () => {
  const TOOLS = `
tools:
  tool.memory.Get: { description: "Reads. Gives the value.", example: 'emit tool.memory.Get("/x")', args: [{ name: path, type: string, description: Where. }], cases: [{ returns: 1 }] }
  tool.memory.Put: { args: [path, value], capabilities: ["memory:write"], cases: [{ returns: 1 }] }
  tool.clock.Now: { cases: [{ returns: 1 }] }
`;
  const tools = (args: readonly string[]) =>
    within(['tools', '--tools', 't.yaml', ...args], {
      cwd: folder({ 't.yaml': TOOLS, 'p.yaml': 'allow: [tool.memory.*]\n' }),
    });

  it('shows each with its arguments and an example; names and patterns choose', async () => {
    const ended = await tools(['memory.get', '*now']);
    expect(ended).toEqual({
      code: 0,
      stdout:
        'tool.memory.Get(path: string)\n    Reads. Gives the value.\n    path: Where.\n    example: emit tool.memory.Get("/x")\ntool.clock.Now()\n',
      stderr: '',
    });
    expect(await tools(['memory.gte'])).toMatchObject({
      code: 2,
      stderr: 'neuroscript: no tool is named memory.gte; did you mean tool.memory.get?\n',
    });
  });

  it('leaves out what a policy denies, for whatever reason', async () => {
    const { stdout } = await tools(['tool.*', '--policy', 'p.yaml', '--json']);
    expect(JSON.parse(stdout).map(({ name }: { name: string }) => name)).toEqual(['tool.memory.Get']);
  });

  it('has a form for programs, for pages, and for models within a budget', async () => {
    expect(JSON.parse((await tools(['memory.*', 'clock.*', '--format', 'schema'])).stdout)[0]).toMatchObject({
      name: 'tool.memory.Get',
      inputSchema: { required: ['path'] },
    });
    expect((await tools(['memory.*', 'clock.*', '--format', 'md'])).stdout).toMatch(/^# Tools\n\n## memory\n/);
    expect(await tools(['memory.*', 'clock.*', '--format', 'prompt', '--budget', '70', '--prefer', '*now'])).toMatchObject({
      stdout: expect.stringMatching(
        /^`set x = tool\.clock\.Now\(\)` keeps .*\ntool\.clock\.Now\(\)\nLeft out for lack of space: 2 more\b.*\n$/,
      ),
      stderr: expect.stringMatching(/^about \d+ tokens; 2 of 3 tools left out, 0 shortened\n$/),
    });
    expect(await tools(['--format', 'prompt', '--budget', '9'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('too small'),
    });
    expect(await tools(['--budget', '90'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--format prompt') });
  });
});

describe('mocks in a session', () => {
  it('keep their state and sequences from turn to turn', async () => {
    const turn = (action: string): string =>
      envelope('emit tool.t.Next()', `emit tool.aeiou.magic("LOOP", {"action": "${action}"})`);
    const cwd = folder({ 't.yaml': SEQUENCE, 'a.txt': [turn('continue'), turn('continue'), turn('done')].join('\n') });
    const ended = await within(
      ['loop', '--store', 'none', '--agent', 'script:a.txt', '--tools', 't.yaml', '--record', 'calls.yaml'],
      { cwd },
    );
    expect(ended.code).toBe(0);
    expect(readFileSync(join(cwd, 'calls.yaml'), 'utf8')).toContain(
      '- { "returns": 0 }\n          - { "returns": 1 }\n          - { "returns": 2 }\n',
    );
  });
});

describe('--storage', () => {
  it('keeps the capsules that a trusted program adds, for other processes to read', async () => {
    const cwd = folder({
      'trusted.yaml': 'context: config\nallow: [tool.capsule.*]\ngrants: ["capsule:*"]\n',
      'reader.yaml': 'allow: [tool.capsule.*]\ngrants: ["capsule:read"]\n',
    });
    const run = (policy: string, expression: string) =>
      within(['run', '-', '--storage', 'kept.db', '--policy', policy], { cwd, stdin: command(`emit ${expression}`) });
    const add = 'tool.capsule.Add({"name": "capsule/rules", "version": 1, "description": "rules", "content": "Be brief."})';
    expect(await run('reader.yaml', add)).toMatchObject({ code: 4, stdout: '' });
    expect(await run('trusted.yaml', add)).toMatchObject({ code: 0, stdout: 'true\n' });
    expect(await run('reader.yaml', 'tool.capsule.Read("capsule/rules")["content"]')).toMatchObject({ stdout: 'Be brief.\n' });
  });
});
