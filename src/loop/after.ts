import { carryForward, type ProgressState } from '../aeiou/index.ts';
import { calledBy } from './record/attempt.ts';
import type { Decision } from './record/decision.ts';
import { originsAfter } from './record/origins.ts';
import type { TurnRecord } from './record/record.ts';
import type { SessionState, SessionStatus } from './sessions/store.ts';
import { spentAfter } from './spent.ts';

const STATUS = { CONTINUE: 'open', DONE: 'done', ABORT: 'aborted', HALT: 'halted' } as const satisfies Record<
  Decision,
  SessionStatus
>;

/** The tools that were called successfully in the session; nothing while there are none. */
function calledAfter({ called = [] }: SessionState, record: TurnRecord): Pick<SessionState, 'called'> {
  const all = new Set([...called, ...calledBy([...(record.attempts ?? []), record])]);
  return all.size === 0 ? {} : { called: [...all].sort() };
}

/** The session after a turn. The two streams are carried forward only if another envelope follows. */
export function stateAfter(state: SessionState, record: TurnRecord, progress: ProgressState): SessionState {
  const { decision, reason, output, scratchpad, seal, agent, error } = record;
  const goesOn = decision === 'CONTINUE';
  return {
    ...state,
    status: STATUS[decision],
    reason,
    message: reason === null ? null : (error?.message ?? null),
    nextTurn: state.nextTurn + 1,
    output: goesOn ? carryForward(output) : null,
    scratchpad: goesOn ? carryForward(scratchpad) : null,
    progress,
    ...calledAfter(state, record),
    ...originsAfter(state.origins, record),
    spent: spentAfter(state.spent, record),
    agent: agent?.name ?? state.agent,
    head: seal?.hash ?? state.head,
  };
}
