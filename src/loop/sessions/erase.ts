import { allSessions } from './all.ts';
import type { ErasableStore } from './store.ts';

/**
 * Erases the content of an ended session and of all sessions that its asks opened, for instance because a person demands it: USERDATA,
 * envelopes, programs, output, calls and texts of errors. Decisions, times, usage and seals stay, so that the log and the chain of
 * records can still be verified; the log never holds content. Resolves with the ids of the erased sessions. Rejects with
 * `SessionStateError` for a session that is unknown or open, with `SessionLeasedError` while a process drives one of them, and then
 * erases nothing.
 */
export async function eraseSession(store: Pick<ErasableStore, 'list' | 'erase'>, sid: string): Promise<readonly string[]> {
  const family = [sid];
  for (const parent of family) for await (const { sid: child } of allSessions(store, { parent })) family.push(child);
  await store.erase(family);
  return family;
}
