import { type CryptoPort, defaultCrypto, ED25519_KEY_BYTES } from '../../crypto/index.ts';
import { checkObject, checkObjects } from '../arguments.ts';
import { KeyError } from '../errors.ts';
import { checkWholeNumber, type Lifetimes, resolveLifetimes } from '../lifetimes.ts';
import { checkKid, type KeyInit, type KeyRole } from './keyring.ts';

/** Two new Ed25519 keys: `<name>-primary` and `<name>-fallback`. Throws {@link KeyError} (`kid`) for a name that makes no kids. */
export function generateKeys(name: string): readonly KeyInit[] {
  return [newKey(`${name}-primary`, 'primary'), newKey(`${name}-fallback`, 'fallback')];
}

/** The public halves of the Ed25519 keys, for verifiers elsewhere. Each becomes a retired key. */
export function publicKeys(keys: readonly KeyInit[], crypto: CryptoPort = defaultCrypto): readonly KeyInit[] {
  checkObjects('the keys', keys);
  return keys.flatMap((key) => {
    if (key.alg === 'HS256') return [];
    const publicKey = 'seed' in key ? crypto.ed25519PublicKey(key.seed) : key.publicKey;
    return [{ kid: key.kid, role: 'retired' as const, alg: key.alg, publicKey, verifyUntil: key.verifyUntil }];
  });
}

/** Options of {@link rotateKeys}. */
export interface RotationOptions {
  /** The role whose key is replaced. */
  readonly role: 'primary' | 'fallback';
  /** Unix seconds; fractions are dropped. */
  readonly now: number;
  /** Name of the new key; by default the old name with the next number appended. */
  readonly kid?: string | undefined;
  /** The time for which the replaced key still verifies; `DEFAULT_LIFETIMES` for absent fields. */
  readonly lifetimes?: Partial<Lifetimes> | undefined;
  /** Makes the new key; Node's cryptography when absent. */
  readonly crypto?: CryptoPort;
}

/** The result of {@link rotateKeys}. */
export interface Rotation {
  /** All keys after the rotation, for a key file. They contain secrets. */
  readonly keys: readonly KeyInit[];
  /** Name of the new key. */
  readonly minted: string;
  /** The replaced key; null when the role was empty. */
  readonly retired: { readonly kid: string; readonly verifyUntil: number } | null;
  /** Names of the retired keys whose time was over. */
  readonly dropped: readonly string[];
}

/**
 * Puts an Ed25519 key into one role and returns the keys of the file after the rotation: the announced key of {@link announceKey} if there is
 * one, else a new one. The old key loses its private half and still verifies for the longest `ttl` plus the buffer. Retired keys whose time
 * is over are dropped. Throws {@link KeyError}: `duplicate` for a name that is taken, `kid` for one that is not a kid.
 */
export function rotateKeys(keys: readonly KeyInit[], options: RotationOptions): Rotation {
  const { role } = checked(keys, options);
  const { maxTtl, rotationBuffer } = resolveLifetimes(options.lifetimes);
  const now = checkWholeNumber('now of rotateKeys', Math.floor(options.now), 0);
  const announced = keys.find((key) => key.role === `next-${role}`);
  const successor = announced === undefined ? newKey(nameOf(keys, options), role) : { ...announced, role };
  const old = keys.find((key) => key.role === role);
  const verifyUntil = now + maxTtl + rotationBuffer;
  const dropped = keys.filter((key) => key.verifyUntil !== undefined && now > key.verifyUntil);
  const kept = keys
    .filter((key) => key !== announced && !dropped.includes(key))
    .flatMap((key) => (key === old ? retire(key, verifyUntil, options.crypto) : [key]));
  return {
    keys: [successor, ...kept],
    minted: successor.kid,
    retired: old === undefined ? null : { kid: old.kid, verifyUntil },
    dropped: dropped.map((key) => key.kid),
  };
}

/**
 * The keys with a new key beside them that verifies and does not sign, for hosts that must all know it before {@link rotateKeys} puts it into
 * its role. The same keys where one is announced already. Throws as {@link rotateKeys} does.
 */
export function announceKey(
  keys: readonly KeyInit[],
  options: Pick<RotationOptions, 'role' | 'kid'>,
): { readonly keys: readonly KeyInit[]; readonly kid: string } {
  const { role } = checked(keys, options);
  const announced = keys.find((key) => key.role === `next-${role}`);
  if (announced !== undefined) return { keys, kid: announced.kid };
  const kid = nameOf(keys, options);
  return { keys: [...keys, newKey(kid, `next-${role}`)], kid };
}

function checked<Options extends Pick<RotationOptions, 'role'>>(keys: readonly KeyInit[], options: Options): Options {
  checkObjects('the keys', keys);
  checkObject('the options of a rotation', options);
  if (options.role === 'primary' || options.role === 'fallback') return options;
  throw new KeyError('role', `the role to rotate must be primary or fallback, got '${String(options.role)}'`);
}

/** The name of the key that follows in a role. */
function nameOf(keys: readonly KeyInit[], { role, kid }: Pick<RotationOptions, 'role' | 'kid'>): string {
  const name = kid ?? nextName(keys.find((key) => key.role === role)?.kid ?? role, keys);
  if (keys.some((key) => key.kid === name)) throw new KeyError('duplicate', `the kid '${name}' is in the file already`);
  return name;
}

function newKey(kid: string, role: Exclude<KeyRole, 'retired'>): KeyInit {
  checkKid(kid);
  return { kid, role, alg: 'Ed25519', seed: crypto.getRandomValues(new Uint8Array(ED25519_KEY_BYTES)) };
}

/** The retired form of a key. A shared secret has no public half and must stay, or its tokens could not be verified. */
function retire(key: KeyInit, verifyUntil: number, crypto: CryptoPort | undefined): readonly KeyInit[] {
  if (key.alg === 'HS256') return [{ kid: key.kid, role: 'retired', alg: 'HS256', secret: key.secret, verifyUntil }];
  return publicKeys([key], crypto).map((half) => ({ ...half, verifyUntil }));
}

/** `main-primary` → `main-primary-2` → `main-primary-3`; skips names that are taken. */
function nextName(old: string, keys: readonly KeyInit[]): string {
  const [, stem = old, number = '1'] = /^(.*?)-(\d{1,6})$/.exec(old) ?? [];
  for (let next = Number(number) + 1; ; next++) {
    const kid = `${stem}-${next}`;
    if (!keys.some((key) => key.kid === kid)) return kid;
  }
}
