import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { command, folder, linesOf } from './spawn.ts';
import { within } from './terminal.ts';

it('says once that a file is no SQLite file', async () => {
  const cwd = folder({ 'noise.bin': Buffer.alloc(5000, 7) });
  expect(await within(['store', 'migrate', '--store', 'noise.bin'], { cwd })).toMatchObject({
    code: 2,
    stderr: 'neuroscript: noise.bin is not a store of sessions: it is not a SQLite file\n',
  });
});

describe('a file that is named in place of a key file', () => {
  const files = { empty: '', 'tools.yaml': 'tools: {}\n', 'other.json': '{"a":1}' };
  const advice = async (cwd: string, command: string) => {
    const { code, stderr } = await within(command.split(' '), { cwd });
    return `${code} ${stderr.replace('neuroscript: ', '').trimEnd()}`;
  };

  it.each([0o600, 0o644, 0o664])('is called so before its mode (%o) matters', async (mode) => {
    const cwd = folder(files);
    for (const name of Object.keys(files)) chmodSync(join(cwd, name), mode);
    const exported = (name: string) => advice(cwd, `keys export-public ${name}`);
    expect(await exported('empty')).toBe('2 empty: the key file is not strict JSON (syntax)');
    expect(await exported('tools.yaml')).toBe('2 tools.yaml: the key file is not strict JSON (syntax)');
    expect(await exported('other.json')).toBe("2 other.json: the key file has the unknown field 'a'");
    for (const command of ['sessions receipt s --store s.db --key', 'log checkpoint s.db --key']) {
      expect(await advice(cwd, `${command} empty`)).toBe('2 empty: the key file is not JSON');
      expect(await advice(cwd, `${command} tools.yaml`)).toBe('2 tools.yaml: the key file is not JSON');
      expect(await advice(cwd, `${command} other.json`)).toMatch(/^2 other.json: it is not a key for receipts: make one by/);
    }
  });

  it.each([0o600, 0o644])('with public halves (mode %o) is exported as it is, and signs and rotates nothing', async (mode) => {
    const cwd = folder({});
    for (const [name, kind] of [
      ['t', ''],
      ['r', ' --receipts'],
    ]) {
      await within(`keys generate ${name}.key${kind}`.split(' '), { cwd });
      const { stdout } = await within(['keys', 'export-public', `${name}.key`], { cwd });
      writeFileSync(join(cwd, `${name}.pub`), stdout, { mode });
      expect(await within(['keys', 'export-public', `${name}.pub`], { cwd })).toMatchObject({ code: 0, stdout });
    }
    expect(await advice(cwd, 'keys rotate t.pub')).toBe(
      '2 t.pub has only public halves; rotate the file that has the private ones',
    );
    const sign = 'sessions receipt s --store s.db --key';
    expect(await advice(cwd, `${sign} r.pub`)).toBe('2 r.pub has only the public half of a key, which cannot sign');
    expect(await advice(cwd, `${sign} t.pub`)).toMatch(/^2 t.pub: it is not a key for receipts/);
    for (const command of ['keys export-public', sign]) {
      chmodSync(join(cwd, 'r.key'), 0o644);
      expect(await advice(cwd, `${command} r.key`)).toMatch(/^2 others can access r.key \(mode 0644\); run: chmod 600 r.key$/);
    }
  });
});

describe('a file of keys for tokens', () => {
  it.each([0o644, 0o664])('that is something else is called so before its mode (%o) matters', async (mode) => {
    const cwd = folder({ 'tools.yaml': 'tools: {}\n' });
    chmodSync(join(cwd, 'tools.yaml'), mode);
    for (const args of [['keys', 'list', 'tools.yaml'], 'keys rotate tools.yaml'.split(' ')]) {
      const { code, stderr } = await within(args, { cwd });
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: 'neuroscript: tools.yaml: the key file is not strict JSON (syntax)\n',
      });
    }
  });

  it('with public halves alone may be read by all who list it; one with private halves may not', async () => {
    const cwd = folder({});
    const keys = (...args: readonly string[]) => within(['keys', ...args], { cwd });
    await keys('generate', 'k.json');
    const { stdout: halves } = await keys('export-public', 'k.json');
    writeFileSync(join(cwd, 'k.pub'), halves, { mode: 0o644 });
    const listed = await keys('list', 'k.pub', '--json');
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(listed.stdout)).toMatchObject([{ canSign: false }, { canSign: false }]);
    chmodSync(join(cwd, 'k.json'), 0o644);
    expect(await keys('list', 'k.json')).toMatchObject({ code: 2, stderr: expect.stringContaining('chmod 600 k.json') });
  });
});

describe('run --event', () => {
  const files = {
    'on.ns': 'on event "known" do\n  emit "taken"\nendon\n',
    'global.ns': 'on event name do\n  emit "taken"\nendon\n',
    'main.ns': command('set n = 0', 'while n < 3', '  set n = n + 1', 'endwhile'),
    'lib.ns': 'func f() means\n  return 1\nendfunc\n',
  };
  const note = "neuroscript: no handler takes event 'nosuch', so it did nothing\n";

  it.each([
    ['on.ns --event nosuch=1', note, []],
    ['on.ns main.ns --event nosuch=1 --event known --event nosuch', note, ['taken']],
    ['on.ns lib.ns --call f --event nosuch', note, []],
    ['on.ns --event known', '', ['taken']],
    ['global.ns --global name="nosuch" --event nosuch', '', ['taken']],
    ['global.ns --global name="known" --event nosuch', note, []],
  ])('%s says which event nothing took', async (line, said, emits) => {
    const cwd = folder(files);
    const { code, stdout, stderr } = await within(['run', ...line.split(' '), '--json'], { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: said });
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, emits });
  });
});

it('run --jsonl says which line is no request', async () => {
  const good = { id: 1, src: command('emit 1') };
  const lines = [JSON.stringify(good), '{"id":2,', '', '{"id":4,"src":5}', Buffer.from([0x22, 0xff]), JSON.stringify(good)];
  const stdin = Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from('\n')]));
  const { stdout } = await within(['run', '--jsonl'], { stdin });
  const messages = linesOf(stdout).map((line) => JSON.parse(line).error?.message ?? null);
  expect(messages).toEqual([
    null,
    expect.stringMatching(/^line 2 of the input: the line is not JSON: /),
    expect.stringMatching(/^line 3 of the input: the line is not JSON: /),
    'line 4 of the input: src: must be a text, got the number 5',
    'line 5 of the input: the line is not UTF-8 text',
    null,
  ]);
});

it('gate propose names the file that is no plan, and exits with 1', async () => {
  const cwd = folder({ 'plan.json': '{"a":1,}', 'long.json': JSON.stringify('x'.repeat(1024 * 1024 - 10)) });
  const propose = (file: string, stdin = '') => within(['gate', 'propose', file, '--queue', '.'], { cwd, stdin });
  expect(await propose('plan.json')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^neuroscript: plan\.json is not strict JSON: /),
  });
  expect(await propose('-', 'no')).toMatchObject({
    stderr: expect.stringMatching(/^neuroscript: standard input is not strict JSON: /),
  });
  expect(await propose('long.json')).toMatchObject({
    code: 1,
    stderr: 'neuroscript: long.json: the plan is longer than 1 MiB\n',
  });
});

describe('evidence', () => {
  async function evidence() {
    const cwd = folder({
      'agent.txt': `<<<NSENV:V3:START>>>\n<<<NSENV:V3:USERDATA>>>\n{"subject":"s","fields":{}}\n<<<NSENV:V3:ACTIONS>>>\n${command('emit tool.aeiou.magic("LOOP", {"action": "done"})')}<<<NSENV:V3:END>>>\n`,
    });
    const run = (line: string) => within(line.split(' '), { cwd });
    await run('loop --agent script:agent.txt --store s.db --log d.log --sid one');
    for (const name of ['mine', 'other']) {
      await run(`keys generate ${name}.key --receipts --name same`);
      writeFileSync(join(cwd, `${name}.pub`), (await run(`keys export-public ${name}.key`)).stdout, { mode: 0o644 });
    }
    await run('log checkpoint d.log --key mine.key --out cp.json');
    await run('sessions receipt one --store s.db --key mine.key --out one.receipt');
    return { cwd, run };
  }

  it('of a log: --key without --since is refused', async () => {
    const { run } = await evidence();
    expect(await run('log verify d.log --key mine.pub')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'neuroscript: --key needs --since, the checkpoints that it verifies\n',
    });
  });

  it('that another key signed, or that was changed, fails with 1 and not as a mistake of usage', async () => {
    const { cwd, run } = await evidence();
    expect(await run('log verify d.log --since cp.json --key mine.pub')).toMatchObject({ code: 0, stderr: '' });
    const changed = readFileSync(join(cwd, 'cp.json'), 'utf8').replace('"lines":1', '"lines":0');
    writeFileSync(join(cwd, 'changed.json'), changed);
    for (const flags of ['--since cp.json --key other.pub', '--since changed.json --key mine.pub']) {
      const shown = await run(`log verify d.log ${flags}`);
      expect(shown).toMatchObject({
        code: 1,
        stderr: '',
        stdout: expect.stringMatching(/^c\w+\.json, line 1: .*does not verify: /),
      });
      const { code, stdout } = await run(`log verify d.log ${flags} --json`);
      expect({ code, ...JSON.parse(stdout) }).toMatchObject({
        code: 1,
        ok: false,
        line: 1,
        why: expect.stringContaining('signed'),
      });
    }
    expect(await run('receipt verify one.receipt --key other.pub')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('FAULT: '),
    });
    expect(await run('log verify d.log --since none.json --key mine.pub')).toMatchObject({ code: 2 });
    expect(await run('log verify d.log --since cp.json --key none.pub')).toMatchObject({ code: 2 });
  });
});
