// @module-tag slow
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { command, folder } from './spawn.ts';

const BIN = fileURLToPath(new URL('../../bin/neuroscript.js', import.meta.url));

/** A command that ignores its signals and the end of its input. */
const STUBBORN = "trap '' TERM INT HUP\nwhile :; do sleep 1; done & \necho $! > pid\nwait\n";

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

it.each<[string, readonly string[], readonly NodeJS.Signals[]]>([
  ['an agent', ['loop', '--agent', 'command:sh stubborn.sh'], ['SIGHUP']],
  ['an MCP server', ['run', 'a.ns', '--mcp', 'x=sh stubborn.sh'], ['SIGTERM', 'SIGTERM']],
  ['an implementation under test', ['test', 'conformance', '--impl', 'sh stubborn.sh'], ['SIGINT', 'SIGTERM']],
])('finding 18: %s that ignores every signal does not outlive %j after %j', async (_what, args, signals) => {
  const cwd = folder({ 'stubborn.sh': STUBBORN, 'a.ns': command('emit 1') });
  const file = join(cwd, 'pid');
  // The sessions of whoever runs the tests stay as they are.
  const env = { ...process.env, XDG_STATE_HOME: cwd };
  const child = spawn(process.execPath, [BIN, ...args], { cwd, env, stdio: 'ignore' });
  const ended = once(child, 'exit');
  await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'), { timeout: 20_000 }).toBe(true);
  for (const signal of signals) child.kill(signal);
  expect(await ended).toEqual([130, null]);
  await expect.poll(() => isAlive(Number(readFileSync(file, 'utf8'))), { timeout: 5_000 }).toBe(false);
});
