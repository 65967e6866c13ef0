// Builds dist/: the library and the command line file by file (tsc), and two single-file bundles (rolldown): the worker
// process, which may read nothing but its own files, and the guest, whose text is what enters an isolate. Everything is
// made beside dist/ and put in its place at the end, so that a build never leaves a half-made one behind.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const fresh = mkdtempSync(join(root, '.build-'));

async function bundle(entry, file, { input, output }) {
  const build = await rolldown({ input: join(root, entry), ...input });
  await build.write({ file: join(fresh, file), ...output });
  await build.close();
}

try {
  const tsc = [join(root, 'node_modules/typescript/bin/tsc'), '-p', join(root, 'tsconfig.build.json'), '--outDir', fresh];
  execFileSync(process.execPath, tsc, { stdio: 'inherit', cwd: root });
  await bundle('src/worker/main.ts', 'worker.js', {
    input: { platform: 'node', external: ['isolated-vm'] },
    output: { format: 'esm' },
  });
  await bundle('src/guest/main.ts', 'guest.js', {
    input: { platform: 'neutral' },
    output: { format: 'iife', name: 'guest', minify: true },
  });
  const old = `${fresh}-old`;
  if (existsSync(dist)) renameSync(dist, old);
  renameSync(fresh, dist);
  rmSync(old, { recursive: true, force: true });
} catch (error) {
  rmSync(fresh, { recursive: true, force: true });
  process.stderr.write(`build failed: ${error.message}\n`);
  process.exitCode = 1;
}
