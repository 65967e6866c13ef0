// @module-tag slow
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openSession, SqliteStore } from '../../src/loop/index.ts';
import { AGENT, TOOLS } from '../loop/repair/files.ts';
import { CORRECT, expectRepaired, REASONS } from '../loop/repair/reasons.ts';
import { BIN, folder } from './spawn.ts';

const SESSIONS = REASONS.map(([, text, told], index) => ({ sid: `s${index + 1}`, text, told }));

it('A3-3.3-8 AMB-32 issue 43: serve asks an agent again for each reason, and sends each mail once', async () => {
  const replies = SESSIONS.flatMap(({ sid, text }) => [
    [`${sid}.first`, text],
    [`${sid}.second`, CORRECT],
  ]);
  const cwd = folder({
    ...Object.fromEntries(replies),
    'tools.mjs': TOOLS,
    'agent.mjs': AGENT,
    'policy.json': '{"allow": ["tool.*"], "deny": ["tool.secret.*"]}',
    'serve.yaml': `agent: "command:${process.execPath} agent.mjs"\ntools: tools.mjs\npolicy: policy.json\n`,
  });
  using store = await SqliteStore.open(join(cwd, 's.db'));
  for (const { sid } of SESSIONS) await openSession(store, { subject: sid, fields: {} }, { sid, at: Date.now() });
  const child = spawn(process.execPath, [BIN, 'serve', '--store', 's.db', '--config', 'serve.yaml'], { cwd, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  const states = async () => (await store.list()).map(({ status }) => status);
  await expect.poll(states, { timeout: 100_000, interval: 300 }).toEqual(SESSIONS.map(() => 'done'));
  child.kill('SIGTERM');
  if (child.exitCode === null) await once(child, 'exit');
  expect(child.exitCode).toBe(0);
  const textOf = (name: string): string => readFileSync(join(cwd, name), 'utf8');
  for (const { sid, told } of SESSIONS) {
    const [record] = await store.turns(sid);
    expectRepaired(
      { prompts: [1, 2].map((each) => textOf(`${sid}.${each}.txt`)), record, sent: textOf(`${sid}.sent`).length },
      told,
    );
  }
}, 120_000);
