import { encodeBase64Url, KeyError, type KeyInfo, type KeyInit, keyringFrom, parseKeys, secondsOf } from '../../aeiou/index.ts';
import { EXPORT_FORMAT, systemClock } from '../../loop/index.ts';
import { counted, timeText } from '../../report/index.ts';
import { isRecord } from '../../wire/unknown.ts';
import { type Artefact, type Flaw, type Found, jsonOf, type Kind, unreadable } from './kind.ts';

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

/**
 * Key files. A private half never appears in facts or messages, and no other kind may show lines of such a
 * file.
 */
export const KEYS: Kind = {
  kind: 'keys',
  what: 'a key file',
  recognize(artefact: Artefact): Found | string {
    const { text, bytes } = artefact;
    if (text === null) return 'it is no text';
    if (bytes.length > MOST_BYTES) return 'it is larger than 1MB, as no key file is';
    if (!MATERIAL.test(text) || !isKeyFile(text)) return "it has no 'keys' with 'kid' and 'seed', 'public' or 'secret'";
    try {
      return found(parseKeys(text), artefact);
    } catch (error) {
      return unreadable('a key file', flawOf(error), { private: null, others: null, keys: [] }, NEXT);
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

/** Whether a key can be used now, and for what. */
type State = 'signs' | 'signs when the primary cannot' | 'verifies' | 'expired';

function found(keys: readonly KeyInit[], { mode }: Artefact): Found {
  const rings = keys.map((key) => ({ key, info: infoOf(key) }));
  const infos = rings.flatMap(({ info }) => ('code' in info ? [] : [info]));
  const hasPrivate = keys.some((key) => 'seed' in key || 'secret' in key);
  const open = mode === null ? null : (mode & 0o077) !== 0;
  const shown = rings.flatMap(({ key, info }) => ('code' in info ? [] : [factsOf(key, info)]));
  const exposed = hasPrivate && open === true;
  return {
    title: hasPrivate ? 'a key file with private keys' : 'a file of public keys',
    sure: 'certain',
    error: rings.flatMap(({ info }) => ('code' in info ? [info] : []))[0] ?? clash(keys),
    facts: { private: hasPrivate, others: open, keys: shown },
    lines: [
      ...(exposed ? ['OTHERS CAN READ IT: chmod 600, and think of its private keys as known'] : []),
      ...(hasPrivate ? ['private halves are in it, and not shown'] : []),
      `${counted(infos.length, 'key')}; ${signerLine(shown)}`,
      ...shown.map(({ kid, role, alg, public: half, verifyUntil, state }) => {
        const until = verifyUntil === null ? '' : `  until ${verifyUntil}`;
        return `${kid}  ${role}  ${alg}  ${half ?? '-'}${until}  ${state}`;
      }),
    ],
    next: hasPrivate ? NEXT : '"neuroscript token verify --keys FILE" verifies tokens with it.',
  };
}

/** Reads each key by itself, so that an unusable one does not hide the others. */
function infoOf(key: KeyInit): KeyInfo | Flaw {
  try {
    const [info] = keyringFrom([key], { clock: LONG_AGO, allowHs256: true }).list();
    return info ?? { code: KeyError.code, message: `the key '${key.kid}' cannot be used`, line: null };
  } catch (error) {
    return flawOf(error);
  }
}

function flawOf(error: unknown): Flaw {
  if (!(error instanceof KeyError)) throw error;
  return { code: error.code, message: error.message, line: null };
}

/** Expired keys are included. */
const LONG_AGO = { now: () => 0 };

/** The error of the keys together: a duplicate role or name. */
function clash(keys: readonly KeyInit[]): Flaw | null {
  try {
    keyringFrom(keys, { clock: LONG_AGO, allowHs256: true });
    return null;
  } catch (error) {
    return flawOf(error);
  }
}

interface KeyFacts {
  readonly kid: string;
  readonly role: string;
  readonly alg: string;
  readonly public: string | null;
  readonly private: boolean;
  readonly verifyUntil: string | null;
  readonly state: State;
}

function factsOf(key: KeyInit, { kid, role, alg, publicKey, canSign, verifyUntil }: KeyInfo): KeyFacts {
  const expired = verifyUntil !== null && verifyUntil < secondsOf(systemClock);
  const signs: State = role === 'fallback' ? 'signs when the primary cannot' : 'signs';
  return {
    ...{ kid, role, alg },
    public: publicKey === null ? null : encodeBase64Url(publicKey),
    private: 'seed' in key || 'secret' in key,
    verifyUntil: verifyUntil === null ? null : timeText(verifyUntil * 1000),
    state: expired ? 'expired' : canSign && role !== 'retired' ? signs : 'verifies',
  };
}

function signerLine(keys: readonly KeyFacts[]): string {
  const active = keys.find(({ state }) => state === 'signs');
  return active === undefined ? 'none of them signs' : `${active.kid} signs what programs ask for`;
}
