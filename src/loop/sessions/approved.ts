import type { Grant } from '../../tools/index.ts';
import type { TurnRecord } from '../record/record.ts';
import type { SessionStore } from './store.ts';

/** A grant that was approved, and the turn for whose program. */
export interface Approved {
  readonly turn: number;
  readonly grant: Grant;
}

/** Turns that are looked at for an approved grant, and how many are in memory at a time. */
const [LOOKED_AT, AT_A_TIME] = [50, 5];

/** The last grant that was approved in a session of so many turns, among its latest ones; null for none. */
export async function lastApproved(store: Pick<SessionStore, 'turns'>, sid: string, turns: number): Promise<Approved | null> {
  for (let until = turns; until > Math.max(0, turns - LOOKED_AT); until -= AT_A_TIME) {
    const after = Math.max(0, until - AT_A_TIME);
    const records = await store.turns(sid, () => {}, { after, limit: until - after });
    for (const record of records.toReversed()) {
      const grant = approvedIn(record);
      if (grant !== null) return { turn: record.turn, grant };
    }
  }
  return null;
}

function approvedIn({ plans = [] }: TurnRecord): Grant | null {
  return plans.findLast(({ grant }) => grant !== null)?.grant ?? null;
}
