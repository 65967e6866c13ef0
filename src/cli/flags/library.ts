import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { printable } from '../../report/index.ts';
import type { Interpreter } from '../../runtime/index.ts';
import { limitOf } from '../../wire/limits.ts';
import type { Source } from '../../wire/protocol.ts';
import { UsageError } from '../terminal/failure.ts';
import { reading, readSources } from '../terminal/input.ts';
import { named } from './setup.ts';

/** The folder of a library: a flag of `tools`, and a key of configurations. */
export interface LibraryFlags {
  readonly library?: string | undefined;
}

const MOST_FILES = 500;

/** The sources of a folder by name, without tests (`NAME.test.ns`). Throws {@link UsageError}. */
export async function librarySources(folder: string): Promise<readonly Source[]> {
  const names = await reading(folder, () => readdir(folder));
  const files = names.filter((name) => name.endsWith('.ns') && !name.endsWith('.test.ns')).sort();
  if (files.length > MOST_FILES) throw new UsageError(`${printable(folder)} has more than ${MOST_FILES} files (.ns)`);
  const paths = files.map((name) => join(folder, name));
  const texts = await readSources(paths, limitOf('sourceBytes').default, 'a library');
  return texts.map(({ text }, index) => ({ name: files[index] ?? '', text }));
}

/**
 * Loads the procedures of a folder, so that programs can call them; nothing without a folder. Throws {@link UsageError} for a file that holds
 * more than definitions, and for a procedure that is defined twice, also in other letter case: a program, and the person who approves it, must
 * not take one for the other.
 */
export async function loadLibrary(root: Interpreter, folder: string | undefined): Promise<void> {
  if (folder === undefined) return;
  const sources = await librarySources(folder);
  if (sources.length === 0) throw new UsageError(`${printable(folder)} has no procedures (files that end in .ns)`);
  for (const { name, text } of sources) await loadSource(root, { name, text });
}

/** Loads one source. Throws as {@link loadLibrary}. */
export async function loadSource(root: Interpreter, { name, text }: Source): Promise<void> {
  const before = root.procedures;
  try {
    await root.append(text, name);
  } catch (error) {
    named(name, () => {
      throw error;
    });
  }
  const known = new Map(before.map((one) => [one.toLowerCase(), one]));
  for (const one of root.procedures.slice(before.length)) {
    const other = known.get(one.toLowerCase());
    if (other !== undefined)
      throw new UsageError(`${printable(name)}: '${one}' differs from the procedure '${other}' in letter case alone`);
    known.set(one.toLowerCase(), one);
  }
}
