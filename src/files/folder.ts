import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and the missing ones above it. Returns the first one that it made; undefined when the folder is there. Node's own
 * recursive `mkdir` never returns where a folder is there in which none can be made, such as `/proc`. Throws the error of the file system.
 */
export function makeFolder(path: string, mode = 0o777): string | undefined {
  if (isFolder(path)) return undefined;
  const above = dirname(path);
  const isMissing = above !== path && statSync(above, { throwIfNoEntry: false }) === undefined;
  const made = isMissing ? makeFolder(above, mode) : undefined;
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process has made it meanwhile.
    if (isFolder(path)) return made;
    throw error;
  }
  return made ?? path;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
