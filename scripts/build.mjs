// Builds dist/: the library and the command line file by file (tsc), and two single-file bundles (rolldown): the worker
// process, which may read nothing but its own files, and the guest, whose text is what enters an isolate. Everything is
// made beside dist/ and put in its place at the end, so that a build never leaves a half-made one behind.
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

/** As in `src/worker/image.ts`. */
const PURE_MARK = '\n//# pure tools\n';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const fresh = mkdtempSync(join(root, '.build-'));

/** As in `src/wire/pure/signatures.ts`: the guest gets the value of that module, without the words of the declarations. */
const signatures = {
  name: 'signatures',
  async load(id) {
    if (id !== join(root, 'src/wire/pure/signatures.ts')) return null;
    const { SIGNATURES } = await import(pathToFileURL(id));
    return `export const SIGNATURES = ${JSON.stringify(SIGNATURES)};`;
  },
};

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
  // The pure tools are a script of their own in the same file: they stand on the interpreter, which comes before them.
  const kit = join(root, 'src/guest/kit.ts');
  await bundle('src/guest/pure/index.ts', 'pure.js', {
    input: { platform: 'neutral', external: [kit], plugins: [signatures] },
    output: { format: 'iife', name: 'pure', minify: true, globals: () => 'guest.kit' },
  });
  const pure = join(fresh, 'pure.js');
  appendFileSync(join(fresh, 'guest.js'), `${PURE_MARK}${readFileSync(pure, 'utf8')}`);
  rmSync(pure);
  const old = `${fresh}-old`;
  if (existsSync(dist)) renameSync(dist, old);
  renameSync(fresh, dist);
  rmSync(old, { recursive: true, force: true });
} catch (error) {
  rmSync(fresh, { recursive: true, force: true });
  process.stderr.write(`build failed: ${error.message}\n`);
  process.exitCode = 1;
}
