import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { violation } from './path.ts';
import { errnoOf } from './problem.ts';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;

/**
 * An open directory, and the way to the names in it. On Linux a name is reached through the descriptor, so it stays in this
 * directory whatever anybody does to the path that led here; elsewhere through the path, which is checked again afterwards.
 */
export class Anchor implements AsyncDisposable {
  readonly #handle: FileHandle;
  readonly #path: string;

  private constructor(handle: FileHandle, path: string) {
    this.#handle = handle;
    this.#path = path;
  }

  /** Opens a directory that is no symbolic link. Rejects as the file system does. */
  static async open(path: string): Promise<Anchor> {
    return new Anchor(await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), path);
  }

  /** The path by which a name of this directory is to be reached now. */
  at(name: string): string {
    return process.platform === 'linux' ? `/proc/self/fd/${this.#handle.fd}/${name}` : join(this.#path, name);
  }

  /** This directory itself, for listing. */
  get here(): string {
    return process.platform === 'linux' ? `/proc/self/fd/${this.#handle.fd}/.` : this.#path;
  }

  /** A directory in this one; made if it is absent and `create` says so. Rejects as the file system does, `ELOOP` for a link. */
  async enter(name: string, create: boolean): Promise<Anchor> {
    if (create)
      await mkdir(this.at(name), 0o700).catch((error: unknown) => {
        if (errnoOf(error) !== 'EEXIST') throw error;
      });
    try {
      return new Anchor(await open(this.at(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW), join(this.#path, name));
    } catch (error) {
      // Linux says of a link, asked for a directory, that it is none.
      if (errnoOf(error) === 'ENOTDIR' && (await lstat(this.at(name))).isSymbolicLink())
        throw violation('it leads over a symbolic link');
      throw error;
    }
  }

  /** Rejects with `ToolError` 34 when the path that led here leads elsewhere by now; what was done counts for nothing then. */
  async check(): Promise<void> {
    if (process.platform === 'linux') return;
    const [held, there] = await Promise.all([this.#handle.stat(), lstat(this.#path)]);
    if (held.dev !== there.dev || held.ino !== there.ino) throw violation('a directory was exchanged');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}

/** Walks down from the root and runs `work` in the last directory. */
export async function within<T>(
  root: string,
  names: readonly string[],
  create: boolean,
  work: (directory: Anchor) => Promise<T>,
): Promise<T> {
  await using stack = new AsyncDisposableStack();
  let directory = stack.use(await Anchor.open(root));
  for (const name of names) directory = stack.use(await directory.enter(name, create));
  const result = await work(directory);
  await directory.check();
  return result;
}
