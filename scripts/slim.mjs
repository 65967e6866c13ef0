// What a build does not need: the modules and types that no entry point reaches, because the command line is bundled, and the
// comments and long local names of modules, because editors read those of the types.
import { globSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { minifySync } from 'rolldown/experimental';

/** A plugin of the bundler: short local names in the packages of others, whose classes keep theirs because errors show them. */
export const thirdParty = {
  name: 'third-party',
  transform(code, id) {
    if (!id.includes('/node_modules/') || !/\.m?js$/.test(id)) return null;
    const keepNames = { function: false, class: true };
    return minified(id, code, { compress: { keepNames }, mangle: { keepNames }, codegen: true });
  },
};

function minified(file, text, options) {
  const { code, errors } = minifySync(file, text, { module: true, ...options });
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  return code;
}

/**
 * A static field that uses its class by the alias that tsc makes for classes with private methods. tsc sets the alias after the fields, so
 * the module could not be loaded.
 */
const EARLY_ALIAS = /^\s*static [#\w]+ = .*\b_[a-z]\b/m;

/** A relative import or export of a file that tsc has written. */
const RELATIVE = /(?:\bfrom|\bimport)\s*\(?\s*['"](\.[^'"]+)\.[jt]s['"]/g;

/** What tsc writes at the head of each module with `using`, which Node 20 cannot read: there, the library says that it needs a newer Node. */
const DISPOSAL = /^var __addDisposableResource = [\s\S]*?^\};\nvar __disposeResources = [\s\S]*?^\}\);\n/m;
const DISPOSAL_FILE = 'src/disposal.js';

/** Puts it into one module, which the others import. */
function shareDisposal(folder, modules) {
  let helpers = '';
  for (const file of modules) {
    const path = join(folder, file);
    const text = readFileSync(path, 'utf8');
    const [found] = DISPOSAL.exec(text) ?? [];
    if (found === undefined) continue;
    helpers = found;
    const from = relative(dirname(file), DISPOSAL_FILE);
    const imported = `import { __addDisposableResource, __disposeResources } from '${from.startsWith('.') ? from : `./${from}`}';\n`;
    writeFileSync(
      path,
      text.replace(found, () => imported),
    );
  }
  writeFileSync(
    join(folder, DISPOSAL_FILE),
    helpers.replace(/^var /gm, 'export const ').replace(/this && this\.\w+/g, 'undefined'),
  );
  return DISPOSAL_FILE;
}

/** The files that these lead to, through relative imports: paths below `folder`. */
function reached(folder, starts, extension) {
  const found = new Set(starts);
  // A set hands out what is added while it is read.
  for (const file of found)
    for (const [, path] of readFileSync(join(folder, file), 'utf8').matchAll(RELATIVE))
      found.add(join(dirname(file), `${path}${extension}`));
  return found;
}

/**
 * Removes from `folder` what nothing reaches. `entries` are the paths of the library's entry points and `programs` those of modules
 * that a process starts with, without `.js`.
 */
export function slim(folder, entries, programs) {
  const modules = reached(
    folder,
    [...entries, ...programs].map((path) => `${path}.js`),
    '.js',
  );
  const types = reached(
    folder,
    entries.map((path) => `${path}.d.ts`),
    '.d.ts',
  );
  for (const file of globSync('{bench,grammar,src,stdlib-tools}/**/*.{js,d.ts}', { cwd: folder }))
    if (!modules.has(file) && !types.has(file)) rmSync(join(folder, file));
  for (const path of globSync('{bench,grammar,src,stdlib-tools}/**/', { cwd: folder }).sort().reverse())
    if (readdirSync(join(folder, path)).length === 0) rmdirSync(join(folder, path));
  for (const file of globSync('schemas/*.json', { cwd: folder })) {
    const path = join(folder, file);
    writeFileSync(path, JSON.stringify(JSON.parse(readFileSync(path, 'utf8'))));
  }
  const shared = shareDisposal(folder, modules);
  // The names of functions and classes stay, for stack traces.
  const keepNames = { function: true, class: true };
  const short = { compress: { keepNames }, mangle: { keepNames }, codegen: true };
  for (const file of [...modules, shared]) {
    const path = join(folder, file);
    const text = readFileSync(path, 'utf8');
    if (EARLY_ALIAS.test(text))
      throw new Error(
        `${file}: a static field uses its class before tsc names it; use the class in no private method, or set the field after it`,
      );
    writeFileSync(path, minified(file, text, short));
  }
}
