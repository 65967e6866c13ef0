// @module-tag slow
import { describe, expect, it } from 'vitest';
import { summarize } from '../../bench/stats.ts';
import { benchTokens, renderTokens, type TokenRow, tokenFailures } from '../../bench/tokens.ts';

describe('bench tokens', () => {
  it('measures minting and verifying beside the bare operations, and shows both', { timeout: 300_000 }, async () => {
    const rows = await benchTokens(true);
    expect(rows.map(({ work, target }) => [work, target])).toEqual([
      ['mint a token', 1.5 * 2.5],
      ['bare signature', null],
      ['verify a token', 1.5 * 1.8],
      ['bare verification', null],
    ]);
    for (const { us, ratio, target } of rows) {
      expect(us?.samples).toBe(100);
      expect(us?.median).toBeGreaterThan(0);
      expect(ratio === null).toBe(target === null);
    }
    // What is done in addition cannot be for nothing, or the lanes were mixed up.
    for (const { ratio } of rows) if (ratio !== null) expect(ratio).toBeGreaterThan(0.9);
    expect(renderTokens(rows)).toMatch(/^mint a token {2,}\S+ +\S+ +100 +\S+x +3\.75x$/m);
  });

  it('a ratio above its target is a failure that names both', () => {
    const row = (ratio: number): TokenRow => ({ work: 'mint a token', us: summarize([1]), ratio, target: 2.5 });
    expect(tokenFailures([row(2.5)])).toEqual([]);
    expect(tokenFailures([row(2.51)])).toEqual(['mint a token: 2.51 times the bare one, at most 2.5 are promised']);
  });
});
