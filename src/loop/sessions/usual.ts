import { UsualCosts } from '../record/usual.ts';
import { recordProblem } from '../record/viewed.ts';
import type { SessionStore } from './store.ts';

/** Most sessions and turns of a store that say what calls usually cost, and turns that are in memory at a time. */
const [SESSIONS, TURNS, AT_A_TIME] = [200, 1000, 5];

/** What calls usually cost, by the latest turns of a store. What cannot be read is left out. */
export async function usualCosts(store: Pick<SessionStore, 'recent' | 'turns'>): Promise<UsualCosts> {
  const usual = new UsualCosts();
  let left = TURNS;
  for (const { sid } of await store.recent({ limit: SESSIONS })) {
    for (let after = 0; left > 0; after += AT_A_TIME) {
      const limit = Math.min(AT_A_TIME, left);
      let damaged = 0;
      const records = await store.turns(sid, () => damaged++, { after, limit });
      for (const record of records) if (recordProblem(record) === null) usual.add(record);
      left -= records.length + damaged;
      if (records.length + damaged < limit) break;
    }
  }
  return usual;
}
