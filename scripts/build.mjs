// Builds dist/: the library and the command line file by file (tsc), and two single-file bundles (rolldown): the worker
// process, which may read nothing but its own files, and the guest, whose text is what enters an isolate.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));

async function bundle(input, file, options) {
  const build = await rolldown({ input: `${root}${input}`, ...options.input });
  await build.write({ file: `${root}${file}`, ...options.output });
  await build.close();
}

rmSync(`${root}dist`, { recursive: true, force: true });
execFileSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-p', `${root}tsconfig.build.json`], {
  stdio: 'inherit',
  cwd: root,
});
await bundle('src/worker/main.ts', 'dist/worker.js', {
  input: { platform: 'node', external: ['isolated-vm'] },
  output: { format: 'esm' },
});
await bundle('src/guest/main.ts', 'dist/guest.js', {
  input: { platform: 'neutral' },
  output: { format: 'iife', name: 'guest', minify: true },
});
