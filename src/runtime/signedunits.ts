import {
  decodeBase64Url,
  defaultCrypto,
  ED25519_KEY_BYTES,
  ED25519_TAG_BYTES,
  encodeBase64Url,
  publicKeyFault,
} from '../crypto/index.ts';
import { ConfigError, NeuroScriptError } from '../wire/errors.ts';
import { checkObject, checkText, listOf } from '../wire/options.ts';
import type { Source } from '../wire/protocol.ts';

/** A library with its signature, as plain JSON. Keys and signatures are base64url without padding. */
export interface SignedUnit {
  /** Names this format. */
  readonly unit: typeof FORMAT;
  /** Shown in positions. */
  readonly name: string;
  /** Text of the library. */
  readonly source: string;
  /** Ed25519 public key of the signer, 32 bytes. */
  readonly key: string;
  /** Ed25519 over format, name and source. */
  readonly signature: string;
}

/** A unit has a wrong signature, or a signer that the interpreter does not trust: `NS99901`. */
export class UnitError extends NeuroScriptError {
  static readonly code = 'NS99901';
  constructor(message: string) {
    super(UnitError.code, message);
  }
}

const FORMAT = 'neuroscript-unit-1';

/** Signs a library with a 32-byte Ed25519 seed. Throws {@link ConfigError} (`ERR_CONFIG`) for a bad name, text or seed. */
export function signUnit(source: Source, seed: Uint8Array): SignedUnit {
  checkObject('the unit', source);
  const { name, text } = source;
  checkText('the name of a unit', name);
  checkText('the text of a unit', text);
  if (!(seed instanceof Uint8Array) || seed.length !== ED25519_KEY_BYTES)
    throw new ConfigError(`the seed of a signer must have ${ED25519_KEY_BYTES} bytes`);
  const signature = defaultCrypto.ed25519Signer(seed)(message(name, text));
  const key = defaultCrypto.ed25519PublicKey(seed);
  return { unit: FORMAT, name, source: text, key: encodeBase64Url(key), signature: encodeBase64Url(signature) };
}

const checkKeys = listOf(checkText);

/** The trusted signers of an interpreter. It checks the signatures of units. */
export class Signers {
  readonly #verifiers = new Map<string, (message: Uint8Array, tag: Uint8Array) => boolean>();

  /** Takes public keys as base64url. Throws {@link ConfigError} (`ERR_CONFIG`) for a bad or weak key. */
  constructor(keys: readonly string[]) {
    checkKeys('signers', keys);
    for (const key of keys) {
      const bytes = fromText(key, ED25519_KEY_BYTES);
      if (bytes === null) throw new ConfigError(`a signer must be the base64url of ${ED25519_KEY_BYTES} bytes`);
      const fault = publicKeyFault(bytes);
      if (fault !== null) throw new ConfigError(`the signer ${key} is not a usable public key (${fault})`);
      this.#verifiers.set(key, defaultCrypto.ed25519Verifier(bytes));
    }
  }

  /** The source of a unit. Throws {@link UnitError} (`NS99901`) unless a trusted signer signed exactly this unit. */
  verify(unit: SignedUnit): Source {
    checkObject('a signed unit', unit);
    const { name, source, key, signature } = unit;
    const texts = [name, source, key, signature].every((part) => typeof part === 'string');
    if (unit.unit !== FORMAT || !texts) throw new UnitError(`a signed unit must have the form ${FORMAT}`);
    const verifier = this.#verifiers.get(key);
    if (verifier === undefined) throw new UnitError(`${name}: the unit was signed with ${key}, which is not a trusted signer`);
    const tag = fromText(signature, ED25519_TAG_BYTES);
    if (tag === null || !verifier(message(name, source), tag))
      throw new UnitError(`${name}: the signature does not match; the unit was changed, or another key signed it`);
    return { name, text: source };
  }
}

/** The signed message. JSON keeps the parts apart, so that no name can extend into the text. */
function message(name: string, source: string): Uint8Array {
  return new TextEncoder().encode(JSON.stringify([FORMAT, name, source]));
}

/** The bytes of a canonical base64url text; null unless there are exactly `length` of them. */
function fromText(text: string, length: number): Uint8Array | null {
  const bytes = decodeBase64Url(text);
  return bytes?.length === length ? bytes : null;
}
