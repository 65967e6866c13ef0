import { ToolError } from '../../src/tools/index.ts';
import { NS_CODES } from '../../src/wire/codes.ts';

/** The errors of the file system as a script sees them. */
const MEANING: Readonly<Record<string, readonly [code: number, message: string]>> = {
  ENOENT: [NS_CODES.FileNotFound, 'there is no such file or directory'],
  ENOTDIR: [NS_CODES.PathTypeMismatch, 'a part of the path is not a directory'],
  EISDIR: [NS_CODES.PathTypeMismatch, 'it is a directory'],
  ENXIO: [NS_CODES.PathTypeMismatch, 'it is not an ordinary file'],
  EEXIST: [NS_CODES.PathExists, 'it exists already'],
  ENOTEMPTY: [NS_CODES.PreconditionFailed, 'the directory is not empty'],
  ELOOP: [NS_CODES.PathViolation, 'this path is not allowed: it leads over a symbolic link'],
  EACCES: [NS_CODES.PermissionDenied, 'permission denied'],
  EPERM: [NS_CODES.PermissionDenied, 'permission denied'],
  EROFS: [NS_CODES.PermissionDenied, 'the file system is read-only'],
  ENOSPC: [NS_CODES.ResourceExhaustion, 'there is no space left'],
  EDQUOT: [NS_CODES.ResourceExhaustion, 'there is no space left'],
};

/** Runs `work`. An error of the system becomes a {@link ToolError} that names the script's path, never a path of the host. */
export async function named<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === null) throw error;
    const [code, message] = MEANING[errno] ?? [NS_CODES.IOFailed, `the file system failed (${errno})`];
    throw new ToolError(code, `${JSON.stringify(path)}: ${message}`, undefined, { cause: error });
  }
}

/** The system's code of an error, such as `ENOENT`; null for any other error. */
export function errnoOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && 'errno' in error ? error.code : null;
}
