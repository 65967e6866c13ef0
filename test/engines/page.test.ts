// @module-tag slow
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, inject, it, onTestFinished } from 'vitest';
import { ROOT } from '../architecture/source.ts';
import { BIN, command, folder, neuroscript } from '../cli/spawn.ts';
import { blocksOf } from '../readme/blocks.ts';
import { commandsOf } from '../readme/shell.ts';
import { ENGINES, pgPool } from './kit.ts';
import { FAULTS, holds } from './matrix/faults.ts';

const page = readFileSync(join(ROOT, 'docs/scale.md'), 'utf8');
const blocks = blocksOf(page.split('\n## ').find((part) => part.startsWith('From nothing')) ?? '');
const AGENT = `<<<NSENV:V3:START>>>
<<<NSENV:V3:USERDATA>>>
{"subject":"s","fields":{}}
<<<NSENV:V3:ACTIONS>>>
${command('emit tool.shop.Price("pear")', 'emit tool.aeiou.magic("LOOP", {"action": "done"})')}<<<NSENV:V3:END>>>
`;

it('issue 48: the page leads from nothing to three hosts whose metrics tell when one of them dies', async () => {
  const pool = await pgPool(inject('url'));
  await pool.query('DROP SCHEMA IF EXISTS neuroscript CASCADE');
  await pool.end();
  const cwd = folder({
    'agent.txt': AGENT,
    'tools.yaml': 'tools:\n  tool.shop.Price:\n    args: [what]\n    otherwise: { returns: 2 }\n',
    'policy.yaml': 'allow: [tool.shop.*]\n',
  });
  const env = { NODE_OPTIONS: `--import=${pathToFileURL(join(ENGINES, 'resolve.mjs')).href}` };
  // The machine of the tests has no model, and may confine nothing.
  const wordsOf = (words: readonly string[]): readonly string[] =>
    words.slice(1).map((word) => word.replace(/^postgres:.*/, inject('url')).replace(/^required$/, 'none'));
  const hosts: ChildProcess[] = [];
  const urls: string[] = [];
  for (const { language, code, mark } of blocks) {
    if (language === 'yaml')
      writeFileSync(
        join(cwd, 'serve.yaml'),
        code.replace(/agent: .*\n.*\n/, 'agent: script:agent.txt\n').replace('0.0.0.0:9464', '127.0.0.1:0'),
      );
    if (mark !== 'three hosts') continue;
    for (const words of commandsOf(code)) {
      if (words[0] === 'mkdir') continue;
      const args = wordsOf(words);
      if (args[0] !== 'serve') {
        if (args[1] === 'list')
          await expect
            .poll(async () => (await neuroscript(args, { cwd, env })).stdout, { timeout: 60_000 })
            .toMatch(/^first +done/);
        expect(await neuroscript(args, { cwd, env }), args.join(' ')).toMatchObject({ code: 0 });
        continue;
      }
      for (let machine = 0; machine < 3; machine++) {
        const host = spawn(process.execPath, [BIN, ...args], { cwd, env: { ...process.env, ...env } });
        onTestFinished(() => void host.kill('SIGKILL'));
        let said = '';
        host.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
        await expect.poll(() => said, { timeout: 60_000 }).toContain('serving');
        hosts.push(host);
        urls.push(/http:[^\s"]+/.exec(said)?.[0] ?? '');
      }
    }
  }
  expect(hosts).toHaveLength(3);
  const up = async (url: string): Promise<number> => ((await fetch(`${url}/readyz`).catch(() => null))?.status === 200 ? 1 : 0);
  expect(await Promise.all(urls.map(up))).toEqual([1, 1, 1]);
  hosts[0]?.kill('SIGKILL');
  const dead = FAULTS.get('a host is dead, or stopped') ?? '';
  await expect
    .poll(async () => holds(dead, (await Promise.all(urls.map(up))).map((value) => `up ${value}`).join('\n')))
    .toBe(true);
  for (const host of hosts.slice(1)) {
    host.kill('SIGTERM');
    if (host.exitCode === null) await once(host, 'exit');
    expect(host.exitCode).toBe(0);
  }
});
