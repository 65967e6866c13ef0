import { createHash } from 'node:crypto';
import { mkdir, rename, rmdir, unlink } from 'node:fs/promises';
import { KeyedMutex } from '../../src/context/index.ts';
import { defineStandard, type ToolDefinition, ToolError, type ToolRuntime } from '../../src/tools/index.ts';
import { NS_CODES } from '../../src/wire/codes.ts';
import { ConfigError } from '../../src/wire/errors.ts';
import { anything, checker, checkFunction } from '../../src/wire/options.ts';
import type { Value } from '../../src/wire/values.ts';
import { type Anchor, within } from './anchor.ts';
import { CallMark } from './callmark.ts';
import { contentOf, LineCount, textOf } from './content.ts';
import { named } from './errors.ts';
import { described, facts, type Shown } from './facts.ts';
import { append, readBytes, readChunks, replace, statOf } from './file.ts';
import { mustBeReachable, namesBelow, namesOf, safeName } from './path.ts';
import { checkQuota, type FsQuota, mustFit } from './quota.ts';
import { ENTRY_BYTES, ScanFull, scan } from './scan.ts';

export type { FsQuota } from './quota.ts';

/** Options of {@link fsTools}. */
export interface FsToolsOptions {
  /** Returns an absolute directory that exists. If absent: the sandbox directory of the caller's session. */
  readonly directoryOf?: (runtime: ToolRuntime) => Promise<string>;
  /** Bounds of a session's files; see {@link FsQuota} for the defaults. */
  readonly quota?: FsQuota;
}

const checkFsOptions = checker<FsToolsOptions>({ directoryOf: checkFunction, quota: anything });
const PATH = { name: 'path', type: 'string', description: "a relative path, with '/'" } as const;
const CONTENT = { name: 'content', description: 'a string or bytes' } as const;
const FILE = { name: 'filepath', type: 'string', description: "a relative path, with '/'" } as const;

/**
 * `tool.fs`: files in a directory of the session. No path leads out of it: a path that is absolute, contains `..` or goes
 * through a link is refused, even if the directory changes meanwhile. Reads need the grant `fs:read`, writes `fs:write`. Throws
 * {@link ConfigError} (`ERR_CONFIG`), also on Windows, where directories cannot be held open.
 */
export function fsTools(options: FsToolsOptions = {}): readonly ToolDefinition[] {
  checkFsOptions('the options of the fs tools', options);
  if (process.platform === 'win32') throw new ConfigError('the fs tools need Linux or macOS');
  const quota = checkQuota(options.quota ?? {});
  const rootOf = options.directoryOf ?? ((runtime: ToolRuntime) => runtime.sandboxDir());
  const writers = new KeyedMutex();
  const readers = new KeyedMutex();
  const reading = { effects: 'read', capabilities: ['fs:read'] } as const;
  const writing = { effects: 'write', idempotent: true, capabilities: ['fs:write'] } as const;

  /** Runs one writer at a time per directory, so that the sizes counted for the quota still hold when it writes. */
  async function write<T>(runtime: ToolRuntime, path: string, work: (root: string) => Promise<T>): Promise<T> {
    const root = await rootOf(runtime);
    using _writing = await writers.hold(root);
    return await named(path, () => work(root));
  }

  /** Runs one reader at a time per directory, because the descriptors of calls that run together would add up. */
  async function read<T>(root: string, path: string, work: () => Promise<T>): Promise<T> {
    using _reading = await readers.hold(root);
    return await named(path, work);
  }

  async function parent<T>(root: string, path: string, create: boolean, work: (at: Anchor, name: string) => Promise<T>) {
    const names = namesBelow(path);
    return within(root, names.slice(0, -1), create, (directory) => work(directory, names.at(-1) ?? ''));
  }

  const bytesOf = async (path: string, runtime: ToolRuntime): Promise<Buffer> => {
    const root = await rootOf(runtime);
    const stats = await read(root, path, () => parent(root, path, false, statOf));
    // What waits for room must not keep others from reading.
    if (stats !== null && stats.size <= quota.fileBytes) await runtime.reserve(stats.size);
    const bytes = await read(root, path, () =>
      parent(root, path, false, (directory, name) => readBytes(directory, name, quota.fileBytes)),
    );
    await runtime.charge(bytes.length);
    return bytes;
  };

  /** Gives the bytes of a file to `take`, which the program pays. */
  const eachChunk = async (path: string, runtime: ToolRuntime, take: (chunk: Buffer) => void): Promise<void> => {
    const root = await rootOf(runtime);
    const work = async (chunk: Buffer): Promise<void> => {
      await runtime.charge(chunk.length);
      take(chunk);
    };
    return read(root, path, () =>
      parent(root, path, false, (directory, name) => readChunks(directory, name, quota.fileBytes, work)),
    );
  };

  const store = (path: string, content: Value, adding: boolean, runtime: ToolRuntime): Promise<string> =>
    write(runtime, path, async (root) => {
      const bytes = Buffer.from(contentOf(content));
      await runtime.charge(bytes.length);
      const mark = adding ? await CallMark.find(root, runtime.call.key) : null;
      const [from, there] = mark === null ? [0, null] : await contentFrom(root, path, mark.before);
      // Appends only the part that an earlier attempt has not appended.
      const done = there !== null && bytes.subarray(0, there.length).equals(there.subarray(0, bytes.length)) ? there.length : 0;
      if (there !== null && done >= bytes.length) return 'OK';
      const rest = bytes.subarray(done);
      await mustFit(root, { names: namesBelow(path), bytes: rest.length, append: adding }, quota, () =>
        runtime.charge(ENTRY_BYTES),
      );
      await mark?.set(String(from));
      await parent(root, path, true, (directory, name) => (adding ? append : replace)(directory, name, rest));
      return 'OK';
    });

  /** The size of a file before a call appended to it, and the content after that; null for the first attempt at the call. */
  const contentFrom = async (root: string, path: string, before: string | null): Promise<readonly [number, Buffer | null]> => {
    try {
      return await parent(root, path, false, async (directory, name) => {
        if (before === null) return [(await statOf(directory, name))?.size ?? 0, null];
        return [Number(before), (await readBytes(directory, name, quota.fileBytes)).subarray(Number(before))];
      });
    } catch (error) {
      if (isAbsent(error)) return [Number(before ?? 0), null];
      throw error;
    }
  };

  const scanned = async (directory: Anchor, recursive: boolean, runtime: ToolRuntime) => {
    try {
      return await scan(directory, recursive, quota.entries, () => runtime.charge(ENTRY_BYTES));
    } catch (error) {
      if (!(error instanceof ScanFull)) throw error;
      throw new ToolError(NS_CODES.ResourceExhaustion, `it holds more than ${quota.entries} files and directories`);
    }
  };

  /** The paths, as names, of all entries below a directory. */
  const heldBy = async (parent: Anchor, name: string, runtime: ToolRuntime): Promise<readonly (readonly string[])[]> => {
    await using directory = await parent.enter(name, false);
    return (await scanned(directory, true, runtime)).map((entry) => entry.path.split('/'));
  };

  const listed = async <T>(path: string, recursive: boolean, runtime: ToolRuntime, show: (entry: Shown) => T): Promise<T[]> => {
    const root = await rootOf(runtime);
    const names = namesOf(path);
    return read(root, path, async () => {
      const found = await within(root, names, false, (directory) => scanned(directory, recursive, runtime));
      return found.map(({ name, path: below, stats }) => show({ name, path: below, ...facts(stats) }));
    });
  };

  return [
    defineStandard({
      name: 'tool.fs.Read',
      description: 'Reads a file as UTF-8 text.',
      example: 'tool.fs.Read("notes/today.txt")',
      args: [FILE],
      returns: 'string',
      ...reading,
      run: async ({ filepath }, runtime) => textOf(filepath, await bytesOf(filepath, runtime)),
    }),
    defineStandard({
      name: 'tool.fs.ReadBytes',
      description: 'Reads a file as bytes.',
      example: 'tool.fs.ReadBytes("notes/today.txt")',
      args: [FILE],
      returns: 'blob',
      ...reading,
      run: async ({ filepath }, runtime) => new Uint8Array(await bytesOf(filepath, runtime)),
    }),
    defineStandard({
      name: 'tool.fs.Write',
      description: 'Writes a file and replaces its content. Missing directories are made. Returns "OK".',
      example: 'tool.fs.Write("notes/today.txt", "one\\ntwo\\n")',
      args: [FILE, CONTENT],
      returns: 'string',
      ...writing,
      run: ({ filepath, content }, runtime) => store(filepath, content, false, runtime),
    }),
    defineStandard({
      name: 'tool.fs.Append',
      description: 'Appends to a file, and makes it if it is absent. Returns "OK".',
      example: 'tool.fs.Append("notes/today.txt", "three\\n")',
      args: [FILE, CONTENT],
      returns: 'string',
      ...writing,
      run: ({ filepath, content }, runtime) => store(filepath, content, true, runtime),
    }),
    defineStandard({
      name: 'tool.fs.List',
      description: 'Lists a directory, as maps with name, path, isDir, size and modTime.',
      example: 'tool.fs.List("notes", true)',
      args: [
        PATH,
        { name: 'recursive', type: 'bool', default: false, description: 'true to include the content of its directories' },
      ],
      returns: 'slice_map',
      ...reading,
      run: ({ path, recursive }, runtime) =>
        listed(path, recursive, runtime, ({ name, path: at, directory, size, modified }) => ({
          name,
          path: at,
          isDir: directory,
          size,
          modTime: modified.toISOString(),
        })),
    }),
    defineStandard({
      name: 'tool.fs.Walk',
      description:
        'Lists everything below a directory, as maps with name, path_relative, is_dir, size_bytes, modified_unix, modified_rfc3339 and mode_string.',
      example: 'tool.fs.Walk(".")',
      args: [PATH],
      returns: 'slice_map',
      ...reading,
      run: ({ path }, runtime) =>
        listed(path, true, runtime, ({ name, path: at, ...rest }) => ({ name, path_relative: at, ...described(rest) })),
    }),
    defineStandard({
      name: 'tool.fs.Stat',
      description:
        'Describes a file or directory, as a map with name, path, size_bytes, is_dir, modified_unix, modified_rfc3339, mode_string and mode_perm.',
      example: 'tool.fs.Stat("notes/today.txt")',
      args: [PATH],
      returns: 'map',
      ...reading,
      async run({ path }, runtime) {
        const root = await rootOf(runtime);
        const stats = await read(root, path, () => parent(root, path, false, statOf));
        if (stats === null) throw absent(path);
        const names = namesBelow(path);
        const mode_perm = (stats.mode & 0o777).toString(8).padStart(4, '0');
        return { name: names.at(-1), path: names.join('/'), ...described(facts(stats)), mode_perm };
      },
    }),
    defineStandard({
      name: 'tool.fs.Mkdir',
      description: 'Makes a directory and its missing parents. Returns a map with status, message and path.',
      example: 'tool.fs.Mkdir("notes/old")',
      args: [PATH],
      returns: 'map',
      ...writing,
      run: ({ path }, runtime) =>
        write(runtime, path, async (root) => {
          await mustFit(root, { names: namesBelow(path), bytes: 0, append: true }, quota, () => runtime.charge(ENTRY_BYTES));
          const at = namesBelow(path).join('/');
          const mark = await CallMark.find(root, runtime.call.key);
          await parent(root, path, true, async (directory, name) => {
            if ((await statOf(directory, name)) === null) await mark?.set('absent');
            else if (mark !== null && mark.before !== null) return;
            await mkdir(directory.at(name), 0o700);
          });
          return { status: 'success', message: `Successfully created directory: ${at}`, path: at };
        }),
    }),
    defineStandard({
      name: 'tool.fs.Delete',
      description: 'Deletes a file or an empty directory. Returns "OK", also if there is none.',
      example: 'tool.fs.Delete("notes/old")',
      args: [PATH],
      returns: 'string',
      ...writing,
      run: ({ path }, runtime) =>
        write(runtime, path, (root) =>
          parent(root, path, false, remove).catch((error: unknown) => {
            if (isAbsent(error)) return 'OK';
            throw error;
          }),
        ),
    }),
    defineStandard({
      name: 'tool.fs.Move',
      description: 'Moves or renames a file or directory to an unused path. Returns a map with message and error, which is nil.',
      example: 'tool.fs.Move("notes/today.txt", "notes/monday.txt")',
      args: [
        { ...PATH, name: 'source_path' },
        { ...PATH, name: 'destination_path' },
      ],
      returns: 'map',
      ...writing,
      run: ({ source_path: from, destination_path: to }, runtime) =>
        write(runtime, from, async (root) => {
          const below = `${namesBelow(to).join('/')}/`.startsWith(`${namesBelow(from).join('/')}/`);
          if (below) throw new ToolError(NS_CODES.ArgMismatch, 'the destination must not be the source or inside of it');
          const mark = await CallMark.find(root, runtime.call.key);
          const moved = { message: `moved ${from} to ${to}`, error: null };
          return parent(root, from, false, async (source, oldName) => {
            const stats = await statOf(source, oldName);
            // The source is gone and an earlier attempt has set its mark, so that attempt has moved the source.
            if (stats === null && mark !== null && mark.before !== null) return moved;
            if (stats === null) throw absent(from);
            // The content of a directory moves with it, and must not become deeper than a path may be.
            if (stats.isDirectory())
              for (const each of await heldBy(source, oldName, runtime)) mustBeReachable([...namesBelow(to), ...each]);
            await parent(root, to, false, async (target, newName) => {
              if ((await statOf(target, newName)) !== null)
                throw new ToolError(NS_CODES.PathExists, `${JSON.stringify(to)}: it exists already`);
              await mark?.set('present');
              await rename(source.at(oldName), target.at(newName));
            });
            return moved;
          });
        }),
    }),
    defineStandard({
      name: 'tool.fs.Hash',
      description: 'Computes the SHA-256 hash of a file, as hexadecimal.',
      example: 'tool.fs.Hash("notes/today.txt")',
      args: [FILE],
      returns: 'string',
      ...reading,
      async run({ filepath }, runtime) {
        const hash = createHash('sha256');
        await eachChunk(filepath, runtime, (chunk) => void hash.update(chunk));
        return hash.digest('hex');
      },
    }),
    defineStandard({
      name: 'tool.fs.LineCount',
      description: 'Counts the lines of a file. A last line without a line feed counts.',
      example: 'tool.fs.LineCount("notes/today.txt")',
      args: [FILE],
      returns: 'int',
      ...reading,
      async run({ filepath }, runtime) {
        const count = new LineCount();
        await eachChunk(filepath, runtime, (chunk) => count.add(chunk));
        return count.lines;
      },
    }),
    defineStandard({
      name: 'tool.fs.SanitizeFilename',
      description: 'Turns a string into a valid file name: runs of other characters become an underscore.',
      example: 'tool.fs.SanitizeFilename("My Report Final?.docx")',
      args: [{ name: 'name', type: 'string', description: 'the string' }],
      returns: 'string',
      effects: 'none',
      run: ({ name }) => safeName(name),
    }),
  ];
}

async function remove(directory: Anchor, name: string): Promise<string> {
  const stats = await statOf(directory, name);
  if (stats === null) return 'OK';
  if (stats.isDirectory()) await rmdir(directory.at(name));
  else await unlink(directory.at(name));
  return 'OK';
}

function absent(path: string): ToolError {
  return new ToolError(NS_CODES.FileNotFound, `${JSON.stringify(path)}: there is no such file or directory`);
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
