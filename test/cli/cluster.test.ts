import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const MAIN = fileURLToPath(new URL('../../examples/cluster/main.mjs', import.meta.url));

it('issue 20: the demonstration of a cluster kills a host, drains one, and keeps every promise', async () => {
  const { DATABASE_URL: _, ...env } = process.env;
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN], {
    env: { ...env, SESSIONS: '8' },
    timeout: 100_000,
  });
  let said = '';
  child.stdout.on('data', (text) => {
    said += text;
  });
  const [code] = await once(child, 'exit');
  expect(said).not.toContain('BROKEN');
  expect({ code, kept: said.split('\n').filter((line) => line.startsWith('kept')).length }).toEqual({ code: 0, kept: 5 });
}, 120_000);
