import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { command, folder, linesOf } from './spawn.ts';
import { within } from './terminal.ts';

it('says once that a file is no SQLite file', async () => {
  const cwd = folder({ 'noise.bin': Buffer.alloc(5000, 7) });
  expect(await within(['store', 'migrate', '--store', 'noise.bin'], { cwd })).toMatchObject({
    code: 2,
    stderr: 'neuroscript: noise.bin is not a database: it is not a SQLite file\n',
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
    "line 4 of the input: 'src' must be a text, got a number",
    'line 5 of the input: the line is not UTF-8 text',
    null,
  ]);
});

it('propose names the file that is no plan', async () => {
  const cwd = folder({ 'plan.json': '{"a":1,}', 'long.json': JSON.stringify('x'.repeat(1024 * 1024 - 10)) });
  const propose = (file: string, stdin = '') => within(['propose', file, '--queue', '.'], { cwd, stdin });
  expect(await propose('plan.json')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^neuroscript: plan\.json is not strict JSON: /),
  });
  expect(await propose('-', 'no')).toMatchObject({
    stderr: expect.stringMatching(/^neuroscript: standard input is not strict JSON: /),
  });
  expect(await propose('long.json')).toMatchObject({
    code: 2,
    stderr: 'neuroscript: long.json: the plan is longer than 1 MiB\n',
  });
});
