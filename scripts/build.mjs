// Builds dist/: the types file by file (tsc), and bundles (rolldown): the library and the command line, which load faster from few
// files; the worker process, which may read nothing but its own files; and the guest, whose text enters an isolate.
// Everything is made beside dist/ and put in its place at the end, so that a build never leaves a half-made one behind.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, chmodSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { BUILD_MARK, NO_END, PROGRAM_MARK } from '../src/wire/codecache.ts';
import { BUNDLED } from './bundled.ts';
import { bundleGuest } from './guest.ts';
import { peers } from './peers.mjs';
import { slim, thirdParty } from './slim.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const fresh = mkdtempSync(join(root, '.build-'));

const {
  exports: exported,
  dependencies,
  devDependencies,
  peerDependencies,
} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** The entry points of the library: their paths below dist/, without `.js`. */
const entries = Object.values(exported).flatMap(({ default: path }) =>
  path ? [path.slice('./dist/'.length, -'.js'.length)] : [],
);

const others = Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies }).filter(
  (name) => !BUNDLED.includes(name),
);
const external = [/^node:/, ...others.map((name) => new RegExp(`^${name}(/|$)`))];

/** The modules beside them that a process starts with or another build's benchmark loads. */
const programs = ['bench/main', 'bench/child', 'bench/ours', 'bench/quickjschild'];
/** What says on an older Node that the library needs a newer one. */
const SUPPORTED = 'src/entries/supported';

/** What the bundles of the worker keep of names: those of functions and classes, which stack traces and errors show. */
const NAMES = { function: true, class: true };

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
    const guard = posix.relative(posix.dirname(entry), `${SUPPORTED}.js`);
    writeFileSync(file, `import '${guard.startsWith('.') ? guard : `./${guard}`}';\n${readFileSync(file, 'utf8')}`);
  }
}

/** Puts in place of each of these modules the value of its one constant. */
function constants(modules) {
  const values = new Map(Object.entries(modules).map(([path, value]) => [join(root, path), value]));
  return {
    name: 'constants',
    async load(id) {
      const value = values.get(id);
      if (value === undefined) return null;
      const [name, ...others] = Object.keys(await import(pathToFileURL(id)));
      if (others.length > 0) throw new Error(`${id} exports more than ${name}`);
      return `export const ${name} = ${JSON.stringify(await value())};`;
    },
  };
}

const source = (path) => import(pathToFileURL(join(root, path)));

/** So no process analyses the grammar. */
const analysed = constants({
  'grammar/syntax/decisions.ts': async () => {
    const { decisionsOf } = await source('grammar/syntax/lookahead.ts');
    const { ProgramParser } = await source('grammar/syntax/program.ts');
    return decisionsOf(new ProgramParser());
  },
});
/** So no descriptions of tools and prices enter an isolate, and no isolate works the value out again. */
const priced = constants({
  'src/wire/pure/signatures.ts': async () => (await source('src/wire/pure/signatures.ts')).SIGNATURES,
  'src/guest/work.ts': async () => (await source('src/guest/work.ts')).WORK,
});

/** An import of names, or of the whole, from a built-in module of Node, as the bundler writes it. */
const BUILTIN_IMPORT = /^import (?:\{([^{}]*)\}|([\w$]+)) from "(node:[\w/]+)";$/gm;

/**
 * Takes from Node's modules what is used and nothing else. An `import` reads all exports of a built-in module, and some load further
 * modules, as `node:fs` loads its streams: a tenth of the time of a command's start.
 */
const builtins = {
  name: 'builtins',
  renderChunk: (code) =>
    code.replace(BUILTIN_IMPORT, (_, names, whole, module) => {
      const pattern = whole ?? `{${names.replaceAll(' as ', ': ')}}`;
      return `const ${pattern} = process.getBuiltinModule("${module}");`;
    }),
};

/** Puts the program of the worker into a comment of the file that starts it (`src/worker/boot.ts`). */
function appendProgram() {
  const program = join(fresh, 'program.js');
  const text = `(() => {${readFileSync(program, 'utf8')}\nreturn program;})()`;
  rmSync(program);
  if (text.includes(NO_END)) throw new Error(`the program of the worker contains ${NO_END}`);
  appendFileSync(join(fresh, 'worker.js'), `${PROGRAM_MARK}${text.replaceAll('*/', NO_END)}\n*/`);
}

/** Writes at the end of each file what names this build: a hash of the files' contents. */
function nameBuild(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(join(fresh, file)));
  const name = hash.digest('hex');
  for (const file of files) appendFileSync(join(fresh, file), `${BUILD_MARK}${name}\n`);
}

/** Writes the declarations and checks nothing, which takes half the time; `npm run typecheck` checks. */
async function declare() {
  const tsc = [join(root, 'node_modules/typescript/bin/tsc'), '-p', join(root, 'tsconfig.build.json'), '--outDir', fresh];
  const [code, signal] = await once(spawn(process.execPath, tsc, { stdio: 'inherit', cwd: root }), 'exit');
  if (code !== 0) throw new Error(`tsc ended with ${signal ?? `exit code ${code}`}`);
}

async function bundle(entry, file, { input, output }) {
  const build = await rolldown({ input: join(root, entry), ...input });
  await build.write({ file: join(fresh, file), ...output });
  await build.close();
}

/**
 * The library and the command line, which share the files in dist/chunks/. A module that a user names with --tools may import this package,
 * and gets the code that runs it (`src/cli/flags/module.ts`). The bundles keep their lines and names: Node prints the line of an error that
 * nothing catches. Minified, they are a third smaller, and a command takes 4 % less CPU time.
 */
async function bundleLibrary() {
  const build = await rolldown({
    input: {
      cli: join(root, 'src/cli/main.ts'),
      describe: join(root, 'src/cli/manual/describe.ts'),
      ...Object.fromEntries([...entries, ...programs, SUPPORTED].map((path) => [path, join(root, `${path}.ts`)])),
    },
    // What pages use of the library must not need Node; yaml has modules for this platform, and CommonJS for that of Node.
    platform: 'neutral',
    // The modules of OpenTelemetry's API are ECMAScript under the first of these names only, so that what is unused goes.
    resolve: { conditionNames: ['module', 'import'] },
    // An older Node must be able to read the files: only then can it say that it is too old.
    transform: { target: 'node20' },
    plugins: [peers, thirdParty, builtins, analysed],
    external,
  });
  await build.write({
    dir: fresh,
    format: 'esm',
    chunkFileNames: 'chunks/[name]-[hash].js',
    comments: COMMENTS,
  });
  await build.close();
  const describe = join(fresh, 'describe.js');
  const manual = await (await import(pathToFileURL(describe))).describe();
  writeFileSync(join(fresh, 'manual.json'), JSON.stringify(manual));
  rmSync(describe);
}

/** Writes the bundles. */
async function bundleAll() {
  await bundleLibrary();
  guardEntries();
  // The gate as a command is one file, which can be read as it stands and loads no other.
  await bundle('src/gate/main.ts', 'src/gate/main.js', {
    input: { platform: 'node', plugins: [builtins] },
    output: { format: 'esm' },
  });
  // This process takes the place of a worker, which may read no other file.
  await bundle('bench/echo.ts', 'bench/echo.js', { input: { platform: 'node' }, output: { format: 'iife', comments: COMMENTS } });
  const worker = {
    input: { platform: 'node', external: ['isolated-vm'], plugins: [thirdParty, analysed] },
    output: { comments: COMMENTS, minify: { compress: false, mangle: { keepNames: NAMES }, codegen: true } },
  };
  // It imports and exports nothing, so Node can start it as a module or as a script, which is faster (`src/sandbox/launch.ts`).
  const boot = { ...worker.output, format: 'iife', banner: "'use strict';" };
  await bundle('src/worker/boot.ts', 'worker.js', { ...worker, output: boot });
  await bundle('src/worker/program.ts', 'program.js', {
    ...worker,
    output: { ...worker.output, format: 'iife', name: 'program' },
  });
  writeFileSync(join(fresh, 'guest.js'), await bundleGuest([priced]));
}

try {
  // Both have ended before the folder is removed for a failure of one.
  const ends = await Promise.allSettled([declare(), bundleAll()]);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  for (const file of ['worker.js', 'program.js', 'guest.js']) escapeBeyondAscii(join(fresh, file));
  appendProgram();
  nameBuild(['worker.js', 'guest.js']);
  const { filterLibrary } = await import(pathToFileURL(join(root, 'src/sandbox/filterlibrary.ts')));
  const { seccompFilter } = await import(pathToFileURL(join(root, 'src/sandbox/seccomp.ts')));
  writeFileSync(join(fresh, 'filter-x64.so'), filterLibrary(seccompFilter('x64', false)));
  slim(fresh, entries);
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
