import { ToolError } from '../../src/tools/index.ts';
import { NS_CODES } from '../../src/wire/codes.ts';
import { wholeNumbers } from '../../src/wire/options.ts';
import { grouped } from '../../src/wire/text/grouped.ts';
import { within } from './anchor.ts';
import { type Entry, ScanFull, scan } from './scan.ts';

/** Bounds of a session's directory. Every number is a whole number from 1. */
export interface FsQuota {
  /** Maximum bytes of one file; 8 MiB if absent. */
  readonly fileBytes?: number;
  /** Maximum bytes of all files; 64 MiB if absent. */
  readonly totalBytes?: number;
  /** Maximum number of files and directories; 1000 if absent. */
  readonly entries?: number;
}

/** Fills in the defaults. Throws `ConfigError` (`ERR_CONFIG`). */
export const checkQuota = wholeNumbers<FsQuota>('the quota of the fs tools', 1, {
  fileBytes: 8 * 1024 * 1024,
  totalBytes: 64 * 1024 * 1024,
  entries: 1000,
});

/** A write that is about to happen. */
export interface Growth {
  /** The names of the path, all below the directory. */
  readonly names: readonly string[];
  /** The bytes to write; 0 for a directory. */
  readonly bytes: number;
  /** True to append to the present content, false to replace it. */
  readonly append: boolean;
}

/** Counts the present files; `onEntry` is called for each. Throws {@link ToolError} 37 if the write would exceed the quota. */
export async function mustFit(
  root: string,
  { names, bytes, append }: Growth,
  quota: Required<FsQuota>,
  onEntry: () => Promise<void>,
): Promise<void> {
  const entries = await counted(root, quota, onEntry);
  const sizes = new Map(entries.map(({ path, stats }) => [path, stats.isFile() ? stats.size : 0]));
  const paths = names.map((_, index) => names.slice(0, index + 1).join('/'));
  const before = sizes.get(names.join('/')) ?? 0;
  const after = bytes + (append ? before : 0);
  if (after > quota.fileBytes) throw full(`a file may have ${grouped(quota.fileBytes)} bytes`);
  const made = paths.filter((path) => !sizes.has(path)).length;
  if (sizes.size + made > quota.entries) throw tooMany(quota);
  const total = sizes.values().reduce((sum, size) => sum + size, 0);
  if (total - before + after > quota.totalBytes) throw full(`all files together may have ${grouped(quota.totalBytes)} bytes`);
}

async function counted(root: string, quota: Required<FsQuota>, onEntry: () => Promise<void>): Promise<readonly Entry[]> {
  try {
    return await within(root, [], false, (directory) => scan(directory, true, quota.entries, onEntry));
  } catch (error) {
    throw error instanceof ScanFull ? tooMany(quota) : error;
  }
}

function tooMany({ entries }: Required<FsQuota>): ToolError {
  return full(`there may be ${entries} files and directories`);
}

function full(problem: string): ToolError {
  return new ToolError(NS_CODES.ResourceExhaustion, `nothing was written: ${problem}`);
}
