import { ToolError } from '../../src/tools/index.ts';
import { NS_CODES } from '../../src/wire/codes.ts';

/** Deepest nesting of directories. */
const MAX_DEPTH = 32;
/** Most UTF-8 bytes of one name, as file systems have it. */
const NAME_BYTES = 255;
/** Most UTF-8 bytes of a path: with the directory's own path before it, it must stay one that the system can remove. */
const PATH_BYTES = 2048;

/** What half-written files are called; no path of a script may name one. */
export const UNFINISHED = '.neuroscript-';

/** Names that mean a device on some systems, with whatever ending. */
const DEVICES = /^(con|prn|aux|nul|com\d|lpt\d)(\..*)?$/i;
// The control characters, and what starts a stream of a file, a drive or a network path on some systems.
const FORBIDDEN = /[\u0000-\u001f\u007f\\:]/;

/**
 * The names of a path inside of the session's directory, none for the directory itself. Only what means the same file on
 * every system and under every form of writing is a path. Throws {@link ToolError}: 4 for no path at all, 34 for one that
 * could lead anywhere else.
 */
export function namesOf(path: string): readonly string[] {
  if (path === '') throw new ToolError(NS_CODES.ArgMismatch, "a path must not be empty; '.' is the directory itself");
  if (path.startsWith('/')) throw violation('it must be relative');
  if (FORBIDDEN.test(path)) throw violation("it must be without '\\', ':' and control characters");
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  mustBeReachable(names);
  for (const name of names) {
    if (name === '..') throw violation("it must be without '..'");
    if (Buffer.byteLength(name) > NAME_BYTES) throw violation(`a name may have ${NAME_BYTES} bytes`);
    if (/[. ]$/.test(name)) throw violation('a name must not end with a dot or a blank');
    if (DEVICES.test(name)) throw violation(`'${name}' is the name of a device on some systems`);
    if (name.startsWith(UNFINISHED)) throw violation(`names that start with ${UNFINISHED} are taken`);
  }
  return names;
}

/** Throws {@link ToolError} 34 for names that lie deeper than anybody who has to remove them by their path could reach. */
export function mustBeReachable(names: readonly string[]): void {
  if (names.length > MAX_DEPTH) throw violation(`it must have ${MAX_DEPTH} levels at most`);
  if (Buffer.byteLength(names.join('/')) > PATH_BYTES) throw violation(`it may have ${PATH_BYTES} bytes`);
}

/** As {@link namesOf}, for a path that must not be the directory itself. */
export function namesBelow(path: string): readonly [string, ...string[]] {
  const [first, ...rest] = namesOf(path);
  if (first === undefined) throw new ToolError(NS_CODES.ArgMismatch, 'that is the directory itself');
  return [first, ...rest];
}

/** A name that {@link namesOf} takes, made from any text: what could not stand in one becomes `_`. */
export function safeName(text: string): string {
  const name = text
    .replace(/[^\p{L}\p{N}._-]+/gu, '_')
    .replace(/^[._]+|[._]+$/g, '')
    .slice(0, 100)
    .toWellFormed()
    .replace(/[._]+$/, '');
  return name === '' || DEVICES.test(name) ? `_${name}` : name;
}

/** The refusal of a path that leads, or could lead, out of the directory. */
export function violation(problem: string): ToolError {
  return new ToolError(NS_CODES.PathViolation, `this path is not allowed: ${problem}`);
}
