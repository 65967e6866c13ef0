import { decodeBase64Url, type KeyLookup, Keyring, ReplayCache, selectDecision, type VerifyKey } from '../../aeiou/index.ts';
import { NeuroScriptError } from '../../wire/errors.ts';
import { isRecord } from '../../wire/unknown.ts';
import type { Clock } from '../clock.ts';
import type { PublicKeyRecord, Scene, TurnRecord } from '../record/record.ts';
import type { Divergence } from './compare.ts';

/** Bytes of a tag of HMAC-SHA-256. */
const HS256_BYTES = 32;

/**
 * The keys that a record names, to verify its tokens anywhere. They are only as trustworthy as the record; use other keys to
 * prove who signed. A record has no shared secrets, so a tag with one verifies exactly if it did when it was recorded. Throws
 * `KeyError` (`ERR_KEY`) for an invalid public key.
 */
export function recordedKeys(record: TurnRecord, clock: Clock): KeyLookup {
  const ring = new Keyring({ clock });
  const secret = new Map<string, VerifyKey>();
  const forged = record.candidates.some(({ detail }) => detail === 'tag');
  for (const { kid, alg, publicKey } of record.inputs.scene?.judged.keys ?? []) {
    const bytes = publicKey === null ? null : decodeBase64Url(publicKey);
    if (alg === 'HS256') secret.set(kid, { kid, alg, tagBytes: HS256_BYTES, verify: () => !forged });
    else if (bytes !== null) ring.add({ kid, alg, role: 'retired', publicKey: bytes });
  }
  return { lookup: (kid) => secret.get(kid) ?? ring.lookup(kid) };
}

/** The keys that a record names; none in a record that names them in another form. The inspector's page uses this too, so it needs no schema. */
export function namedKeys({ inputs: { scene } }: TurnRecord): readonly PublicKeyRecord[] {
  const judged: unknown = scene?.judged;
  const keys: unknown = isRecord(judged) ? judged['keys'] : null;
  return Array.isArray(keys) && keys.every(isPublicKeyRecord) ? keys : [];
}

function isPublicKeyRecord(value: unknown): value is PublicKeyRecord {
  if (!isRecord(value)) return false;
  const { kid, alg, publicKey } = value;
  return typeof kid === 'string' && typeof alg === 'string' && (publicKey === null || typeof publicKey === 'string');
}

/** Ids of a record's secret keys, whose tags cannot be verified from the record. */
export function secretKeys(record: TurnRecord): readonly string[] {
  return namedKeys(record)
    .filter(({ publicKey }) => publicKey === null)
    .map(({ kid }) => kid);
}

/** Why a public key of a record is invalid; null when all are valid. */
export function keyFault(record: TurnRecord): string | null {
  try {
    recordedKeys(record, { now: () => 0, monotonic: () => 0 });
    return null;
  } catch (error) {
    if (error instanceof NeuroScriptError) return error.message;
    throw error;
  }
}

/** Checks whether the tokens in OUTPUT lead to the recorded decision; null when no token decided. */
export function verifyDecision(
  record: TurnRecord,
  { judged }: Scene,
  keys: KeyLookup | undefined,
): { readonly divergence: Divergence | null } | null {
  if (record.candidates.length === 0 || record.error !== null || judged.mintFailed) return null;
  const decidedAt = record.inputs.clock.at(-1) ?? record.startedAt;
  const clock = { now: () => decidedAt, monotonic: () => 0 };
  const { decision, chosen } = selectDecision(record.output, {
    keys: keys ?? recordedKeys(record, clock),
    sessionId: record.sid,
    turnIndex: record.turn,
    turnNonce: record.inputs.nonce,
    now: decidedAt / 1000,
    clockSkew: judged.clockSkew,
    replay: new RecordedReplayCache(judged.fresh, clock),
  });
  const was = [record.overridden ?? record.decision, record.kid, record.jti];
  const is = [decision, chosen?.payload.kid ?? null, chosen?.payload.jti ?? null];
  const same = JSON.stringify(was) === JSON.stringify(is);
  return { divergence: same ? null : { where: 'decision', recorded: JSON.stringify(was), replayed: JSON.stringify(is) } };
}

/** A replay cache that gives the recorded answers of the host's cache. */
export class RecordedReplayCache extends ReplayCache {
  readonly #fresh: readonly boolean[];
  #next = 0;

  constructor(fresh: readonly boolean[], clock: { now(): number }) {
    super({ clock });
    this.#fresh = fresh;
  }

  override add(): boolean {
    this.#next += 1;
    return this.#fresh[this.#next - 1] ?? true;
  }
}
