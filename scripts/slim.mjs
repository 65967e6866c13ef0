// What a build does not need: the types that no entry point reaches, and the long local names in the packages of others.
import { globSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { minifySync } from 'rolldown/experimental';

/** A plugin of the bundler: short local names in the packages of others, whose classes keep theirs because errors show them. */
export const thirdParty = {
  name: 'third-party',
  transform(code, id) {
    if (!id.includes('/node_modules/') || !/\.m?js$/.test(id)) return null;
    const keepNames = { function: false, class: true };
    const short = minifySync(id, code, { module: true, compress: { keepNames }, mangle: { keepNames }, codegen: true });
    if (short.errors.length > 0) throw new Error(`${id}: ${short.errors[0].message}`);
    return short.code;
  },
};

/** A relative import or export of a file that tsc has written. */
const RELATIVE = /(?:\bfrom|\bimport)\s*\(?\s*['"](\.[^'"]+)\.[jt]s['"]/g;

/** Removes from `folder` the types that the library's entry points do not lead to. `entries` are their paths, without `.js`. */
export function slim(folder, entries) {
  const needed = new Set(entries.map((path) => `${path}.d.ts`));
  // A set hands out what is added while it is read.
  for (const file of needed)
    for (const [, path] of readFileSync(join(folder, file), 'utf8').matchAll(RELATIVE))
      needed.add(join(dirname(file), `${path}.d.ts`));
  for (const file of globSync('**/*.d.ts', { cwd: folder })) if (!needed.has(file)) rmSync(join(folder, file));
  for (const path of globSync('**/', { cwd: folder }).sort().reverse())
    if (readdirSync(join(folder, path)).length === 0) rmdirSync(join(folder, path));
}
