import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { NO_PROGRESS_YET, nobleCrypto, ProgressGuard, progressDigest } from '../../src/aeiou/index.ts';
import { ConfigError } from '../../src/wire/errors.ts';
import { sha256, TOKENS, thrownBy } from './kit.ts';

/** For each turn of a sequence of digests, whether it halts. */
function halts(digests: string, n?: number): boolean[] {
  const guard = new ProgressGuard(n);
  let state = NO_PROGRESS_YET;
  return Array.from(digests, (digest) => {
    const verdict = guard.observe(state, digest);
    state = verdict.state;
    return verdict.halt;
  });
}

describe('progress digest', () => {
  it('A3-9-6: the digest is sha256("OUT|" + output + "\\nSCR|" + scratchpad): D0, D1, D2', () => {
    const published = [
      'a038735ca1cca6bb4bc227de996b9fe097f0573b6c5c16fb4b71f9b3e8a52f26',
      'e40142fd464249f54b74f24fe151fe3015197cc6650620b8a9f411761945fe04',
      '7b8d5a9ef9b8f06f141fc9a594c737b4690dc1bb428e0fcd8217cee7cccb046f',
    ];
    expect([progressDigest('', ''), progressDigest('line 1\nline 2\n', 'note 1\n'), progressDigest('I am stuck.\n', '')]).toEqual(
      published,
    );
    expect(createHash('sha256').update('OUT|line 1\nline 2\nSCR|note 1').digest('hex')).toBe(published[1]);
    expect(progressDigest('line 1\nline 2', 'note 1', nobleCrypto)).toBe(published[1]);
  });

  it('AL3-6-2: with tokens, carriage returns, trailing blanks and a final line feed it is still D1', () => {
    expect(progressDigest(`line 1 \t\r\n${TOKENS.T1}\nline 2\n`, `${TOKENS.T2}\nnote 1  \n`)).toBe(
      progressDigest('line 1\nline 2', 'note 1'),
    );
  });

  it('A3-9-3: token lines are dropped from both streams, before anything is trimmed (threat 41)', () => {
    expect(progressDigest(`a\n${TOKENS.T1}\nb\n`, `${TOKENS.T3}\n`)).toBe(progressDigest('a\nb\n', ''));
    expect(progressDigest(`a\n${TOKENS.T1}x\n`, '')).not.toBe(progressDigest('a\n', ''));
    expect(progressDigest(`${TOKENS.T1} \n`, '')).toBe(sha256(`OUT|${TOKENS.T1}\nSCR|`));
  });

  it('A3-9-4: CRLF and LF are the same', () => {
    expect(progressDigest('a\r\nb\r\n', 'c\r\n')).toBe(progressDigest('a\nb\n', 'c\n'));
  });

  it('A3-9-5: blanks and tabs at line ends do not count, those in front and inside do', () => {
    expect(progressDigest('x  \n\ty \t\n', '')).toBe(progressDigest('x\n\ty\n', ''));
    expect(progressDigest(' x\n', '')).not.toBe(progressDigest('x\n', ''));
    expect(progressDigest('x\u00a0\n', '')).not.toBe(progressDigest('x\n', ''));
  });

  it('empty lines count, apart from the line feed that ends the stream', () => {
    expect(progressDigest('\n', '')).toBe(progressDigest('', ''));
    expect(progressDigest('\n\n', '')).toBe(sha256('OUT|\n\nSCR|'));
    expect(progressDigest('', '\n\n')).toBe(sha256('OUT|\nSCR|\n'));
    expect(progressDigest('a', '')).not.toBe(progressDigest('', 'a'));
  });
});

describe('progress guard', () => {
  it('A3-9-7: the third equal turn in a row halts, and a change starts anew', () => {
    expect(halts('aaa')).toEqual([false, false, true]);
    expect(halts('aabaaa')).toEqual([false, false, false, false, false, true]);
    expect(halts('ababab')).toEqual(Array(6).fill(false));
    expect(halts('aaaa')).toEqual([false, false, true, true]);
  });

  it('AL3-6-4: N is configurable and 3 by default', () => {
    expect(halts('aa', 2)).toEqual([false, true]);
    expect(new ProgressGuard().n).toBe(3);
  });

  it('AL3-6-3: N equal turns halt, not N repeats', () => {
    expect(halts('aaaaa', 5)).toEqual([false, false, false, false, true]);
  });

  it('A3-9-1: no N switches it off', () => {
    expect(new ProgressGuard(100).n).toBe(100);
    for (const n of [1, 0, -3, 2.5, 101, Number.NaN, Number.POSITIVE_INFINITY])
      expect(thrownBy(() => new ProgressGuard(n))).toBeInstanceOf(ConfigError);
  });

  it('says which number is refused, and of what type it is', () => {
    const must = 'the n of a ProgressGuard must be a whole number from 2 to 100';
    const refused = (n: unknown) => thrownBy(() => Reflect.construct(ProgressGuard, [n]));
    expect(refused(1)).toMatchObject({ message: `${must}, got 1; the guard cannot be switched off` });
    expect(refused({ n: 2 })).toMatchObject({ message: `${must}, got object; the guard cannot be switched off` });
    expect(refused('3')).toMatchObject({ message: `${must}, got string; the guard cannot be switched off` });
  });
});
