// @module-tag slow
import { spawn } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { SqliteStore } from '../../src/loop/index.ts';
import { classicServer } from '../mcp/servers.ts';
import { BIN, command, folder } from './spawn.ts';
import { within } from './terminal.ts';

const ADDS = `<<<NSENV:V3:START>>>
<<<NSENV:V3:USERDATA>>>
{"subject":"s","fields":{}}
<<<NSENV:V3:ACTIONS>>>
${command('emit tool.shop.add({"a": 2, "b": 3})', 'emit tool.aeiou.magic("LOOP", {"action": "done"})')}<<<NSENV:V3:END>>>
`;

it('an optional server of tools that is away when a host starts is used when it is back, without a restart', async () => {
  const { command: node, args, env } = classicServer('honest');
  const servers = { mcpServers: { shop: { command: node, args: ['shop.mjs', ...args.slice(1)], env, optional: true } } };
  const cwd = folder({
    'agent.txt': ADDS,
    'servers.json': JSON.stringify(servers),
    'serve.yaml':
      'keys: k.json\nlisten: 127.0.0.1:0\nprofiles:\n  default:\n    agent: script:agent.txt\n    mcp: [servers.json]\n    limits: { concurrency: 1 }\n',
  });
  await within(['keys', 'generate', 'k.json'], { cwd });
  const host = spawn(process.execPath, [BIN, 'serve', '--store', 's.db', '--config', 'serve.yaml', '--log-format', 'json'], {
    cwd,
  });
  onTestFinished(() => void host.kill('SIGKILL'));
  let said = '';
  host.stderr.on('data', (chunk) => (said += String(chunk)));
  await expect.poll(() => said, { timeout: 60_000 }).toContain('serving');
  expect(said).toMatch(
    /"warn","message":"profile default: MCP server 'shop': it cannot be reached: .*; its tools are absent until it is back"/,
  );
  // Every line has the form that was asked for.
  for (const line of said.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('level');
  const [url] = /http:[^\s"]+/.exec(said) ?? [];
  const away = async () => /neuroscript_tool_servers_away (\d)/.exec(await (await fetch(`${url}/metrics`)).text())?.[1];
  expect(await away()).toBe('1');
  // A mistake that somebody makes meanwhile in the configuration is not read.
  writeFileSync(join(cwd, 'serve.yaml'), 'profiles: 5\n');
  copyFileSync(String(args[0]), join(cwd, 'shop.mjs'));
  await expect
    .poll(() => said, { timeout: 60_000 })
    .toMatch(/a server of tools that was away is back(.|\n)*drives turns that begin/);
  expect(await away()).toBe('0');
  await within(['sessions', 'open', 's', '--store', 's.db'], { cwd });
  await using store = await SqliteStore.open(join(cwd, 's.db'));
  await expect.poll(async () => (await store.summary('s'))?.status, { timeout: 60_000 }).toBe('done');
  expect((await store.turns('s'))[0]?.output).toContain('"sum": 5');
}, 120_000);
