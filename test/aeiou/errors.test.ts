import { describe, expect, it } from 'vitest';
import {
  composeEnvelope,
  EnvelopeError,
  JsonError,
  KeyError,
  Keyring,
  MARKERS,
  MagicError,
  parseEnvelope,
  parseStrict,
  prepareToken,
  progressDigest,
  requireToken,
  selectDecision,
  TokenError,
  UserdataError,
  type VerifyOptions,
  validateUserdata,
  verifyToken,
} from '../../src/aeiou/index.ts';
import { NeuroScriptError } from '../../src/wire/errors.ts';
import {
  canonicalText,
  FALLBACK,
  goldenTurn,
  ISSUED,
  lineOf,
  PRIMARY,
  replayOf,
  SHARED,
  TEXTS,
  TestClock,
  TOKENS,
  tagOf,
  thrownBy,
  tokenOf,
} from './kit.ts';

const { START, USERDATA, SCRATCHPAD, ACTIONS, END } = MARKERS;
const read = (...lines: readonly string[]): unknown => parseEnvelope(new TextEncoder().encode(lines.join('\n')));

describe('every failure has its class and its code', () => {
  it.each<[title: string, type: new (...args: never[]) => Error, code: string, work: () => unknown]>([
    ['AL3-8-1: markers', EnvelopeError, 'ERR_ENV_MARKERS_INVALID', () => read('')],
    ['AL3-8-2: a missing section', EnvelopeError, 'ERR_ENV_SECTION_MISSING', () => read(START, USERDATA, END)],
    ['AL3-8-3: the order', EnvelopeError, 'ERR_ENV_ORDER', () => read(START, ACTIONS, USERDATA, END)],
    ['AL3-8-4: a second START', EnvelopeError, 'ERR_ENV_SECTION_DUP', () => read(START, USERDATA, START, ACTIONS, END)],
    ['AL3-8-5: a size', EnvelopeError, 'ERR_ENV_SIZE', () => composeEnvelope({ userdata: 'x'.repeat(600_000), actions: '' })],
    ['AL3-8-6: USERDATA', UserdataError, 'ERR_USERDATA_SCHEMA', () => validateUserdata('{}')],
    ['AL3-8-7: a malformed token', TokenError, 'ERR_TOKEN_PARSE', () => requireToken('x', goldenTurn())],
    [
      'AL3-8-8: a forged token',
      TokenError,
      'ERR_TOKEN_VERIFY',
      () => requireToken(tokenOf(canonicalText({ kid: 'x' })), goldenTurn()),
    ],
    ['AL3-8-9: a token of elsewhere', TokenError, 'ERR_TOKEN_SCOPE', () => requireToken(TOKENS.T1, goldenTurn({ turnIndex: 2 }))],
    ['AL3-8-10: an expired token', TokenError, 'ERR_TOKEN_TTL', () => requireToken(TOKENS.T1, goldenTurn({ now: ISSUED + 999 }))],
    [
      'AL3-8-11: a used token',
      TokenError,
      'ERR_TOKEN_REPLAY',
      () => requireToken(TOKENS.T1, goldenTurn({ replay: replayOf(1) })),
    ],
    [
      'a key',
      KeyError,
      'ERR_KEY',
      () => new Keyring({ clock: new TestClock() }).add({ kid: '', role: 'primary', alg: 'Ed25519', seed: new Uint8Array(32) }),
    ],
    ['JSON', JsonError, 'ERR_JSON', () => parseStrict('{', { numbers: 'integers', padding: false })],
    [
      'a request to mint',
      MagicError,
      'ERR_MAGIC_TOOL_ARGS',
      () =>
        prepareToken(
          {
            sessionId: 'x'.repeat(900),
            turnIndex: 1,
            turnNonce: 'n',
            jti: 'j',
            issuedAt: 1,
            ttl: 1,
            payload: { action: 'done' },
          },
          'k',
          'Ed25519',
        ),
    ],
  ])('%s', (_, type, code, work) => {
    const error = thrownBy(work);
    expect(error).toBeInstanceOf(type);
    expect(error).toBeInstanceOf(NeuroScriptError);
    expect(error).toMatchObject({ code, name: type.name, detail: expect.any(String) });
  });

  it('AL3-8-20: an ignored duplicate is a lint and no failure', () => {
    expect(read(START, USERDATA, SCRATCHPAD, SCRATCHPAD, ACTIONS, END)).toMatchObject({
      lints: [{ code: 'LINT_DUP_SECTION_IGNORED' }],
    });
  });
});

describe('verification, step by step', () => {
  const message = Buffer.from(TEXTS.T1);
  const verdict = (line: string, changes: Partial<VerifyOptions> = {}): string => {
    const result = verifyToken(line, goldenTurn(changes));
    return result.ok ? 'ok' : result.code;
  };

  it('AL3-5.2-1: a line that is no token is refused', () => {
    expect(verdict('<<<NSMAG:V3:LOOP>>>')).toBe('ERR_TOKEN_PARSE');
  });

  it('AL3-5.2-2: both parts must be base64url', () => {
    const spoiled = [TOKENS.T1.replace('eyJp', 'eyJ*'), TOKENS.T1.replace('>>>', '=>>>'), TOKENS.T1.replace('VBg>>>', 'VBh>>>')];
    expect(spoiled.map((line) => verdict(line))).toEqual(spoiled.map(() => 'ERR_TOKEN_PARSE'));
  });

  it('AL3-5.2-4: the tag is checked, with Ed25519 by default', () => {
    expect([verdict(TOKENS.T1), verdict(lineOf(message, new Uint8Array(64)))]).toEqual(['ok', 'ERR_TOKEN_VERIFY']);
  });

  it('AL3-5.2-5: HS256 works where it is configured', () => {
    expect([verdict(TOKENS.T4), verdict(lineOf(Buffer.from(TEXTS.T4), new Uint8Array(32)))]).toEqual(['ok', 'ERR_TOKEN_VERIFY']);
  });

  it('AL3-5.2-6: session, turn and nonce must be those of the turn', () => {
    const others = [{ sessionId: 'x' }, { turnIndex: 2 }, { turnNonce: 'x' }];
    expect(others.map((other) => verdict(TOKENS.T1, other))).toEqual(others.map(() => 'ERR_TOKEN_SCOPE'));
  });

  it('AL3-5.2-7: the ttl counts when there is one', () => {
    const late = { now: ISSUED + 121 };
    expect([verdict(TOKENS.T1, late), verdict(TOKENS.T6, late)]).toEqual(['ERR_TOKEN_TTL', 'ok']);
  });

  it('AL3-10-1: the kid selects the key', () => {
    const swapped = [
      lineOf(message, tagOf(message, FALLBACK)),
      lineOf(Buffer.from(TEXTS.T5), tagOf(Buffer.from(TEXTS.T5), PRIMARY)),
    ];
    expect(swapped.map((line) => verdict(line))).toEqual(['ERR_TOKEN_VERIFY', 'ERR_TOKEN_VERIFY']);
    expect([TOKENS.T1, TOKENS.T5].map((line) => verdict(line))).toEqual(['ok', 'ok']);
    expect(verdict(tokenOf(canonicalText({ kid: SHARED }), PRIMARY))).toBe('ERR_TOKEN_VERIFY');
  });
});

describe('what a turn is judged by', () => {
  it('A3-4-2: a token that is not the last line decides all the same, with a lint', () => {
    expect(selectDecision(`${TOKENS.T1}\nmore\n`, goldenTurn())).toMatchObject({
      decision: 'DONE',
      lints: [{ code: 'LINT_POST_TOKEN_TEXT', line: 2 }],
    });
  });

  it('A3-5.3-1: as the last line it decides without one', () => {
    expect(selectDecision(`text\n${TOKENS.T1}\n`, goldenTurn())).toMatchObject({ decision: 'DONE', lints: [] });
  });

  it("A3-5.4-1: selection is given this turn's OUTPUT and nothing else, so a token in a prior OUTPUT is inert", () => {
    const envelope = parseEnvelope(
      composeEnvelope({ userdata: '{}', scratchpad: TOKENS.T2, output: TOKENS.T1, actions: 'command' }),
    );
    expect(envelope.output).toBe(TOKENS.T1);
    expect(selectDecision.length).toBe(2);
    expect(selectDecision(`${TOKENS.T1}\n`, goldenTurn()).decision).toBe('DONE');
    expect(selectDecision('nothing said\n', goldenTurn())).toMatchObject({ decision: 'HALT', reason: 'ERR_TOKEN_MISSING' });
  });

  it("AL3-11-5: the guard's input is OUTPUT without tokens, and SCRATCHPAD normalised", () => {
    expect(progressDigest(`a \n${TOKENS.T1}\n`, 'b\t\r\n')).toBe(progressDigest('a', 'b'));
  });
});
