import { describe, expect, it } from 'vitest';
import { ReplayCache, type Selection, scanOutput, selectDecision, type VerifyOptions } from '../../src/aeiou/index.ts';
import {
  canonicalText,
  goldenTurn,
  ISSUED,
  jtiOf,
  lineOf,
  PRIMARY,
  replayOf,
  TEXTS,
  TestClock,
  TOKENS,
  tagOf,
  tokenOf,
} from './kit.ts';

/** The OUTPUT of a turn that emitted these texts. */
const emitted = (...texts: readonly string[]): string => texts.map((text) => `${text}\n`).join('');
const select = (output: string, changes: Partial<VerifyOptions> = {}): Selection =>
  selectDecision(output, goldenTurn({ replay: new ReplayCache({ clock: new TestClock() }), ...changes }));
/** The decision as `DECISION` or `HALT CODE`. */
const decide = (output: string, changes: Partial<VerifyOptions> = {}): string => {
  const { decision, reason } = select(output, changes);
  return reason === null ? decision : `${decision} ${reason}`;
};
const lints = (output: string): string[] => select(output).lints.map(({ code, line }) => `${code} ${line}`);

let next = 100;
const token = (action: string): string => tokenOf(canonicalText({ n: next++, payload: `{"action":"${action}"}` }));
const forged = (): string => lineOf(Buffer.from(TEXTS.T1), tagOf(Buffer.from(TEXTS.T2), PRIMARY));

describe('scanning OUTPUT', () => {
  it('AL3-5.1-1: candidates come in emission order, with their lines', () => {
    const { candidates } = scanOutput(emitted('a', TOKENS.T2, '', 'b', TOKENS.T1, TOKENS.T3));
    expect(candidates).toEqual([
      { line: 2, text: TOKENS.T2 },
      { line: 5, text: TOKENS.T1 },
      { line: 6, text: TOKENS.T3 },
    ]);
  });

  it('AL3-5.1-2: only whole lines of the exact form are candidates; what holds a token start otherwise is noted', () => {
    const t = TOKENS.T1;
    const inert = [
      ` ${t}`,
      `${t} `,
      `${t}\r`,
      `"${t}"`,
      `\`${t}\``,
      `${t}${t}`,
      `> ${t}`,
      t.slice(0, 60),
      t.replace('V3', 'V4'),
      t.replace('LOOP', 'loop'),
    ];
    expect(scanOutput(emitted(...inert))).toEqual({ candidates: [], lookalikes: inert.map((_, i) => i + 1) });
    expect(scanOutput(emitted('NSMAG:V3', '<<NSMAG:V3:x', ''))).toEqual({ candidates: [], lookalikes: [] });
    expect(scanOutput('')).toEqual({ candidates: [], lookalikes: [] });
    expect(scanOutput(t).candidates).toEqual([{ line: 1, text: t }]);
  });

  it('AL3-5.1-3: a line of 1024 bytes can be a candidate, a longer one cannot', () => {
    const shaped = (length: number): string => `<<<NSMAG:V3:LOOP:${'A'.repeat(length - 23)}.AA>>>`;
    expect([1024, 1025].map((length) => scanOutput(shaped(length)).candidates.length)).toEqual([1, 0]);
  });

  it('only line feeds make lines (threat 46)', () => {
    for (const end of ['\r', '\u2028', '\u2029', '\u0085', '\u000b', '\u000c'])
      expect(decide(emitted(`x${end}${TOKENS.T1}${end}y`))).toBe('HALT ERR_TOKEN_MISSING');
  });
});

describe('selection', () => {
  it('A3-5.1-1: each action leads to its decision', () => {
    expect([TOKENS.T1, TOKENS.T2, TOKENS.T3].map((line) => decide(emitted('text', line)))).toEqual(['DONE', 'CONTINUE', 'ABORT']);
  });

  it('A3-5.3-2: abort beats done beats continue, in every order (threat 21)', () => {
    const kinds = ['continue', 'done', 'abort'];
    for (const a of kinds)
      for (const b of kinds)
        for (const c of kinds) {
          const strongest = [...new Set([a, b, c])].sort((x, y) => kinds.indexOf(y) - kinds.indexOf(x))[0] ?? '';
          const wanted = { continue: 'CONTINUE', done: 'DONE', abort: 'ABORT' }[strongest];
          expect(decide(emitted(token(a), token(b), token(c)))).toBe(wanted);
        }
  });

  it('AL3-5.3-1: an abort that is not last still wins', () => {
    expect(decide(emitted(TOKENS.T3, TOKENS.T2))).toBe('ABORT');
    expect(decide(emitted(TOKENS.T3, TOKENS.T1))).toBe('ABORT');
    expect(decide(emitted(TOKENS.T1, TOKENS.T2))).toBe('DONE');
  });

  it('A3-2-6: of two tokens that ask for the same, the last decides', () => {
    const [first, last] = [token('continue'), token('continue')];
    expect(select(emitted(first, 'x', last)).chosen?.payload.jti).toBe(select(emitted(last)).chosen?.payload.jti);
  });

  it('A3-5.3-3: among equals the last wins, with a lint', () => {
    const [first, last] = [token('done'), token('done')];
    const { chosen, lints: found } = select(emitted(first, last));
    expect(chosen?.line).toBe(2);
    expect(found).toEqual([{ code: 'LINT_MULTI_TOKENS', line: 2 }]);
  });

  it('AL3-5.3-2: last wins among the strongest only', () => {
    const [strong1, strong2] = [token('abort'), token('abort')];
    expect(select(emitted(strong1, strong2, token('done'))).chosen?.line).toBe(2);
  });

  it('A3-5.3-4: text after the chosen token gives one lint, blank lines give none; the decision stands (threat 20)', () => {
    expect([decide(emitted(TOKENS.T1, 'bye', 'bye')), lints(emitted(TOKENS.T1, '', 'bye', 'bye'))]).toEqual([
      'DONE',
      ['LINT_POST_TOKEN_TEXT 3'],
    ]);
    expect(lints(emitted('before', TOKENS.T1, '', ' \t', '\r'))).toEqual([]);
    expect(lints(emitted(TOKENS.T1, '\u00a0'))).toEqual(['LINT_POST_TOKEN_TEXT 2']);
    expect(lints(TOKENS.T1)).toEqual([]);
  });

  it('AL3-5.3-3: a weaker token after the chosen one is text after it too', () => {
    expect(lints(emitted(TOKENS.T1, TOKENS.T2))).toEqual(['LINT_MULTI_TOKENS 2', 'LINT_POST_TOKEN_TEXT 2']);
    expect(lints(emitted(TOKENS.T3, 'bye', TOKENS.T1))).toEqual(['LINT_POST_TOKEN_TEXT 2', 'LINT_MULTI_TOKENS 3']);
    expect(lints(emitted(TOKENS.T2, TOKENS.T1, 'bye'))).toEqual(['LINT_MULTI_TOKENS 2', 'LINT_POST_TOKEN_TEXT 3']);
  });

  it('AL3-8-18: the lint for text changes no decision', () => {
    expect(select(emitted(TOKENS.T3, 'x'))).toMatchObject({ decision: 'ABORT', reason: null });
  });

  it('AL3-8-19: several tokens lint only when several verified: a replayed copy is no second token', () => {
    expect(lints(emitted(TOKENS.T1, TOKENS.T1))).toEqual(['LINT_POST_TOKEN_TEXT 2']);
    expect(lints(emitted(forged(), TOKENS.T1))).toEqual([]);
  });

  it('A3-5.1-4: look-alikes are ignored beside a token that verifies, and alone they halt (threat 1)', () => {
    const fakes = [forged(), `"${TOKENS.T1}"`, TOKENS.T1.replace('A', 'B'), '<<<NSMAG:V3:LOOP:x.y>>>', '<<<LOOP:DONE>>>'];
    expect(decide(emitted(...fakes, TOKENS.T2))).toBe('CONTINUE');
    expect(decide(emitted(...fakes))).toMatch(/^HALT ERR_TOKEN_/);
  });

  it('A3-1.2-2: prose and the markers of other protocols decide nothing', () => {
    const prose = ['please continue', '{"loop":"done"}', '[[loop:done]]', '<<<LOOP:DONE>>>', 'LOOP done', ''];
    for (const line of prose) expect(decide(emitted(line))).toBe('HALT ERR_TOKEN_MISSING');
  });

  it('A3-5.1-2: a token with anything around it, or in two pieces, is inert (threat 8)', () => {
    const t = TOKENS.T1;
    for (const text of [`x${t}`, `${t}x`, `'${t}'`]) expect(decide(emitted(text))).toBe('HALT ERR_TOKEN_MISSING');
    for (let at = 1; at < t.length; at += 7) expect(decide(emitted(t.slice(0, at), t.slice(at)))).toBe('HALT ERR_TOKEN_MISSING');
  });

  it('A3-6.2-2: quotes and backticks make a token inert', () => {
    for (const quote of ['"', "'", '`', '```']) {
      const result = select(emitted(`${quote}${TOKENS.T1}${quote}`));
      expect(result).toMatchObject({
        decision: 'HALT',
        reason: 'ERR_TOKEN_MISSING',
        verificationFailureReason: 'ERR_TOKEN_PARSE',
      });
    }
  });
});

describe('HALT reasons', () => {
  const at = (parts: Parameters<typeof canonicalText>[0]): string => tokenOf(canonicalText(parts));

  it('A3-8-4: without a valid token the turn halts with a reason', () => {
    expect(decide('')).toBe('HALT ERR_TOKEN_MISSING');
    expect(decide(emitted(forged()))).toBe('HALT ERR_TOKEN_VERIFY');
  });

  it('AL3-8-12: no candidate at all is ERR_TOKEN_MISSING', () => {
    expect(select(emitted('a', 'b'))).toMatchObject({
      reason: 'ERR_TOKEN_MISSING',
      verificationFailureReason: null,
      candidates: [],
      lints: [],
    });
  });

  it('AL3-11-3: the same when only text was emitted', () => {
    expect(decide('just text')).toBe('HALT ERR_TOKEN_MISSING');
  });

  it.each([
    ['AL3-8-7: ERR_TOKEN_PARSE', '<<<NSMAG:V3:LOOP:AAAA.AAAA>>>', 'ERR_TOKEN_PARSE'],
    ['AL3-8-8: ERR_TOKEN_VERIFY', forged(), 'ERR_TOKEN_VERIFY'],
    ['AL3-8-9: ERR_TOKEN_SCOPE', at({ turn: 7 }), 'ERR_TOKEN_SCOPE'],
    ['AL3-8-10: ERR_TOKEN_TTL', at({ issuedAt: ISSUED - 500 }), 'ERR_TOKEN_TTL'],
  ])('%s is the reason when the only candidate fails so', (_, line, code) => {
    expect(select(emitted('text', line))).toMatchObject({
      decision: 'HALT',
      reason: code,
      verificationFailureReason: code,
      candidates: [{ line: 2, ok: false, code, payload: null }],
    });
  });

  it('AL3-8-11: ERR_TOKEN_REPLAY is the reason when the only candidate was used before', () => {
    expect(decide(emitted(TOKENS.T1), { replay: replayOf(1) })).toBe('HALT ERR_TOKEN_REPLAY');
  });

  it('AL3-5.3-4: of several failures the last candidate in emission order gives the reason', () => {
    const kinds = [forged(), at({ sid: 'x' }), at({ issuedAt: 1 }), '<<<NSMAG:V3:LOOP:AAAA.AAAA>>>'];
    const codes = ['ERR_TOKEN_VERIFY', 'ERR_TOKEN_SCOPE', 'ERR_TOKEN_TTL', 'ERR_TOKEN_PARSE'];
    for (const [i, line] of kinds.entries())
      for (const other of kinds) expect(decide(emitted(other, line, 'text', `"${TOKENS.T1}"`))).toBe(`HALT ${codes[i]}`);
  });

  it('AL3-5.3-4: the failure that is told of is the last one, whatever failed before it and whatever decided', () => {
    const told = (...lines: readonly string[]): unknown => select(emitted(...lines)).verificationFailureReason;
    expect(told(forged(), at({ sid: 'x' }))).toBe('ERR_TOKEN_SCOPE');
    expect(told(at({ sid: 'x' }), forged())).toBe('ERR_TOKEN_VERIFY');
    expect(told(at({ sid: 'x' }), forged(), TOKENS.T1)).toBe('ERR_TOKEN_VERIFY');
  });

  it('A3-6.5-5: the same line twice: the first is valid, the second a replay', () => {
    const result = select(emitted(TOKENS.T1, TOKENS.T1));
    expect(result.candidates.map(({ ok, code }) => code ?? ok)).toEqual([true, 'ERR_TOKEN_REPLAY']);
    expect(result).toMatchObject({ decision: 'DONE', verificationFailureReason: 'ERR_TOKEN_REPLAY' });
  });

  it('every valid token uses up its id, chosen or not, and no other does', () => {
    const replay = new ReplayCache({ clock: new TestClock() });
    decide(emitted(TOKENS.T2, TOKENS.T3, forged()), { replay });
    expect([2, 3, 1].map((n) => replay.add('sid-1', jtiOf(n)))).toEqual([false, false, true]);
  });

  it('A3-1.1-1: the same OUTPUT, turn, clock and keys give the same selection, a hundred times', () => {
    const output = emitted('a', forged(), TOKENS.T2, TOKENS.T1, 'b', at({ sid: 'x' }), TOKENS.T1);
    const first = JSON.stringify(select(output));
    for (let i = 0; i < 100; i++) expect(JSON.stringify(select(output))).toBe(first);
  });

  it('A3-1.1-2: without its token line the same OUTPUT halts', () => {
    const output = emitted('a', TOKENS.T1);
    expect([decide(output), decide(output.replace(TOKENS.T1, ''))]).toEqual(['DONE', 'HALT ERR_TOKEN_MISSING']);
  });
});
