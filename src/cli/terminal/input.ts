import { isUtf8 } from 'node:buffer';
import { createReadStream, fstatSync, globSync, type Stats, statSync } from 'node:fs';
import { Socket } from 'node:net';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { isatty, ReadStream } from 'node:tty';
import { makeOrdinary, openAtOnce } from '../../files/ordinary.ts';
import { printable, quantity } from '../../report/index.ts';
import type { Source } from '../../wire/protocol.ts';
import { UsageError } from './failure.ts';

/** The name that stands for standard input among the files of a command line. */
export const STDIN = '-';

/** Standard input; or what the file is, where standard input is refused for it. */
type Stdin = string | (() => AsyncIterable<Uint8Array>);

/**
 * Reads a text file, or standard input for `-`. Throws {@link UsageError}, one sentence, for a file that is missing, a
 * folder, unreadable, longer than `maxBytes`, or not UTF-8, and for standard input that is refused. Never holds more than `maxBytes` of it.
 */
export async function readText(name: string, maxBytes: number, stdin: Stdin): Promise<string> {
  const bytes = await readBytes(name, maxBytes, stdin);
  if (!isUtf8(bytes)) throw new UsageError(`${label(name)} is not UTF-8 text (line ${badLine(bytes)})`);
  return bytes.toString('utf8');
}

/** As {@link readText}, but leaves the check of the encoding to the caller. */
export async function readBytes(name: string, maxBytes: number, stdin: Stdin): Promise<Buffer> {
  if (name !== STDIN) return readFile(name, maxBytes);
  if (typeof stdin === 'string') throw new UsageError(`${stdin} cannot be read from standard input; name a file`);
  return collect(stdin(), name, maxBytes);
}

/** Reads the program files of a command in order; standard input may be one of them. */
export async function readSources(names: readonly string[], maxBytes: number, stdin: Stdin): Promise<Source[]> {
  mustReadOnce(names);
  const sources: Source[] = [];
  for (const name of names) sources.push({ name, text: await readText(name, maxBytes, stdin) });
  return sources;
}

/** Throws {@link UsageError} when standard input is named twice. */
export function mustReadOnce(names: readonly string[]): void {
  if (names.filter((name) => name === STDIN).length > 1) throw new UsageError("standard input ('-') can be read only once");
}

const TESTS = '.test.ns';

/** The programs of a command line: a folder stands for every *.ns below it but test files, which hold cases. Throws {@link UsageError}. */
export function programsOf(names: readonly string[]): readonly string[] {
  return filesOf(names, 'program (*.ns)', (file) => file.endsWith('.ns') && !file.endsWith(TESTS));
}

/** The test files of a command line: a folder stands for every *.test.ns below it. Throws {@link UsageError}. */
export function testFilesOf(names: readonly string[]): readonly string[] {
  return filesOf(names, `test file (*${TESTS})`, (file) => file.endsWith(TESTS));
}

/**
 * The files of a command line, each of those below a folder once. Of a folder it takes ordinary files: a link leads to a file of
 * another place or to one that is taken already. Hidden folders and installed packages are left out.
 */
function filesOf(names: readonly string[], kind: string, isOne: (file: string) => boolean): readonly string[] {
  const files: string[] = [];
  const taken = new Set(names.map((name) => resolve(name)));
  for (const name of names) {
    if (name === STDIN || statOf(name)?.isDirectory() !== true) {
      files.push(name);
      continue;
    }
    const found = globSync('**/*.ns', { cwd: name, exclude: ['**/node_modules'], withFileTypes: true })
      .filter((entry) => entry.isFile() && isOne(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
    if (found.length === 0)
      throw new UsageError(`there is no ${kind} in ${name === '.' ? 'this folder' : label(name)} or below; name a file`);
    for (const file of found) {
      if (!taken.has(resolve(file))) files.push(file);
      taken.add(resolve(file));
    }
  }
  return files;
}

/** What a name leads to; null where that cannot be said. Reading or writing then fails and says why. */
export function statOf(name: string): Stats | null {
  try {
    return statSync(name);
  } catch {
    return null;
  }
}

/** Runs `read` and turns an error of the file system into a {@link UsageError} that names the file; `name` if the error does not. */
export async function reading<Result>(name: string, read: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error) || error instanceof UsageError) throw error;
    const path = 'path' in error ? String(error.path) : name;
    throw new UsageError(`cannot read ${label(path)}: ${fileTrouble(error)}`, { cause: error });
  }
}

/** The files that are being read. Data of a pipe may never come. */
const open = new Set<Readable>();

/** Closes the files that are being read: their readers fail. An interrupt needs this. */
export function closeInputs(): void {
  for (const stream of open) stream.destroy();
}

/** A stream that ends when an interrupt destroys it. */
export async function* until(signal: AbortSignal, stream: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* stream;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Most bytes that are read from a device, such as /dev/null: others never end. */
const DEVICE_BYTES = 1024 * 1024;

function readFile(name: string, maxBytes: number): Promise<Buffer> {
  return reading(name, async () => {
    const file = openAtOnce(name);
    const kind = fstatSync(file);
    const most = kind.isCharacterDevice() || kind.isBlockDevice() ? Math.min(maxBytes, DEVICE_BYTES) : maxBytes;
    const stream = streamOf(file);
    open.add(stream);
    try {
      return await collect(stream, name, most);
    } finally {
      open.delete(stream);
      stream.destroy();
    }
  });
}

/**
 * A stream of an open file; it closes the file. A named pipe, which a shell makes for `<(command)`, and a terminal are read when data
 * has come: no thread waits for them.
 */
function streamOf(file: number): Readable {
  if (isatty(file)) return new ReadStream(file);
  return fstatSync(file).isFIFO() ? new Socket({ fd: file, writable: false }) : createReadStream('', { fd: file });
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

/** Checks, before anything runs, that a file can be appended to; makes it if it is missing. Throws {@link UsageError}. */
export function mustAppend(file: string): void {
  try {
    makeOrdinary(file);
  } catch (error) {
    throw new UsageError(`cannot append to ${printable(file)}: ${fileTrouble(error, 'make')}`, { cause: error });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'a part of its path is not a folder',
  EISDIR: 'it is a folder',
  EEXIST: 'it exists already',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EFBIG: 'it is too large',
  ELOOP: 'its symbolic links go in a circle',
  ENAMETOOLONG: 'the name is too long',
  ENXIO: 'it is not an ordinary file',
};

/** What is done to a file, where the same error has another reason. */
const REASONS_OF: Readonly<Record<'read' | 'make' | 'makeFolder', Readonly<Record<string, string>>>> = {
  read: {},
  make: { ENOENT: 'its folder does not exist' },
  makeFolder: { ENOENT: 'no folder can be made there', EEXIST: 'it is not a folder' },
};

/** The reason of a file system error, in words. */
export function fileTrouble(error: unknown, use: keyof typeof REASONS_OF = 'read'): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return REASONS_OF[use][code] ?? REASONS[code] ?? printable(message);
}

/** A file as messages name it. */
export function label(name: string): string {
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
