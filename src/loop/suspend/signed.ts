import { createHash } from 'node:crypto';
import type { KeyLookup, Keyring } from '../../aeiou/index.ts';
import type { SignedApproval, SuspendedTurn, Suspension } from '../record/suspension.ts';

/** The turn that was approved. */
interface Place {
  readonly sid: string;
  readonly turn: number;
}

/** Prefix of the signed text. No token begins with it, so a signature of a token is never one of an approval, or the reverse. */
const DOMAIN = 'neuroscript approval 1';

/**
 * Signs a human's approval of the ACTIONS of a turn that waits, because others may write to its store. Null when no approval was
 * necessary, and when the fallback key cannot sign; the turn then needs another approval to continue.
 */
export async function signApproval(keyring: Keyring, place: Place, turn: SuspendedTurn): Promise<SignedApproval | null> {
  const signer = keyring.signer('fallback');
  if (turn.approved === null || signer === null) return null;
  const tag = await signer.sign(messageOf(place, turn, turn.approved), new AbortController().signal);
  return { plan: turn.approved, kid: signer.kid, tag: Buffer.from(tag).toString('base64url') };
}

/** The hash of the ACTIONS that a human approved; null when the signature does not belong to this turn as it is stored. */
export function verifiedApproval(keys: KeyLookup, place: Place, suspended: Suspension): string | null {
  const { approved } = suspended;
  if (approved === null) return null;
  const message = messageOf(place, suspended, approved.plan);
  const key = keys.lookup(approved.kid);
  return key?.verify(message, Buffer.from(approved.tag, 'base64url')) ? approved.plan : null;
}

/** The signed text covers everything that determines how the turn continues, except its limits, which a host may only tighten. */
function messageOf(
  { sid, turn }: Place,
  { waiting, alsoWaiting, earlier }: Pick<SuspendedTurn, 'waiting' | 'alsoWaiting' | 'earlier'>,
  plan: string,
): Buffer {
  const { run, journal, nonce } = earlier;
  const { limits: _, ...input } = run;
  const state = createHash('sha256')
    .update(JSON.stringify({ input, journal, waiting, also: alsoWaiting?.map((call) => call.waiting) }))
    .digest('hex');
  return Buffer.from([DOMAIN, sid, turn, nonce, plan, state].join('\n'));
}
