import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../examples/cluster/main.mjs', import.meta.url));

/** How a run of `examples/cluster` ended. */
export interface Demonstration {
  readonly code: unknown;
  /** Promises that were kept. */
  readonly kept: number;
  readonly said: string;
}

/** Runs `examples/cluster` with so many sessions, on a store of its own. */
export async function demonstrate(sessions: number, ...flags: readonly string[]): Promise<Demonstration> {
  const { DATABASE_URL: _, ...env } = process.env;
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...flags], {
    env: { ...env, SESSIONS: String(sessions) },
    timeout: 100_000,
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => {
      said += text;
    });
  const [code] = await once(child, 'exit');
  return { code, kept: said.split('\n').filter((line) => line.startsWith('kept')).length, said };
}
