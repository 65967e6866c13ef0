import { describe, expect, it } from 'vitest';
import { exitOf, exitOfDecision } from '../../src/cli/terminal/exit.ts';

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
    ['CONTINUE', null, 0],
    ['DONE', null, 0],
    ['ABORT', null, 10],
    ['HALT', 'ERR_TOKEN_MISSING', 11],
    ['HALT', 'ERR_NO_PROGRESS', 11],
    ['HALT', 'ERR_EXEC', 11],
    ['HALT', 'ERR_TIMEOUT', 124],
    ['HALT', 'ERR_QUOTA', 5],
    ['HALT', 'ERR_ENV_SIZE', 5],
    ['HALT', 'ERR_POLICY', 4],
    ['HALT', 'ERR_CANCELLED', 130],
  ] as const)('a turn that ended %s (%s) exits %i', (decision, reason, code) => {
    expect(exitOfDecision(decision, reason)).toBe(code);
  });
});
