import {
  type CryptoPort,
  defaultCrypto,
  ED25519_KEY_BYTES,
  ED25519_TAG_BYTES,
  HS256_TAG_BYTES,
  publicKeyFault,
} from '../../crypto/index.ts';
import { checkMethods, checkObject, checkObjects } from '../arguments.ts';
import { KeyError } from '../errors.ts';
import { type Lifetimes, resolveLifetimes, secondsOf, type TokenClock } from '../lifetimes.ts';

/** Ed25519 is the default. HS256 is for deployments where one process mints and verifies. */
export type Algorithm = 'Ed25519' | 'HS256';

/**
 * `primary` signs the tokens of programs. `fallback` signs aborts when the primary fails. The others only verify: `next-primary` and
 * `next-fallback` are keys that every host shall know before one signs with them, `retired` is a key that was rotated out, or another host's
 * public key.
 */
export type KeyRole = 'primary' | 'fallback' | 'next-primary' | 'next-fallback' | 'retired';

/**
 * Signs with one key. A local key returns the tag at once; a key service or an agent process returns a promise and should
 * stop when `signal` is aborted. An error means that the signer is unavailable.
 */
export interface Signer {
  /** Id of the key. */
  readonly kid: string;
  /** Algorithm of the key. */
  readonly alg: Algorithm;
  /** Returns the tag of `message`. */
  sign(message: Uint8Array, signal: AbortSignal): Uint8Array | Promise<Uint8Array>;
}

/** A key as verifiers use it. The keyring sets its algorithm; a token cannot choose one. */
export interface VerifyKey {
  /** Id of the key. */
  readonly kid: string;
  /** Algorithm of the key. */
  readonly alg: Algorithm;
  /** Length of this key's tags in bytes. */
  readonly tagBytes: number;
  /** Whether the tag belongs to the message. Never throws. */
  verify(message: Uint8Array, tag: Uint8Array): boolean;
}

/** Finds the {@link VerifyKey} of a kid; a {@link Keyring} is one implementation. */
export interface KeyLookup {
  /** Null for a key that is unknown or no longer valid. */
  lookup(kid: string): VerifyKey | null;
}

interface KeyInitBase {
  /** 1 to 64 characters out of `A–Z a–z 0–9 . _ -`. */
  readonly kid: string;
  readonly role: KeyRole;
  /** Last Unix second at which a retired key verifies; without it, the key verifies until it is removed. */
  readonly verifyUntil?: number | undefined;
}

/** A key to register: a seed, a public key with or without a remote signer, or a shared secret. */
export type KeyInit = KeyInitBase &
  (
    | {
        readonly alg: 'Ed25519';
        /** The seed of 32 bytes of a key that signs in this process. */
        readonly seed: Uint8Array;
      }
    /** A public key of 32 bytes. It signs if a `signer` elsewhere holds its seed. */
    | { readonly alg: 'Ed25519'; readonly publicKey: Uint8Array; readonly signer?: Signer['sign'] }
    /** A shared secret, with which one process mints and verifies. */
    | { readonly alg: 'HS256'; readonly secret: Uint8Array }
  );

/** The public facts of a registered key. */
export interface KeyInfo {
  /** Id of the key, as tokens name it. */
  readonly kid: string;
  /** Algorithm of the key. */
  readonly alg: Algorithm;
  /** The role of the key. */
  readonly role: KeyRole;
  /** Null for HS256, which has no public half. */
  readonly publicKey: Uint8Array | null;
  /** Whether this host can sign with it. */
  readonly canSign: boolean;
  /** Last Unix second at which a retired key verifies; null when it has no end. */
  readonly verifyUntil: number | null;
}

/** Options of a {@link Keyring}. */
export interface KeyringOptions {
  /** Decides when a retired key ends. */
  readonly clock: TokenClock;
  /** How long tokens and retired keys are valid; `DEFAULT_LIFETIMES` for absent fields. */
  readonly lifetimes?: Partial<Lifetimes> | undefined;
  /** HS256 keys are refused unless this is true. */
  readonly allowHs256?: boolean;
  /** Node's cryptography when absent. */
  readonly crypto?: CryptoPort;
}

interface Entry {
  readonly info: KeyInfo;
  readonly key: VerifyKey;
  readonly signer: Signer | null;
  /** Identifies the key material: two entries have equal values exactly when their material is equal. */
  readonly identity: Uint8Array;
}

const KID = /^[A-Za-z0-9._-]{1,64}$/;

/** Throws {@link KeyError} (`kid`) for what cannot name a key. */
export function checkKid(kid: unknown): void {
  if (typeof kid !== 'string' || !KID.test(kid))
    throw new KeyError('kid', 'a kid has 1 to 64 characters out of A-Z a-z 0-9 . _ -');
}

const MIN_SECRET_BYTES = 32;

/**
 * The keys of one host, by kid. It holds at most one primary and one fallback key. A kid always means the same key. Public
 * keys on whose signatures platforms could disagree are refused.
 */
export class Keyring implements KeyLookup {
  #entries = new Map<string, Entry>();
  readonly #clock: TokenClock;
  readonly #lifetimes: Lifetimes;
  readonly #allowHs256: boolean;
  readonly #crypto: CryptoPort;

  constructor(options: KeyringOptions) {
    checkObject('the options of a Keyring', options);
    checkMethods('the clock of a Keyring', options.clock, 'now');
    this.#clock = options.clock;
    this.#lifetimes = resolveLifetimes(options.lifetimes);
    this.#allowHs256 = options.allowHs256 ?? false;
    this.#crypto = options.crypto ?? defaultCrypto;
  }

  /**
   * Registers a key. Registering the same key again changes nothing. Throws {@link KeyError} (`ERR_KEY`) for a known kid with
   * other material, algorithm or role, and for a second key of a role but `retired`.
   */
  add(init: KeyInit): void {
    const entry = this.#entryOf(init);
    const known = this.#entries.get(init.kid);
    if (known !== undefined) {
      if (sameKey(known, entry) && known.info.role === entry.info.role) return;
      throw new KeyError('duplicate', `the kid '${init.kid}' is registered already, with another key or role`);
    }
    if (init.role !== 'retired' && this.#holder(init.role) !== null)
      throw new KeyError('role', `there is a ${init.role} key already; use rotate to replace it`);
    this.#entries.set(init.kid, entry);
  }

  /**
   * Makes `init` the key of its role. The replaced key still verifies for the longest `ttl` plus the buffer, so that its tokens stay
   * valid, and no longer; the next rotation drops it. Throws {@link KeyError}.
   */
  rotate(init: KeyInit & { readonly role: 'primary' | 'fallback' }): void {
    this.#dropExpired();
    if (this.#entries.has(init.kid)) throw new KeyError('duplicate', `the kid '${init.kid}' is registered already`);
    const entry = this.#entryOf(init);
    const old = this.#holder(init.role);
    if (old !== null) this.#retire(old);
    this.#entries.set(init.kid, entry);
  }

  /** Holds these keys and no others from now on, as a key file has them now. Throws {@link KeyError}, and then changes nothing. */
  replace(keys: readonly KeyInit[]): void {
    const options = { clock: this.#clock, lifetimes: this.#lifetimes, allowHs256: this.#allowHs256, crypto: this.#crypto };
    this.#entries = keyringFrom(keys, options).#entries;
  }

  /** Null for an unknown kid and for a retired key past its time. */
  lookup(kid: string): VerifyKey | null {
    const entry = this.#entries.get(kid);
    return entry === undefined || this.#isOver(entry) ? null : entry.key;
  }

  /** The signer of a role; null when there is no such key or when this host cannot sign with it. */
  signer(role: 'primary' | 'fallback'): Signer | null {
    return this.#holder(role)?.signer ?? null;
  }

  /** Removes a retired key at once, for instance a stolen one. False for an unknown kid. Throws {@link KeyError} for a key in use. */
  remove(kid: string): boolean {
    const role = this.#entries.get(kid)?.info.role;
    if (role === 'primary' || role === 'fallback') throw new KeyError('role', `'${kid}' is the ${role} key; rotate it first`);
    return this.#entries.delete(kid);
  }

  /** The public facts of every key, in the order of registration. */
  list(): readonly KeyInfo[] {
    return [...this.#entries.values()].filter((entry) => !this.#isOver(entry)).map(({ info }) => info);
  }

  #holder(role: KeyRole): Entry | null {
    for (const entry of this.#entries.values()) if (entry.info.role === role) return entry;
    return null;
  }

  #retire(entry: Entry): void {
    const verifyUntil = secondsOf(this.#clock) + this.#lifetimes.maxTtl + this.#lifetimes.rotationBuffer;
    const info: KeyInfo = Object.freeze({ ...entry.info, role: 'retired', canSign: false, verifyUntil });
    this.#entries.set(info.kid, { ...entry, info, signer: null });
  }

  /** Whether the time of a retired key is over. Looking drops no key: the clock may be ahead for a moment, and set back. */
  #isOver({ info: { verifyUntil } }: Entry): boolean {
    return verifyUntil !== null && secondsOf(this.#clock) > verifyUntil;
  }

  #dropExpired(): void {
    for (const [kid, entry] of this.#entries) if (this.#isOver(entry)) this.#entries.delete(kid);
  }

  #entryOf(init: KeyInit): Entry {
    checkObject('a key', init);
    checkKid(init.kid);
    if (init.verifyUntil !== undefined && (init.role !== 'retired' || !Number.isSafeInteger(init.verifyUntil)))
      throw new KeyError('role', `verifyUntil of '${init.kid}' must be a whole Unix second, and only a retired key has one`);
    return init.alg === 'HS256' ? this.#sharedEntry(init) : this.#ed25519Entry(init);
  }

  #sharedEntry(init: KeyInit & { readonly alg: 'HS256' }): Entry {
    const { kid, secret } = init;
    if (!this.#allowHs256) throw new KeyError('alg', `the key '${kid}' is HS256, which is switched off (allowHs256)`);
    if (!(secret instanceof Uint8Array) || secret.length < MIN_SECRET_BYTES)
      throw new KeyError('material', `the secret of '${kid}' must have at least ${MIN_SECRET_BYTES} bytes`);
    const mac = this.#crypto.hmacSha256(secret);
    const { equal } = this.#crypto;
    return {
      info: infoOf(init, null, true),
      key: {
        kid,
        alg: 'HS256',
        tagBytes: HS256_TAG_BYTES,
        verify: (message, tag) => equal(mac(message), tag),
      },
      signer: mayUse(init.role) ? { kid, alg: 'HS256', sign: mac } : null,
      identity: this.#crypto.sha256(secret),
    };
  }

  #ed25519Entry(init: KeyInit & { readonly alg: 'Ed25519' }): Entry {
    const { kid, role } = init;
    const publicKey = this.#publicKeyOf(init);
    const verifier = this.#crypto.ed25519Verifier(publicKey);
    if ((role === 'fallback' || role === 'next-fallback') && !('seed' in init))
      throw new KeyError('role', `the ${role} key '${kid}' must be held in memory: give its seed`);
    const sign = 'seed' in init ? this.#crypto.ed25519Signer(init.seed) : checkedSigner(kid, init.signer, verifier);
    const signer: Signer | null = sign === undefined || !mayUse(role) ? null : { kid, alg: 'Ed25519', sign };
    return {
      info: infoOf(init, publicKey, signer !== null),
      key: { kid, alg: 'Ed25519', tagBytes: ED25519_TAG_BYTES, verify: verifier },
      signer,
      identity: publicKey,
    };
  }

  #publicKeyOf(init: KeyInit & { readonly alg: 'Ed25519' }): Uint8Array {
    const [what, bytes] = 'seed' in init ? ['seed', init.seed] : ['public key', init.publicKey];
    if (!(bytes instanceof Uint8Array) || bytes.length !== ED25519_KEY_BYTES)
      throw new KeyError('material', `the ${what} of '${init.kid}' must have ${ED25519_KEY_BYTES} bytes`);
    // The key of a seed is the base point times a number that the group's order does not divide, so it has none of the faults.
    if ('seed' in init) return this.#crypto.ed25519PublicKey(bytes);
    const publicKey = Uint8Array.from(bytes);
    const fault = publicKeyFault(publicKey);
    if (fault !== null) throw new KeyError(fault, `the public key of '${init.kid}' ${FAULTS[fault]}`);
    return publicKey;
  }
}

/** A keyring that holds the given keys. Throws {@link KeyError}. */
export function keyringFrom(keys: readonly KeyInit[], options: KeyringOptions): Keyring {
  checkObjects('the keys', keys);
  const keyring = new Keyring(options);
  for (const key of keys) keyring.add(key);
  return keyring;
}

const FAULTS = {
  not_canonical: 'is not the canonical encoding of a point on the curve',
  small_order: 'has small order: forged signatures would verify',
  torsion: 'lies outside the prime-order group: platforms would disagree on its signatures',
} as const;

/** Verifies every tag of a remote signer, which may have the wrong key or fail. */
function checkedSigner(kid: string, sign: Signer['sign'] | undefined, verify: VerifyKey['verify']): Signer['sign'] | undefined {
  if (sign === undefined) return undefined;
  return async (message, signal) => {
    const tag = await sign(message, signal);
    if (!(tag instanceof Uint8Array) || !verify(message, tag))
      throw new KeyError('material', `the signer of '${kid}' gave a tag that its public key does not verify`);
    return tag;
  };
}

function infoOf(init: KeyInit, publicKey: Uint8Array | null, canSign: boolean): KeyInfo {
  const { kid, alg, role, verifyUntil } = init;
  return Object.freeze({ kid, alg, role, publicKey, canSign: canSign && mayUse(role), verifyUntil: verifyUntil ?? null });
}

/** Whether a host signs with keys of a role. */
function mayUse(role: KeyRole): boolean {
  return role === 'primary' || role === 'fallback';
}

function sameKey(a: Entry, b: Entry): boolean {
  return (
    a.info.alg === b.info.alg && a.identity.length === b.identity.length && a.identity.every((byte, i) => byte === b.identity[i])
  );
}
