import { mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const FOLDER = fileURLToPath(new URL('../.cache/bundles', import.meta.url));

/**
 * Puts a program and all that it imports into one file, and resolves with its path. For programs that a test starts many times: a process
 * that loads the source has 500 files to read, which takes half a second of CPU time. Making the file takes a second, once in a run of
 * tests.
 */
export async function bundled(program: string): Promise<string> {
  // Always the same name, so that what Node compiles of it is kept once.
  const file = join(FOLDER, `${basename(program, '.ts')}.mjs`);
  const made = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (made > Number(process.env['TESTS_BEGAN'] ?? Number.POSITIVE_INFINITY)) return file;
  const build = await rolldown({ input: program, platform: 'node', logLevel: 'silent' });
  const { output } = await build.generate({ format: 'esm' });
  await build.close();
  const [{ code }, ...more] = output;
  if (more.length > 0) throw new Error(`${program} is more than one file`);
  mkdirSync(FOLDER, { recursive: true });
  // Another process may write it at the same time.
  const own = `${file}.${process.pid}`;
  writeFileSync(own, code);
  renameSync(own, file);
  return file;
}
