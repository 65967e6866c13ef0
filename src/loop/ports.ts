import { createHash, randomBytes, randomUUID } from 'node:crypto';

/** The host's two clocks. The first one decides (tokens, log), the second one only measures (latency, ceilings). */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds since some fixed moment; never goes back. */
  monotonic(): number;
}

/** Where everything that must be unique or unpredictable comes from. */
export interface Ids {
  /** A new session id. */
  session(): string;
  /** The nonce of one turn: 16 bytes in base64url (A3-6.3-9). Asked for exactly once a turn (AL3-2-3). */
  nonce(sid: string, turn: number): string;
  /** The id of one minted token; `mint` counts from 0 within the turn. */
  jti(sid: string, turn: number, mint: number): string;
}

/** The clocks of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/** A clock of tokens and log that stands still at `unixSeconds`, so that a turn can be repeated byte for byte. */
export function fixedClock(unixSeconds: number): Clock {
  return { now: () => unixSeconds * 1000, monotonic: () => performance.now() };
}

/** Ids from the operating system's randomness. */
export const randomIds: Ids = {
  session: () => randomUUID(),
  nonce: () => randomBytes(16).toString('base64url'),
  jti: () => randomUUID(),
};

/**
 * Ids that depend on nothing but `seed` and what they are for: the same session, turn and mint always get the same id.
 * For replays, tests and demonstrations; predictable, so never for a session whose programs are not trusted.
 */
export function seededIds(seed: string): Ids {
  let sessions = 0;
  const bytes = (...parts: readonly (string | number)[]): Buffer =>
    createHash('sha256')
      .update(JSON.stringify([seed, ...parts]))
      .digest()
      .subarray(0, 16);
  return {
    session: () => uuid(bytes('session', sessions++)),
    nonce: (sid, turn) => bytes('nonce', sid, turn).toString('base64url'),
    jti: (sid, turn, mint) => uuid(bytes('jti', sid, turn, mint)),
  };
}

/** `ids` with the nonce of every turn replaced by a given one: repeats a single turn. */
export function withNonce(ids: Ids, nonce: string): Ids {
  return { session: () => ids.session(), nonce: () => nonce, jti: (sid, turn, mint) => ids.jti(sid, turn, mint) };
}

/** Version 4 form of 16 bytes, so that a seeded id looks like every other one. */
function uuid(source: Buffer): string {
  const bytes = Buffer.from(source);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
