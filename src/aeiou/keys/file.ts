import { encodeBase64Url } from '../../crypto/index.ts';
import { KeyError } from '../errors.ts';
import { toUtf8 } from '../utf8.ts';
import { formatKeys, keyFileError, parseKeys } from './format.ts';
import type { KeyInit } from './keyring.ts';

/** Forbidden permissions of a file with private halves: any access by the group or others. */
const FORBIDDEN_WITH_PRIVATE = 0o077;
/** Forbidden permissions of a file with only public halves: write access by the group or others. */
const FORBIDDEN_WITH_PUBLIC = 0o022;
const OWNER_ONLY = 0o600;
const MAX_FILE_BYTES = 1024 * 1024;

/**
 * Reads a key file. On POSIX it must be a regular file of this user or of root that only its owner can access (0600 or less). The
 * check runs on the opened file, so that nobody can exchange it in between. Throws {@link KeyError}: `mode` for the owner and the
 * permissions, `file` for everything else.
 */
export function loadKeyFile(path: string): readonly KeyInit[] {
  return readKeyFile(path, FORBIDDEN_WITH_PRIVATE);
}

/**
 * Reads a key file for a verifier. Everyone may read a file that holds public halves alone, but only its owner may write
 * it. A file with a private half must meet the rules of {@link loadKeyFile}, which also names the errors.
 */
export function loadVerifyKeys(path: string): readonly KeyInit[] {
  const keys = readKeyFile(path, FORBIDDEN_WITH_PUBLIC);
  return keys.every((key) => key.alg === 'Ed25519' && !('seed' in key)) ? keys : loadKeyFile(path);
}

/**
 * Writes a key file with mode 0600, completely or not at all: it writes a new file and renames it. Throws {@link KeyError}
 * (`file`) when that fails.
 */
export function saveKeyFile(path: string, keys: readonly KeyInit[]): void {
  savePrivateText(path, formatKeys(keys));
}

/** Writes a text as {@link saveKeyFile} does. */
export function savePrivateText(path: string, text: string): void {
  const fs = needFs();
  const draft = `${path}.${encodeBase64Url(crypto.getRandomValues(new Uint8Array(9)))}.new`;
  try {
    const file = fs.openSync(draft, 'wx', OWNER_ONLY);
    try {
      fs.writeFileSync(file, toUtf8(text));
      fs.fsyncSync(file);
    } finally {
      fs.closeSync(file);
    }
    fs.renameSync(draft, path);
  } catch (cause) {
    fs.rmSync(draft, { force: true });
    throw keyFileError(`${path} cannot be written: ${reasonOf(cause)}`, { cause });
  }
}

function readKeyFile(path: string, forbidden: number): readonly KeyInit[] {
  return parseKeys(readGuarded(path, forbidden));
}

/** The bytes of a file that only this user can access ({@link loadKeyFile} names the rules and errors). */
export function readPrivateBytes(path: string): Uint8Array {
  return readGuarded(path, FORBIDDEN_WITH_PRIVATE);
}

/** The bytes of a file that only its owner can write. */
export function readOwnedBytes(path: string): Uint8Array {
  return readGuarded(path, FORBIDDEN_WITH_PUBLIC);
}

function readGuarded(path: string, forbidden: number): Uint8Array {
  const fs = needFs();
  const file = openFile(fs, path);
  try {
    const stat = fs.fstatSync(file);
    if (!stat.isFile()) throw keyFileError(`${path} is not a regular file`);
    if (process.platform !== 'win32') {
      if (stat.uid !== 0 && stat.uid !== process.geteuid?.())
        throw new KeyError('mode', `${path} belongs to another user (${stat.uid}), who can change it; copy it, or run: chown`);
      if ((stat.mode & forbidden) !== 0)
        throw new KeyError(
          'mode',
          `others can access ${path} (mode ${(stat.mode & 0o777).toString(8).padStart(4, '0')}); run: chmod 600 ${path}`,
        );
    }
    if (stat.size > MAX_FILE_BYTES) throw keyFileError(`${path} has more than ${MAX_FILE_BYTES} bytes`);
    return fs.readFileSync(file);
  } finally {
    fs.closeSync(file);
  }
}

/** Node's file system, loaded at run time, so that the rest of this folder also loads without Node. */
function needFs(): typeof import('node:fs') {
  const fs = typeof process === 'undefined' ? undefined : process.getBuiltinModule?.('node:fs');
  if (fs === undefined) throw keyFileError('key files need a file system; use parseKeys here');
  return fs;
}

function openFile(fs: typeof import('node:fs'), path: string): number {
  try {
    // Without O_NONBLOCK, opening a named pipe would wait for a writer.
    return fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  } catch (cause) {
    throw keyFileError(`${path} cannot be read: ${reasonOf(cause)}`, { cause });
  }
}

/** A sentence for a missing file, which is the usual cause; otherwise the system's message. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if (!('code' in cause) || typeof cause.code !== 'string') return cause.message;
  if (cause.code === 'ENOENT') return 'there is no such file or folder';
  const errno = 'errno' in cause && typeof cause.errno === 'number' ? cause.errno : null;
  return errno === null ? cause.code : process.getBuiltinModule('node:util').getSystemErrorMessage(errno);
}
