import { ConfigError } from '../wire/errors.ts';
import type { TurnRecord } from './record/record.ts';
import type { SessionCoordinator } from './sessions/coordinator.ts';
import { SessionLeasedError } from './sessions/errors.ts';
import type { StartedTurn } from './sessions/store.ts';

/** A turn that another process takes. */
export interface TurnApart {
  /** The session. */
  readonly sid: string;
  /**
   * The `owner` that the controller of the other process must have. It is the owner of this process, which holds the session until then.
   */
  readonly owner: string;
  /** Aborts when the other process must end. The turn is then given up. */
  readonly signal: AbortSignal;
}

/**
 * Has another process take the next step of a session. Resolves when that process has ended, even if it failed; with `lost` if it ended by
 * itself because it had lost the session, so that its attempt does not count. Rejects when no process could be started. `turnProcess` makes
 * such a function for processes of Node.
 */
export type TakeApart = (turn: TurnApart) => Promise<'lost' | undefined>;

/**
 * Runs a turn whose process died in a process of its own, so that another death ends nothing else. Resolves with the record of the turn,
 * or with null when it was not decided, for instance because its process died again. Throws {@link ConfigError} when the other process
 * did not even begin the turn, and {@link SessionLeasedError} when this one gave up its turns meanwhile.
 */
export async function takeApart(
  { takeApart: take, coordinator }: { readonly takeApart: TakeApart; readonly coordinator: SessionCoordinator },
  before: StartedTurn,
  signal: AbortSignal | undefined,
): Promise<TurnRecord | null> {
  const { sid, turn } = before;
  const { owner, abandoned } = coordinator;
  let end: Awaited<ReturnType<TakeApart>>;
  {
    // The other process acts under the owner of this one, which must not claim the session meanwhile.
    using _turn = await coordinator.work.turn(sid);
    end = await take({ sid, owner, signal: signal === undefined ? abandoned : AbortSignal.any([abandoned, signal]) });
  }
  const givenUp = abandoned.aborted || signal?.aborted === true;
  const next = await coordinator.free(sid, givenUp || end === 'lost' ? before : null);
  if (abandoned.aborted) throw new SessionLeasedError(sid, null);
  if (next.kind === 'fresh' || next.started.turn !== turn) {
    const records = await coordinator.store.turns(sid, () => {});
    return records.findLast((record) => record.turn === turn) ?? null;
  }
  const { nonce, attempt } = next.started;
  if (!givenUp && end !== 'lost' && nonce === before.nonce && attempt === before.attempt)
    throw new ConfigError(`the process for turn ${turn} of session ${JSON.stringify(sid)} ended before the turn began`);
  return null;
}
