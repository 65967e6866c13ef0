import type { StartedTurn } from '../../src/loop/sessions/store.ts';
import { defaultLimits } from '../../src/wire/limits.ts';

/** A turn whose first attempt has begun. */
export const BEGUN: StartedTurn = {
  sid: 's',
  turn: 1,
  attempt: 1,
  runner: 'r',
  nonce: 'n',
  startedAt: 5,
  reply: null,
  agent: null,
  limits: defaultLimits('turn'),
  suspended: null,
  attempts: [],
};
