import { opendir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Most program files that a workspace reads; the others are known only while they are open. */
const MAX_FILES = 2000;
/** Most bytes of a program file, as for programs that run. */
const MAX_BYTES = 1_048_576;
/** Folders deeper than this are not read. */
const MAX_DEPTH = 12;

/** The program files below a folder, with their texts. Skips what it cannot read, hidden folders, and installed packages. */
export async function* programsBelow(folder: string, signal: AbortSignal): AsyncGenerator<{ uri: string; text: string }> {
  let left = MAX_FILES;
  const waiting = [{ path: folder, depth: 0 }];
  for (let next = waiting.shift(); next !== undefined && left > 0 && !signal.aborted; next = waiting.shift()) {
    const { path, depth } = next;
    try {
      for await (const entry of await opendir(path)) {
        const child = join(path, entry.name);
        if (entry.isDirectory() && depth < MAX_DEPTH && !entry.name.startsWith('.') && entry.name !== 'node_modules')
          waiting.push({ path: child, depth: depth + 1 });
        if (!entry.isFile() || !entry.name.endsWith('.ns') || left === 0) continue;
        const text = await programText(child);
        if (text === null) continue;
        left -= 1;
        yield { uri: pathToFileURL(child).href, text };
      }
    } catch (error) {
      if (!isSystemError(error)) throw error;
    }
  }
}

/** The text of a program file; null for one that is gone, too large or unreadable. */
export async function programText(path: string): Promise<string | null> {
  try {
    const { size } = await stat(path);
    return size > MAX_BYTES ? null : await readFile(path, 'utf8');
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return null;
  }
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}
