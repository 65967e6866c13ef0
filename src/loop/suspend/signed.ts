import { createHash } from 'node:crypto';
import type { KeyLookup, Keyring } from '../../aeiou/index.ts';
import { grantDigest } from '../../tools/index.ts';
import { countsForTurn } from '../record/attempt.ts';
import type { FailedAttempt } from '../record/record.ts';
import type { SignedApproval, SignedPlan, SuspendedTurn, Suspension } from '../record/suspension.ts';
import { type TurnInput, userdataOf } from '../turn/input.ts';

/** The turn that was approved. */
interface ApprovedTurn {
  readonly sid: string;
  readonly turn: number;
}

/** A turn that waits, with the attempts before the one that waits. */
interface WaitingAfter extends ApprovedTurn {
  readonly attempts: readonly FailedAttempt[];
}

/** Prefix of the signed text. No token begins with it, so a signature of a token is never one of an approval, or the reverse. */
const DOMAIN = 'neuroscript approval 1';

/**
 * Signs a human's approval of the ACTIONS of a turn that waits, because others may write to its store. Null when no approval was
 * necessary, and when the fallback key cannot sign; the turn then needs another approval to continue.
 */
export async function signApproval(keyring: Keyring, place: WaitingAfter, turn: SuspendedTurn): Promise<SignedApproval | null> {
  const signer = keyring.signer('fallback');
  if (turn.approved === null || signer === null) return null;
  const tag = await signer.sign(messageOf(place, turn, turn.approved), new AbortController().signal);
  return { plan: turn.approved, kid: signer.kid, tag: Buffer.from(tag).toString('base64url') };
}

/** The hash of the ACTIONS that a human approved; null when the signature does not belong to this turn as it is stored. */
export function verifiedApproval(keys: KeyLookup, place: WaitingAfter, suspended: Suspension): string | null {
  const { approved } = suspended;
  if (approved === null) return null;
  const message = messageOf(place, suspended, approved.plan);
  const key = keys.lookup(approved.kid);
  return key?.verify(message, Buffer.from(approved.tag, 'base64url')) ? approved.plan : null;
}

/** The signed text covers everything that determines how the turn continues, except its limits, which a host may only tighten. */
function messageOf(
  { sid, turn, attempts }: WaitingAfter,
  { waiting, alsoWaiting, earlier }: Pick<SuspendedTurn, 'waiting' | 'alsoWaiting' | 'earlier'>,
  plan: string,
): Buffer {
  const { run, journal, nonce } = earlier;
  const { limits: _, ...input } = run;
  const also = alsoWaiting?.map((call) => call.waiting);
  // An attempt that an interruption ends may follow, and does not count.
  const before = attempts.filter(countsForTurn);
  const state = createHash('sha256').update(JSON.stringify({ input, journal, waiting, also, before })).digest('hex');
  return Buffer.from([DOMAIN, sid, turn, nonce, plan, state].join('\n'));
}

/** Prefix of the signed text of a plan. */
const PLAN_DOMAIN = 'neuroscript plan approval 1';

/** What the approval of a plan is bound to of a program. */
export function programDigest(input: TurnInput): string {
  const program = input.ok ? [input.envelope.actions, userdataOf(input)] : null;
  return createHash('sha256').update(JSON.stringify(program)).digest('hex');
}

/** Signs a person's answer to a plan. Null when the fallback key cannot sign. */
export async function signPlan(
  keyring: Keyring,
  place: ApprovedTurn,
  plan: Omit<SignedPlan, 'kid' | 'tag'>,
): Promise<SignedPlan | null> {
  const signer = keyring.signer('fallback');
  if (signer === null) return null;
  const tag = await signer.sign(planMessage(place, plan), new AbortController().signal);
  return { ...plan, kid: signer.kid, tag: Buffer.from(tag).toString('base64url') };
}

/** The answers to plans of a turn whose signatures belong to this session and turn, and to what is stored of program and grant. */
export function verifiedPlans(keys: KeyLookup, place: ApprovedTurn, plans: readonly SignedPlan[]): readonly SignedPlan[] {
  return plans.filter((plan) => keys.lookup(plan.kid)?.verify(planMessage(place, plan), Buffer.from(plan.tag, 'base64url')));
}

function planMessage({ sid, turn }: ApprovedTurn, { attempt, program, shown, grant }: Omit<SignedPlan, 'kid' | 'tag'>): Buffer {
  const answer = grant === null ? 'refused' : grantDigest(grant);
  return Buffer.from([PLAN_DOMAIN, sid, turn, attempt, program, shown, answer].join('\n'));
}
