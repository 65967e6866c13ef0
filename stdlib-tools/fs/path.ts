import { ToolError } from '../../src/tools/index.ts';
import { NS_CODES } from '../../src/wire/codes.ts';

const MAX_DEPTH = 32;
/** Maximum UTF-8 bytes of one name, as in most file systems. */
const NAME_BYTES = 255;
/** Maximum UTF-8 bytes of a path, so that the system can remove it together with the directory's own path. */
const PATH_BYTES = 2048;

/** Prefix of temporary files. Scripts may not use it. */
export const TEMPORARY = '.neuroscript-';

/** Prefix of the marks of calls. It extends that of temporary files; marks stay longer. */
export const MARK = `${TEMPORARY}call-`;

/** Names of devices on some systems, also with an extension. */
const DEVICES = /^(con|prn|aux|nul|com\d|lpt\d)(\..*)?$/i;
// Control characters, and the characters that mark streams, drives and network paths on some systems.
const FORBIDDEN = /[\u0000-\u001f\u007f\\:]/;

/**
 * The names of a path in the session's directory; none for the directory itself. A path must mean the same file on every
 * system. Throws {@link ToolError}: 4 for an empty path, 34 for a path that could lead elsewhere.
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
    if (name.startsWith(TEMPORARY)) throw violation(`names that start with ${TEMPORARY} are taken`);
  }
  return names;
}

/** Throws {@link ToolError} 34 if the names lie too deep to be removed by their path. */
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

/** Turns any text into a name that {@link namesOf} accepts: runs of other characters become `_`. */
export function safeName(text: string): string {
  const inner = withoutOuterMarks(text.replace(/[^\p{L}\p{N}._-]+/gu, '_'));
  const name = withoutOuterMarks(inner.slice(0, 100).toWellFormed());
  return name === '' || DEVICES.test(name) ? `_${name}` : name;
}

/** Takes dots and underscores off both ends, in linear time: a pattern that ends in `+$` takes quadratic time. */
function withoutOuterMarks(text: string): string {
  const isMark = (index: number): boolean => text[index] === '.' || text[index] === '_';
  let start = 0;
  let end = text.length;
  while (start < end && isMark(start)) start += 1;
  while (end > start && isMark(end - 1)) end -= 1;
  return text.slice(start, end);
}

/** The error for a path that leads, or could lead, out of the directory. */
export function violation(problem: string): ToolError {
  return new ToolError(NS_CODES.PathViolation, `this path is not allowed: ${problem}`);
}
