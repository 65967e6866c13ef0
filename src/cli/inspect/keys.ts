import { KeyError, type KeyInit, keyringFrom, parseKeys } from '../../aeiou/index.ts';
import { EXPORT_FORMAT, systemClock } from '../../loop/index.ts';
import { counted } from '../../report/index.ts';
import { isRecord } from '../../wire/unknown.ts';
import { keyLines, keyRows } from '../commands/keys.ts';
import { type Artefact, type Found, jsonOf, type Kind, unreadable, whole } from './kind.ts';

const MATERIAL = /"(?:seed|public|secret)"\s*:/;
/** A private half in a key file. */
const PRIVATE = /"(?:seed|secret)"\s*:\s*"[A-Za-z0-9_-]{16}/;
/** The beginning of a key file; it also identifies a truncated one, which no other kind may show. */
const BEGINNING = /^\s*\{\s*(?:"version"\s*:\s*\d+\s*,\s*)?"keys"\s*:/;

/** Whether a text seems to hold the private half of a key; then no kind may show its lines. */
export function holdsPrivate(text: string): boolean {
  return PRIVATE.test(text);
}

/** Maximum bytes of a key file. */
const MOST_BYTES = 1024 * 1024;

/** Key files. A private half never appears in reports or messages, and no other kind may show lines of such a file. */
export const KEYS: Kind = {
  kind: 'keys',
  what: 'a key file',
  recognize(artefact: Artefact): Found | string {
    const { text, bytes } = artefact;
    if (text === null) return 'it is not text';
    if (bytes.length > MOST_BYTES) return 'it is larger than 1MB, the limit of a key file';
    if (!MATERIAL.test(text) || !isKeyFile(text)) return "it has no 'keys' with 'kid' and 'seed', 'public' or 'secret'";
    try {
      return found(parseKeys(text), artefact);
    } catch (error) {
      if (error instanceof KeyError) return unreadable('a key file', error, NEXT);
      throw error;
    }
  },
};

/**
 * Whether a text is a whole or damaged key file. In valid JSON the keys must be in the right place, because sessions and turns
 * mention keys too.
 */
function isKeyFile(text: string): boolean {
  if (BEGINNING.test(text)) return true;
  const value = jsonOf(text);
  if (value !== undefined) return hasKeys(value);
  return PRIVATE.test(text) && text.includes('"kid"') && !text.includes('<<<NSENV:') && !text.includes(EXPORT_FORMAT);
}

/** Whether a value is the content of a key file; it may have other fields too. */
function hasKeys(value: unknown): boolean {
  const keys = isRecord(value) ? value['keys'] : null;
  return (
    Array.isArray(keys) &&
    keys.some((key) => isRecord(key) && 'kid' in key && ['seed', 'public', 'secret'].some((name) => name in key))
  );
}

const NEXT = 'Never share a key file: "neuroscript keys export-public FILE" prints the public part for others.';

function found(keys: readonly KeyInit[], { mode }: Artefact): Found {
  const rows = keyRows(keyringFrom(keys, { clock: systemClock, allowHs256: true }));
  const hasPrivate = keys.some((key) => 'seed' in key || 'secret' in key);
  const exposed = hasPrivate && mode !== null && (mode & 0o077) !== 0;
  const signer = rows.find(({ role, canSign }) => role === 'primary' && canSign);
  const expired = keys.length - rows.length;
  return whole({
    form: hasPrivate ? 'private' : 'public',
    title: hasPrivate ? 'a key file with private keys' : 'a file of public keys',
    report: rows,
    lines: [
      ...(exposed ? ['OTHERS CAN READ IT: chmod 600, and think of its private keys as known'] : []),
      ...(hasPrivate ? ['private halves are in it, and not shown'] : []),
      `${counted(rows.length, 'key')}; ${signer === undefined ? 'none of them signs' : `${signer.kid} signs what programs ask for`}`,
      ...keyLines(rows),
      ...(expired === 0 ? [] : [`${counted(expired, 'key')} more, expired`]),
    ],
    next: hasPrivate ? NEXT : '"neuroscript token verify --keys FILE" verifies tokens with it.',
  });
}
