import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

/** Paths of the TypeScript files below some folders or of the files named, relative to `root`. */
export function sourcesBelow(root: string, paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    if (path.endsWith('.ts')) return existsSync(join(root, path)) ? [path] : [];
    if (!existsSync(join(root, path))) return [];
    return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
      .map((entry) => relative(root, join(entry.parentPath, entry.name)))
      .sort();
  });
}

/** For each source file, the test files that import it, directly or through others; those named after it come first. */
export function relatedTests(root: string, tests: readonly string[]): (source: string) => string[] {
  const imports = new Map<string, readonly string[]>();
  const importsOf = (file: string): readonly string[] => {
    const known = imports.get(file);
    if (known !== undefined) return known;
    const found = existsSync(join(root, file)) ? specifiers(readFileSync(join(root, file), 'utf8')) : [];
    const resolved = found.map((specifier) => relative(root, join(root, dirname(file), specifier)));
    imports.set(file, resolved);
    return resolved;
  };
  const distances = new Map(tests.map((test) => [test, reach(test, importsOf)]));
  return (source) => {
    const named = (test: string): number => (basename(test) === basename(source).replace(/\.ts$/, '.test.ts') ? 0 : 1);
    return tests
      .filter((test) => distances.get(test)?.has(source) === true)
      .sort((a, b) => named(a) - named(b) || distance(a, source) - distance(b, source));
  };
  function distance(test: string, source: string): number {
    return distances.get(test)?.get(source) ?? Number.POSITIVE_INFINITY;
  }
}

function specifiers(text: string): string[] {
  const found = text.matchAll(
    /^import (?!type\b)[^;]*?from '(\.[^']+)'|^export (?!type\b)[^;]*?from '(\.[^']+)'|import\('(\.[^']+)'\)/gm,
  );
  return [...found].flatMap(([, first, second, third]) => first ?? second ?? third ?? []);
}

function reach(start: string, importsOf: (file: string) => readonly string[]): ReadonlyMap<string, number> {
  const reached = new Map([[start, 0]]);
  for (const [file, distance] of reached)
    for (const next of importsOf(file)) if (!reached.has(next)) reached.set(next, distance + 1);
  return reached;
}
