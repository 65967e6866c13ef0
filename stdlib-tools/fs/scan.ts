import type { Stats } from 'node:fs';
import { readdir, unlink } from 'node:fs/promises';
import type { Anchor } from './anchor.ts';
import { statOf } from './file.ts';
import { UNFINISHED } from './path.ts';

/** One file or directory that was found. */
export interface Entry {
  readonly name: string;
  /** From the directory that was scanned, with `/`. */
  readonly path: string;
  readonly stats: Stats;
}

/** A half-written file that nobody has added to for so long has no writer any more; a younger one is somebody's work. */
const ABANDONED_MS = 60_000;

/** A scan that found more than it may. */
export class ScanFull extends Error {}

/**
 * What is in a directory, in the order of names, links not followed; with `recursive` also what is below, each directory
 * before its content. Throws {@link ScanFull} at more than `most` entries. Half-written files of a writer that was killed are
 * removed on the way.
 */
export async function scan(directory: Anchor, recursive: boolean, most: number): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  await scanInto(found, directory, '', recursive, most);
  return found;
}

async function scanInto(found: Entry[], directory: Anchor, prefix: string, recursive: boolean, most: number): Promise<void> {
  for (const name of (await readdir(directory.here)).sort()) {
    const stats = await statOf(directory, name);
    if (stats === null) continue;
    if (name.startsWith(UNFINISHED)) {
      if (Date.now() - stats.mtimeMs > ABANDONED_MS) await unlink(directory.at(name)).catch(() => {});
      continue;
    }
    if (found.length >= most) throw new ScanFull();
    found.push({ name, path: `${prefix}${name}`, stats });
    if (!recursive || !stats.isDirectory()) continue;
    await using below = await directory.enter(name, false);
    await scanInto(found, below, `${prefix}${name}/`, true, most);
  }
}
