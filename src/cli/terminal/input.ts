import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { printable, quantity } from '../../report/index.ts';
import type { Source } from '../../wire/protocol.ts';
import { UsageError } from './failure.ts';

/** The name that stands for standard input among the files of a command line. */
export const STDIN = '-';

/**
 * Reads a text file, or standard input for `-`. Throws {@link UsageError}, one sentence, for a file that is missing, a
 * folder, unreadable, longer than `maxBytes`, or not UTF-8. Never holds more than `maxBytes` of it.
 */
export async function readText(name: string, maxBytes: number, stdin: () => AsyncIterable<Uint8Array>): Promise<string> {
  const bytes = await readBytes(name, maxBytes, stdin);
  if (!isUtf8(bytes)) throw new UsageError(`${label(name)} is not UTF-8 text (line ${badLine(bytes)})`);
  return bytes.toString('utf8');
}

/** As {@link readText}, but leaves the check of the encoding to the caller. */
export async function readBytes(name: string, maxBytes: number, stdin: () => AsyncIterable<Uint8Array>): Promise<Buffer> {
  return name === STDIN ? collect(stdin(), name, maxBytes) : readFile(name, maxBytes);
}

/** Reads the program files of a command in order; standard input may be one of them. */
export async function readSources(
  names: readonly string[],
  maxBytes: number,
  stdin: () => AsyncIterable<Uint8Array>,
): Promise<Source[]> {
  if (names.filter((name) => name === STDIN).length > 1) throw new UsageError("standard input ('-') can be read only once");
  const sources: Source[] = [];
  for (const name of names) sources.push({ name, text: await readText(name, maxBytes, stdin) });
  return sources;
}

/**
 * Opens an ordinary file and never waits for it. Throws {@link UsageError} for a folder, a named pipe, a device, and whatever
 * cannot be opened. The caller closes it.
 */
export async function openOrdinary(name: string): Promise<FileHandle> {
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  const file = await openFile(name, constants.O_RDONLY | constants.O_NONBLOCK);
  const found = await file.stat();
  if (found.isFile()) return file;
  await file.close();
  const why = found.isDirectory() ? REASONS['EISDIR'] : "it is no ordinary file (what comes through a pipe is read with '-')";
  throw new UsageError(`cannot read ${label(name)}: ${why}`);
}

async function openFile(name: string, flags: number): Promise<FileHandle> {
  try {
    return await open(name, flags);
  } catch (error) {
    throw new UsageError(`cannot read ${label(name)}: ${fileTrouble(error)}`);
  }
}

async function readFile(name: string, maxBytes: number): Promise<Buffer> {
  const file = await openFile(name, constants.O_RDONLY);
  try {
    return await collect(file.createReadStream({ autoClose: false }), name, maxBytes);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`cannot read ${label(name)}: ${fileTrouble(error)}`);
  } finally {
    await file.close();
  }
}

async function collect(chunks: AsyncIterable<Uint8Array>, name: string, maxBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > maxBytes) throw new UsageError(`${label(name)} is larger than ${quantity('bytes', maxBytes)}`);
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'a part of its path is not a folder',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ELOOP: 'its symbolic links go in a circle',
  ENAMETOOLONG: 'the name is too long',
  ENXIO: 'it is no ordinary file',
};

/** The reason of a file system error, in words. A new file without its folder has a reason of its own. */
export function fileTrouble(error: unknown, use: 'read' | 'make' = 'read'): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (use === 'make' && code === 'ENOENT') return 'its folder does not exist';
  return REASONS[code ?? ''] ?? printable(message);
}

function label(name: string): string {
  return name === STDIN ? 'standard input' : printable(name);
}

/** The first line that is not UTF-8: a line feed is never part of a longer sequence, so lines can be judged one by one. */
export function badLine(bytes: Buffer): number {
  let line = 1;
  for (let from = 0; from < bytes.length; line += 1) {
    const end = bytes.indexOf(0x0a, from);
    const next = end < 0 ? bytes.length : end + 1;
    if (!isUtf8(bytes.subarray(from, next))) return line;
    from = next;
  }
  return line;
}
