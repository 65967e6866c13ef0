import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMPILED } from './compiled.ts';

/**
 * Gives a run of tests, and all processes that it starts, one folder for temporary files, which it removes at the end, one for what Node
 * compiles, and the time at which it began (`bundled.ts`).
 */
export default function setup(): () => void {
  if (!existsSync(COMPILED.NODE_COMPILE_CACHE)) precompile();
  const folder = mkdtempSync(join(tmpdir(), 'ns-'));
  // A server that runs as another user, as that of Postgres does for root, reaches its own folder below.
  chmodSync(folder, 0o711);
  const before = Object.entries({ TMPDIR: folder, TESTS_BEGAN: String(Date.now()), ...COMPILED }).map(([name, value]) => {
    const old = process.env[name];
    process.env[name] = value;
    return [name, old] as const;
  });
  return () => {
    for (const [name, old] of before) {
      if (old === undefined) delete process.env[name];
      else process.env[name] = old;
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
}

/** Compiles the sources before the first run of tests, whose processes start together and would each compile them. */
function precompile(): void {
  const program = fileURLToPath(new URL('precompile.ts', import.meta.url));
  execFileSync(process.execPath, ['--no-warnings', program], { env: { ...process.env, ...COMPILED }, stdio: 'inherit' });
}
