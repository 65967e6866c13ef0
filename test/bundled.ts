import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const FOLDER = fileURLToPath(new URL('../.cache/bundles', import.meta.url));

/**
 * Puts a program and all that it imports into one file, and resolves with its path. For programs that a test starts many times: a process
 * that loads the source has 500 files to read, which takes half a second of CPU time. Making the file takes a second.
 */
export async function bundled(program: string): Promise<string> {
  const build = await rolldown({ input: program, platform: 'node', logLevel: 'silent' });
  const { output } = await build.generate({ format: 'esm' });
  await build.close();
  const [{ code }, ...more] = output;
  if (more.length > 0) throw new Error(`${program} is more than one file`);
  mkdirSync(FOLDER, { recursive: true });
  // Always the same name, so that what Node compiles of it is kept once. Another run of the tests may write it at the same time.
  const file = join(FOLDER, `${basename(program, '.ts')}.mjs`);
  const own = `${file}.${process.pid}`;
  writeFileSync(own, code);
  renameSync(own, file);
  return file;
}
