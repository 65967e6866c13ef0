import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from './errors.ts';
import { violation } from './path.ts';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;

/**
 * An open directory, and access to the names in it. On Linux a name is reached through the descriptor, so it stays in this
 * directory even if the path to the directory changes. On other systems it is reached through the path, which is checked again
 * afterwards.
 */
export class Anchor implements AsyncDisposable {
  readonly #handle: FileHandle;
  readonly #path: string;

  private constructor(handle: FileHandle, path: string) {
    this.#handle = handle;
    this.#path = path;
  }

  /** Opens a directory, but not through a symbolic link. Rejects as the file system does. */
  static async open(path: string): Promise<Anchor> {
    return new Anchor(await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), path);
  }

  /** The path that reaches a name of this directory now. */
  at(name: string): string {
    return process.platform === 'linux' ? `/proc/self/fd/${this.#handle.fd}/${name}` : join(this.#path, name);
  }

  /** The path of this directory itself, for listing. */
  get here(): string {
    return process.platform === 'linux' ? `/proc/self/fd/${this.#handle.fd}/.` : this.#path;
  }

  /** Opens a directory in this one, and makes it if it is absent and `create` is true. Rejects as the file system does. */
  async enter(name: string, create: boolean): Promise<Anchor> {
    if (create)
      await mkdir(this.at(name), 0o700).catch((error: unknown) => {
        if (errnoOf(error) !== 'EEXIST') throw error;
      });
    try {
      return new Anchor(await open(this.at(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW), join(this.#path, name));
    } catch (error) {
      // For O_DIRECTORY on a link, Linux reports ENOTDIR instead of ELOOP.
      if (errnoOf(error) === 'ENOTDIR' && (await lstat(this.at(name))).isSymbolicLink())
        throw violation('it leads over a symbolic link');
      throw error;
    }
  }

  /** Rejects with `ToolError` 34 if the path to this directory now leads elsewhere; the caller must then discard its result. */
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
