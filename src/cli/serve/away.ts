import { setTimeout as sleep } from 'node:timers/promises';
import type { Profiles } from './profiles.ts';

/** The pause before the first look, in milliseconds. It doubles with each look in vain, up to the longest. */
const FIRST_MS = 2000;
const LONGEST_MS = 60_000;

/** Calls `back` when a server can be used that was away when the present profiles were opened. Ends with the signal. */
export async function whenBack(profiles: () => Profiles, back: () => Promise<void>, signal: AbortSignal): Promise<void> {
  let [known, pause] = [profiles(), FIRST_MS];
  for (;;) {
    await sleep(pause, undefined, { signal, ref: false }).catch(() => {});
    if (signal.aborted) return;
    const now = profiles();
    const found = await Promise.all(now.away.map(({ isBack }) => isBack().catch(() => false)));
    if (signal.aborted) return;
    pause = now === known && now.away.length > 0 ? Math.min(2 * pause, LONGEST_MS) : FIRST_MS;
    known = now;
    if (found.includes(true) && profiles() === now) await back();
  }
}
