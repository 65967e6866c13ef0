import { describe, expect, it } from 'vitest';
import { Lifecycle, LifecycleError, type LoopState } from '../../src/loop/turn/lifecycle.ts';

const STATES: readonly LoopState[] = ['IDLE', 'EXECUTING', 'VERIFYING', 'DECIDED', 'EMIT_NEXT', 'FINAL'];
const PATH: readonly LoopState[] = ['IDLE', 'EXECUTING', 'VERIFYING', 'DECIDED'];

/** A turn brought to a state over the one path there is. */
function at(state: LoopState): Lifecycle {
  const lifecycle = new Lifecycle();
  for (const next of PATH.slice(1)) {
    if (lifecycle.state === state) return lifecycle;
    lifecycle.to(next);
  }
  if (state === 'EMIT_NEXT' || state === 'FINAL') lifecycle.to(state);
  return lifecycle;
}

describe('the life of a turn', () => {
  it('AL3-2-1: every step outside IDLE → EXECUTING → VERIFYING → DECIDED → (EMIT_NEXT | FINAL) throws', () => {
    const allowed = STATES.flatMap((from) =>
      STATES.filter((to) => {
        const lifecycle = at(from);
        expect(lifecycle.state).toBe(from);
        try {
          lifecycle.to(to);
          return true;
        } catch (error) {
          expect(error).toBeInstanceOf(LifecycleError);
          expect(lifecycle.state).toBe(from);
          return false;
        }
      }).map((to) => `${from} → ${to}`),
    );
    expect(allowed).toEqual([
      'IDLE → EXECUTING',
      'EXECUTING → VERIFYING',
      'VERIFYING → DECIDED',
      'DECIDED → EMIT_NEXT',
      'DECIDED → FINAL',
    ]);
  });

  it.each([
    ['CONTINUE', 'EMIT_NEXT'],
    ['DONE', 'FINAL'],
    ['ABORT', 'FINAL'],
    ['HALT', 'FINAL'],
  ] as const)('AL3-2-2: %s leads to %s', (decision, state) => {
    const lifecycle = at('DECIDED');
    lifecycle.finish(decision);
    expect(lifecycle.state).toBe(state);
  });
});
