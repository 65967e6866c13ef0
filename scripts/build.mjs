// Builds dist/: the library file by file (tsc), and bundles of it (rolldown): the worker process, which may read nothing but
// its own files; the guest, whose text enters an isolate; and the command line, which starts faster from few files.
// Everything is made beside dist/ and put in its place at the end, so that a build never leaves a half-made one behind.
import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { slim, thirdParty } from './slim.mjs';

/** As in `src/worker/image.ts`. */
const PURE_MARK = '\n//# pure tools\n';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const fresh = mkdtempSync(join(root, '.build-'));

/** The entry points of the library: their paths below dist/, without `.js`. */
const entries = Object.values(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).exports).flatMap(
  ({ default: path }) => (path ? [path.slice('./dist/'.length, -'.js'.length)] : []),
);

/** The modules beside them that start a process. */
const programs = ['src/gate/main', 'bench/main', 'bench/child', 'bench/echo'];

/** Names of classes stay: errors show them. */
const NAMES = { function: false, class: true };
/** Names of functions stay, too: stack traces of a worker show them. */
const STACKS = { function: true, class: true };

/** What bundles keep of comments. Doc comments are for readers of the library, which has them; they are a quarter of a bundle. */
const COMMENTS = { jsdoc: false };

/**
 * Writes characters beyond ASCII as escapes. V8 keeps a text with one such character in two bytes for each, and a worker and its isolates
 * keep the texts of these bundles.
 */
function escapeBeyondAscii(file) {
  const text = readFileSync(file, 'utf8');
  if (/\\[^\x00-\x7f]/.test(text)) throw new Error(`${file} has a backslash before a character beyond ASCII`);
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  writeFileSync(file, text.replace(/[^\x00-\x7f]/g, escaped));
}

/** Makes `src/entries/supported.ts` the first module that each entry point runs. */
function guardEntries() {
  for (const entry of entries) {
    const file = join(fresh, `${entry}.js`);
    const guard = relative(dirname(file), join(fresh, 'src/entries/supported.js')).replaceAll('\\', '/');
    writeFileSync(file, `import '${guard.startsWith('.') ? guard : `./${guard}`}';\n${readFileSync(file, 'utf8')}`);
  }
}

/**
 * Modules that the guest gets as the value of their one constant. So no descriptions of tools and prices enter an isolate, and no isolate
 * works the value out again.
 */
const CONSTANTS = new Map([
  [join(root, 'src/wire/pure/signatures.ts'), 'SIGNATURES'],
  [join(root, 'src/guest/work.ts'), 'WORK'],
]);
const constants = {
  name: 'constants',
  async load(id) {
    const name = CONSTANTS.get(id);
    if (name === undefined) return null;
    const { [name]: value, ...others } = await import(pathToFileURL(id));
    if (Object.keys(others).length > 0) throw new Error(`${id} exports more than ${name}`);
    return `export const ${name} = ${JSON.stringify(value)};`;
  },
};

async function bundle(entry, file, { input, output }) {
  const build = await rolldown({ input: join(root, entry), ...input });
  await build.write({ file: join(fresh, file), ...output });
  await build.close();
}

/**
 * The command line: dist/cli.js and its chunks in dist/cli/. A module that a user names with --tools may import this package;
 * it must get the code that runs it (`src/cli/flags/module.ts`), so the entry points of the library are bundled as well.
 */
async function bundleCommandLine() {
  const bench = join(root, 'bench/main.ts');
  // Programs of a page share nothing with a command, and neither do the interpreter and the parser of simulated worlds.
  const shared = entries.filter((entry) => !['src/browser/index', 'src/testing/index'].includes(entry));
  const build = await rolldown({
    input: {
      cli: join(root, 'src/cli/main.ts'),
      'cli/describe': join(root, 'src/cli/manual/describe.ts'),
      ...Object.fromEntries(shared.map((entry) => [`cli/${entry}`, join(root, `${entry}.ts`)])),
    },
    platform: 'node',
    plugins: [thirdParty],
    // Packages that few commands need load when they are needed; bench measures the library as its users load it.
    external: [/^(ai|@ai-sdk\/.*|@modelcontextprotocol\/.*|vscode-languageserver(-textdocument)?(\/.*)?)$/, bench],
  });
  await build.write({
    dir: fresh,
    format: 'esm',
    chunkFileNames: 'cli/[name]-[hash].js',
    minify: { compress: { keepNames: NAMES }, mangle: { keepNames: NAMES }, codegen: true },
    paths: { [bench]: './bench/main.js' },
  });
  await build.close();
  const { describe } = await import(pathToFileURL(join(fresh, 'cli/describe.js')));
  writeFileSync(join(fresh, 'manual.json'), JSON.stringify(await describe()));
}

try {
  const tsc = [join(root, 'node_modules/typescript/bin/tsc'), '-p', join(root, 'tsconfig.build.json'), '--outDir', fresh];
  execFileSync(process.execPath, tsc, { stdio: 'inherit', cwd: root });
  guardEntries();
  await bundle('src/worker/main.ts', 'worker.js', {
    input: { platform: 'node', external: ['isolated-vm'], plugins: [thirdParty] },
    output: { format: 'esm', comments: COMMENTS, minify: { compress: false, mangle: { keepNames: STACKS }, codegen: true } },
  });
  await bundle('src/guest/main.ts', 'guest.js', {
    input: { platform: 'neutral', plugins: [constants] },
    output: { format: 'iife', name: 'guest', minify: true },
  });
  // The pure tools are a script of their own in the same file: they stand on the interpreter, which comes before them.
  const kit = join(root, 'src/guest/kit.ts');
  await bundle('src/guest/pure/index.ts', 'pure.js', {
    input: { platform: 'neutral', external: [kit], plugins: [constants] },
    output: { format: 'iife', name: 'pure', minify: true, globals: () => 'guest.kit' },
  });
  const pure = join(fresh, 'pure.js');
  appendFileSync(join(fresh, 'guest.js'), `${PURE_MARK}${readFileSync(pure, 'utf8')}`);
  rmSync(pure);
  for (const file of ['worker.js', 'guest.js']) escapeBeyondAscii(join(fresh, file));
  const { filterLibrary } = await import(pathToFileURL(join(root, 'src/sandbox/filterlibrary.ts')));
  const { seccompFilter } = await import(pathToFileURL(join(root, 'src/sandbox/seccomp.ts')));
  writeFileSync(join(fresh, 'filter-x64.so'), filterLibrary(seccompFilter('x64', false)));
  await bundleCommandLine();
  slim(fresh, entries, programs);
  const old = `${fresh}-old`;
  if (existsSync(dist)) renameSync(dist, old);
  chmodSync(fresh, 0o755); // A container often builds as root and runs as another user.
  renameSync(fresh, dist);
  rmSync(old, { recursive: true, force: true });
} catch (error) {
  rmSync(fresh, { recursive: true, force: true });
  process.stderr.write(`build failed: ${error.message}\n`);
  process.exitCode = 1;
}
