import { hash, randomBytes, randomUUID } from 'node:crypto';
import { ConfigError } from '../wire/errors.ts';

/** Source of every value that must be unique or unpredictable. */
export interface Ids {
  /** A new session id. */
  session(): string;
  /** The nonce of one turn: 16 bytes in base64url. Called exactly once per turn. */
  nonce(sid: string, turn: number): string;
  /** The id of one minted token; `mint` counts from 0 within the turn. */
  jti(sid: string, turn: number, mint: number): string;
}

/** Ids from the operating system's randomness. */
export const randomIds: Ids = {
  session: () => randomUUID(),
  nonce: () => randomBytes(16).toString('base64url'),
  jti: () => randomUUID(),
};

/**
 * Ids that depend only on `seed`, session, turn and mint. They are for replays, tests and demonstrations: because they are
 * predictable, never use them for a session whose programs are not trusted.
 */
export function seededIds(seed: string): Ids {
  let sessions = 0;
  const bytes = (...parts: readonly (string | number)[]): Buffer =>
    hash('sha256', JSON.stringify([seed, ...parts]), 'buffer').subarray(0, 16);
  return {
    session: () => uuid(bytes('session', sessions++)),
    nonce: (sid, turn) => bytes('nonce', sid, turn).toString('base64url'),
    jti: (sid, turn, mint) => uuid(bytes('jti', sid, turn, mint)),
  };
}

/** `ids` with a fixed nonce, to repeat a single turn. */
export function withNonce(ids: Ids, nonce: string): Ids {
  return { session: () => ids.session(), nonce: () => nonce, jti: (sid, turn, mint) => ids.jti(sid, turn, mint) };
}

/** Formats 16 bytes as a version 4 UUID, so that a seeded id has the same form as a random one. */
function uuid(source: Buffer): string {
  const bytes = Buffer.from(source);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const SID = /^[\x21-\x7e]{1,128}$/;

/** Throws {@link ConfigError} for a session id that does not fit into a token or one line of a log. */
export function checkSid(sid: string): void {
  if (!SID.test(sid)) throw new ConfigError('a session id has 1 to 128 visible ASCII characters and no blanks');
}
