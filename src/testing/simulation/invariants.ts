/** The invariants of every world, as texts for a violation. A file of its own, because mistakes are planted in what `watch.ts` loads. */
export const INVARIANTS = {
  owner: 'one process at a time holds a session',
  inFlight: 'one turn of a session is in flight',
  fence: 'a claim that has ended writes nothing',
  once: 'a decision is made once',
  unchanged: 'a decision never changes',
  logged: 'a decision is logged once',
  chain: 'the log is one chain',
  committed: 'a committed turn never runs again',
  effect: 'no keyed effect happens twice',
  kept: 'a call that was kept is not made again',
  attempts: 'an attempt that has ended is stored for good',
  answer: 'a call is completed once',
  ends: 'every session ends or waits for a named thing',
  memory: 'memory is bounded',
} as const;
