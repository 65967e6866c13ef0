import { describe, expect, it } from 'vitest';
import { exitOf, exitOfDecision } from '../../src/cli/exit.ts';

describe('exit codes', () => {
  it.each([
    ['syntax', 3],
    ['runtime', 1],
    ['policy', 4],
    ['quota', 5],
    ['timeout', 124],
    ['cancelled', 130],
    ['usage', 2],
    ['internal', 70],
  ] as const)('a run that failed with kind %s exits %i', (kind, code) => expect(exitOf({ kind })).toBe(code));

  it('a run without error exits 0', () => expect(exitOf(null)).toBe(0));

  it.each([
    ['CONTINUE', null, null, 0],
    ['DONE', null, null, 0],
    ['ABORT', 'no plan', null, 10],
    ['HALT', 'ERR_TOKEN_MISSING', null, 11],
    ['HALT', 'ERR_TOKEN_MISSING', 'runtime', 11],
    ['HALT', 'ERR_NO_PROGRESS', null, 11],
    ['HALT', 'ERR_TIMEOUT', 'timeout', 124],
    ['HALT', 'ERR_QUOTA', 'quota', 5],
    ['HALT', 'ERR_ENV_SIZE', 'quota', 5],
    ['HALT', 'ERR_ENV_SIZE', null, 5],
    ['HALT', 'ERR_TOKEN_MISSING', 'policy', 4],
    ['HALT', 'ERR_CANCELLED', 'cancelled', 130],
  ] as const)('a turn that ended %s (%s, error %s) exits %i', (decision, reason, kind, code) => {
    expect(exitOfDecision(decision, reason, kind === null ? null : { kind })).toBe(code);
  });
});
