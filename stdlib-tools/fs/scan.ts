import type { Stats } from 'node:fs';
import { readdir, unlink } from 'node:fs/promises';
import type { Anchor } from './anchor.ts';
import { statOf } from './file.ts';
import { MARK, TEMPORARY } from './path.ts';

/** A file or directory that a scan found. */
export interface Entry {
  readonly name: string;
  /** Relative to the scanned directory, with `/`. */
  readonly path: string;
  readonly stats: Stats;
}

/** A temporary file that has not changed for this time has lost its writer. A younger one may still be written. */
const ABANDONED_MS = 60_000;

/** A mark is useful while a turn whose process died may run again. */
const MARK_MS = 7 * 86_400_000;

/** Bytes of work for which an entry counts. To ask for its facts takes as long. */
export const ENTRY_BYTES = 8192;

/** A scan found more entries than it may. */
export class ScanFull extends Error {}

/**
 * Lists a directory in the order of names, without following links. With `recursive` each directory is followed by its content.
 * Throws {@link ScanFull} if there are more than `most` entries. The scan removes temporary files whose writer was killed. `onEntry` is
 * called before each entry is looked at.
 */
export async function scan(
  directory: Anchor,
  recursive: boolean,
  most: number,
  onEntry: () => Promise<void>,
): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  await scanInto(found, directory, '', { recursive, most, onEntry });
  return found;
}

interface Scan {
  readonly recursive: boolean;
  readonly most: number;
  readonly onEntry: () => Promise<void>;
}

async function scanInto(found: Entry[], directory: Anchor, prefix: string, all: Scan): Promise<void> {
  for (const name of (await readdir(directory.here)).sort()) {
    await all.onEntry();
    const stats = await statOf(directory, name);
    if (stats === null) continue;
    if (name.startsWith(TEMPORARY)) {
      if (Date.now() - stats.mtimeMs > (name.startsWith(MARK) ? MARK_MS : ABANDONED_MS))
        await unlink(directory.at(name)).catch(() => {});
      continue;
    }
    if (found.length >= all.most) throw new ScanFull();
    found.push({ name, path: `${prefix}${name}`, stats });
    if (!all.recursive || !stats.isDirectory()) continue;
    await using below = await directory.enter(name, false);
    await scanInto(found, below, `${prefix}${name}/`, all);
  }
}
