import { describe, expect, it } from 'vitest';
import { verifyToken } from '../../src/aeiou/index.ts';
import { goldenTurn, TOKENS } from './kit.ts';

describe('a token cannot be changed', () => {
  const turn = goldenTurn();
  const CODES = new Set(['ERR_TOKEN_PARSE', 'ERR_TOKEN_VERIFY']);

  it('A3-6.1-3: every truncation of T1, from either end, is refused with a typed code', () => {
    for (let length = 0; length < TOKENS.T1.length; length++)
      for (const line of [TOKENS.T1.slice(0, length), TOKENS.T1.slice(TOKENS.T1.length - length)]) {
        const result = verifyToken(line, turn);
        expect(result.ok ? 'accepted' : result.code).toBe('ERR_TOKEN_PARSE');
      }
  });

  it('threat 2: every change of one byte of T1 to any other is refused with a typed code', { timeout: 300_000 }, () => {
    const original = Buffer.from(TOKENS.T1);
    const found = new Map<string, number>();
    for (let at = 0; at < original.length; at++) {
      for (let byte = 0; byte < 256; byte++) {
        if (byte === original[at]) continue;
        const changed = Buffer.from(original);
        changed[at] = byte;
        const result = verifyToken(changed.toString(), turn);
        const code = result.ok ? 'accepted' : result.code;
        found.set(code, (found.get(code) ?? 0) + 1);
      }
    }
    expect([...found.keys()].filter((code) => !CODES.has(code))).toEqual([]);
    expect([...found.values()].reduce((sum, count) => sum + count, 0)).toBe(original.length * 255);
  });

  it('every exchange of two neighbours and every doubled or dropped byte is refused', () => {
    const line = TOKENS.T1;
    for (let at = 0; at < line.length; at++) {
      const swapped = `${line.slice(0, at)}${line.charAt(at + 1)}${line.charAt(at)}${line.slice(at + 2)}`;
      const doubled = line.slice(0, at) + line.charAt(at) + line.slice(at);
      const dropped = line.slice(0, at) + line.slice(at + 1);
      for (const changed of [swapped, doubled, dropped]) if (changed !== line) expect(verifyToken(changed, turn).ok).toBe(false);
    }
  });
});
