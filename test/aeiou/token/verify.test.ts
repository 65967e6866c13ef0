import { createHmac, randomBytes, sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeToken,
  Keyring,
  ReplayCache,
  requireToken,
  TokenError,
  type VerifyKey,
  type VerifyOptions,
  verifyToken,
} from '../../../src/aeiou/index.ts';
import { isTokenLine } from '../../../src/aeiou/token/format.ts';
import {
  canonicalText,
  FALLBACK,
  goldenKeys,
  goldenTurn,
  hex,
  ISSUED,
  jtiOf,
  lineOf,
  NONCE,
  PRIMARY,
  PRIMARY_PUBLIC,
  privateKeyOf,
  TEXTS,
  TestClock,
  TOKENS,
  tagOf,
  thrownBy,
  tokenOf,
} from '../kit.ts';

/** The verdict as `ok` or `CODE/detail`. */
function verdict(line: string, changes: Partial<VerifyOptions> = {}): string {
  const result = verifyToken(line, goldenTurn(changes));
  return result.ok ? 'ok' : `${result.code}/${result.detail}`;
}

/** The verdict on a correctly signed token with the given payload text. */
const signed = (text: string): string => verdict(tokenOf(text));
/** A correctly signed, canonical token with fields replaced. */
function withFields(fields: Readonly<Record<string, unknown>>): string {
  const all = { ...JSON.parse(TEXTS.T1), ...fields };
  const members = Object.keys(all)
    .filter((key) => all[key] !== undefined)
    .sort();
  return tokenOf(`{${members.map((key) => `"${key}":${JSON.stringify(all[key])}`).join(',')}}`);
}

describe('token: form', () => {
  it('A3-7-3: a token is exactly <<<NSMAG:V3:KIND:B64.B64>>>', () => {
    const body = TOKENS.T1.slice('<<<NSMAG:V3:LOOP:'.length, -3);
    const [payload, tag] = body.split('.');
    const shapes = [
      '',
      'x',
      body,
      TOKENS.T1.slice(1),
      TOKENS.T1.slice(0, -1),
      `${TOKENS.T1}>`,
      `<${TOKENS.T1}`,
      `<<<NSMAG:V3:LOOP:${payload}${tag}>>>`,
      `<<<NSMAG:V3:LOOP:${payload}..${tag}>>>`,
      `<<<NSMAG:V3:LOOP:${payload}.${tag}.${tag}>>>`,
      `<<<NSMAG:V3:LOOP:LOOP:${payload}.${tag}>>>`,
      `<<<NSMAG:V3:${payload}.${tag}>>>`,
      `<<<NSENV:V3:LOOP:${payload}.${tag}>>>`,
    ];
    expect(shapes.map((line) => verdict(line))).toEqual(shapes.map(() => 'ERR_TOKEN_PARSE/grammar'));
  });

  it('A3-7-3: a line is a token by the grammar exactly when the published form matches it', () => {
    const part = (right: string, ...wrong: readonly string[]) =>
      fc.oneof({ weight: 8, arbitrary: fc.constant(right) }, { weight: 1, arbitrary: fc.constantFrom('', ...wrong) });
    const base64 = part('eyJ-_09', 'a', 'AA==', 'a+b', 'a/b', 'a b', 'ä', 'a.b', 'a\n');
    const line = fc
      .tuple(
        part('<<<NSMAG:V3:', '<<NSMAG:V3:', ' <<<NSMAG:V3:', '<<<NSMAG:V4:', '<<<nsmag:V3:', '\ufeff<<<NSMAG:V3:'),
        part('LOOP', 'A_9', '_', 'loop', 'LO-OP', 'LOOP:LOOP', 'Ö'),
        part(':', '::', ' '),
        base64,
        part('.', '..', ':'),
        base64,
        part('>>>', '>>', '>>>>', '>>> ', '>>>\r', '>>>x'),
      )
      .map((parts) => parts.join(''));
    const form = /^<<<NSMAG:V3:[A-Z0-9_]+:[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+>>>$/;
    let matched = 0;
    fc.assert(
      fc.property(line, (text) => {
        matched += form.test(text) ? 1 : 0;
        expect(isTokenLine(text)).toBe(form.test(text));
      }),
      { seed: 7, numRuns: 500 },
    );
    expect(matched).toBeGreaterThan(100);
    expect(matched).toBeLessThan(400);
  });

  it('A3-7-4: KIND is one or more of A-Z, 0-9 and _', () => {
    for (const kind of ['loop', '', 'LO-OP', 'LOOP ', 'LÖOP', 'L.P'])
      expect(verdict(TOKENS.T1.replace(':LOOP:', `:${kind}:`))).toBe('ERR_TOKEN_PARSE/grammar');
    expect(decodeToken(TOKENS.T1.replace(':LOOP:', ':A_9:'))).toMatchObject({ ok: true, token: { kind: 'A_9' } });
  });

  it('A3-7-5: B64 is one or more letters of base64url without padding, and canonical', () => {
    const change = (text: string): string => TOKENS.T1.replace('LOOP:eyJp', `LOOP:${text}`);
    expect(['+yJp', '/yJp', 'eyJ=', ''].map((text) => verdict(change(text)))).toEqual([
      'ERR_TOKEN_PARSE/grammar',
      'ERR_TOKEN_PARSE/grammar',
      'ERR_TOKEN_PARSE/grammar',
      'ERR_TOKEN_PARSE/json',
    ]);
    expect(verdict(TOKENS.T1.replace(/:[^:]*\./, ':.'))).toBe('ERR_TOKEN_PARSE/grammar');
    expect(verdict(TOKENS.T1.replace(/\..*>>>/, '.>>>'))).toBe('ERR_TOKEN_PARSE/grammar');
    expect(verdict(TOKENS.T1.replace('LeVBg>>>', 'LeVBh>>>'))).toBe('ERR_TOKEN_PARSE/base64');
    expect(verdict(TOKENS.T1.replace('VBg>>>', 'VBgAAA>>>'))).toBe('ERR_TOKEN_PARSE/base64');
  });

  it('A3-12-2: a token of another version is none', () => {
    for (const version of ['V2', 'V4', 'v3', 'V'])
      expect(verdict(TOKENS.T1.replace(':V3:', `:${version}:`))).toBe('ERR_TOKEN_PARSE/grammar');
  });

  it.each([
    ['A3-13-T8: a token over two lines', TOKENS.T1.replace('.', '.\n')],
    ['A3-13-T9: a token in double quotes', `"${TOKENS.T1}"`],
    ['A3-13-T9: a token in single quotes', `'${TOKENS.T1}'`],
    ['A3-13-T10: a token in backticks', `\`${TOKENS.T1}\``],
    ['A3-6.2-3: a token with a space in front', ` ${TOKENS.T1}`],
    ['A3-6.2-3: a token with a space behind', `${TOKENS.T1} `],
    ['A3-6.2-3: a token with a tab behind', `${TOKENS.T1}\t`],
    ['A3-6.2-3: a token with a carriage return behind', `${TOKENS.T1}\r`],
    ['A3-6.2-3: a token with a line feed behind', `${TOKENS.T1}\n`],
    ['A3-6.2-3: a token with a space inside', TOKENS.T1.replace('LOOP:', 'LOOP: ')],
  ])('%s is refused', (_, line) => {
    expect(verdict(line)).toBe('ERR_TOKEN_PARSE/grammar');
  });

  it('A3-13-T11: an oversized token is refused by its length alone (threat 9)', () => {
    expect(verdict(`<<<NSMAG:V3:LOOP:${'A'.repeat(1025)}.AA>>>`)).toBe('ERR_TOKEN_PARSE/length');
    expect(verdict('x'.repeat(1_000_000))).toBe('ERR_TOKEN_PARSE/length');
  });
});

describe('token: payload', () => {
  it('is strict JSON: an object, no duplicates, no floats, nothing around it', () => {
    const t1 = TEXTS.T1;
    const bad = [
      '[]',
      '"x"',
      '1',
      '{}{}',
      ` ${t1}`,
      `${t1}\n`,
      `\ufeff${t1}`,
      t1.replace('"v":3', '"v":3,"v":3'),
      t1.replace('"v":3', '"v":3,"\\u0076":3'),
      t1.replace('"v":3', '"v":3,'),
      t1.replace('"sid-1"', '"\\ud800"'),
      t1.replace('"done"', `${'['.repeat(40)}${']'.repeat(40)}`),
    ];
    expect(bad.map(signed)).toEqual(bad.map(() => 'ERR_TOKEN_PARSE/json'));
    expect(verdict(tokenOf(Uint8Array.of(0x22, 0xc3, 0x28, 0x22)))).toBe('ERR_TOKEN_PARSE/json');
  });

  it('A3-13-J5: signed floats are refused', () => {
    const floats = ['1.5', '120.0', '1.2e2', '12e1'];
    expect(floats.map((literal) => signed(TEXTS.T1.replace('"ttl":120', `"ttl":${literal}`)))).toEqual(
      floats.map(() => 'ERR_TOKEN_PARSE/json'),
    );
  });

  it('AL3-5.2-3: the tag of the canonical form does not save another spelling, and neither does a tag of its own', () => {
    const t1 = TEXTS.T1;
    const spellings = [
      t1.replace('{"issued_at":1725012345,', '{').replace(',"v":3}', ',"v":3,"issued_at":1725012345}'),
      t1.replace('"v":3', '"v": 3'),
      t1.replace('"done"', '"d\\u006fne"'),
      t1.replace('sid-1', 'sid-\\u0031'),
      t1.replace('"turn_index":1', '"turn_index":-0'),
    ];
    for (const text of spellings) {
      expect(verdict(lineOf(Buffer.from(text), tagOf(Buffer.from(t1), PRIMARY)))).toBe('ERR_TOKEN_VERIFY/canonical');
      expect(signed(text)).toBe('ERR_TOKEN_VERIFY/canonical');
    }
  });

  it('A3-6.3-4: v must be the number 3', () => {
    for (const v of [2, 4, '3', null, undefined]) expect(verdict(withFields({ v }))).toBe('ERR_TOKEN_PARSE/version');
  });

  it('A3-6.3-5: the kind in the payload must be the one of the line', () => {
    expect(verdict(tokenOf(TEXTS.T1, PRIMARY, 'FOO'))).toBe('ERR_TOKEN_PARSE/kind');
    for (const kind of ['FOO', 'loop', 3, undefined]) expect(verdict(withFields({ kind }))).toBe('ERR_TOKEN_PARSE/kind');
  });

  it('A3-5.2-2: an unknown kind is refused, however well signed', () => {
    expect(verdict(tokenOf(TEXTS.T1.replace('"LOOP"', '"FOO"'), PRIMARY, 'FOO'))).toBe('ERR_TOKEN_PARSE/kind');
  });

  it('A3-12-4: so is any other kind of the grammar', () => {
    for (const kind of ['LOOP2', 'L', '_', '0'])
      expect(verdict(tokenOf(TEXTS.T1.replace('"LOOP"', `"${kind}"`), PRIMARY, kind))).toBe('ERR_TOKEN_PARSE/kind');
  });

  it('A3-5.2-1: the action is continue, done or abort, exactly', () => {
    for (const action of ['continue', 'done', 'abort']) expect(verdict(withFields({ payload: { action } }))).toBe('ok');
    for (const action of ['halt', 'Continue', 'DONE', '', ' done', null, 1, ['done'], undefined, 'toString'])
      expect(verdict(withFields({ payload: { action } }))).toBe('ERR_TOKEN_PARSE/action');
  });

  it('AL3-1-4: no token can ask for a HALT', () => {
    expect(verdict(withFields({ payload: { action: 'halt' } }))).toBe('ERR_TOKEN_PARSE/action');
  });

  it.each([
    ['A3-6.3-6: jti', 'jti', ['', null, 1, undefined]],
    ['A3-6.3-7: session_id', 'session_id', [null, 1, [], undefined]],
    ['A3-6.3-8: turn_index', 'turn_index', ['1', null, undefined]],
    ['A3-6.3-9: turn_nonce', 'turn_nonce', [null, 1, undefined]],
    ['A3-6.3-10: issued_at', 'issued_at', ['1725012345', null, undefined]],
    ['A3-6.3-11: ttl', 'ttl', ['120', null, []]],
    ['A3-6.3-13: payload', 'payload', [null, 'done', [], undefined]],
  ])('%s must have its type', (_, name, values) => {
    expect(values.map((value) => verdict(withFields({ [name]: value })))).toEqual(values.map(() => 'ERR_TOKEN_PARSE/field'));
  });

  it('A3-6.3-13: request and telemetry are objects when they are there, and come back as they were signed', () => {
    for (const name of ['request', 'telemetry'])
      for (const value of [null, 'x', [], 1])
        expect(verdict(withFields({ payload: { action: 'done', [name]: value } }))).toBe('ERR_TOKEN_PARSE/field');
    const payload = { action: 'done', request: { a: [1, { b: null }] }, telemetry: { ok: true } };
    expect(JSON.parse(JSON.stringify(requireToken(withFields({ payload }), goldenTurn()).payload))).toEqual(payload);
  });

  it('A3-12-3: unknown fields are ignored, but the tag covers them', () => {
    const line = withFields({ x: 1 });
    expect(verdict(line)).toBe('ok');
    const text = Buffer.from(decodePayload(line).replace('"x":1', '"x":2'));
    expect(verdict(lineOf(text, tagOf(Buffer.from(decodePayload(line)), PRIMARY)))).toBe('ERR_TOKEN_VERIFY/tag');
  });

  it('names like __proto__ are ordinary, and pollute nothing (threat 34)', () => {
    const text = TEXTS.T1.replace('{"action":"done"}', '{"__proto__":{"polluted":1},"action":"done"}');
    expect(signed(text)).toBe('ok');
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    expect(signed(TEXTS.T1.replace('"action":"done"', '"__proto__":{"action":"done"}'))).toBe('ERR_TOKEN_PARSE/action');
  });
});

describe('token: authenticity', () => {
  it('A3-13-T2: an altered payload is refused', () => {
    const altered = Buffer.from(TEXTS.T1.replace('"done"', '"abort"'));
    expect(verdict(lineOf(altered, tagOf(Buffer.from(TEXTS.T1), PRIMARY)))).toBe('ERR_TOKEN_VERIFY/tag');
  });

  it('A3-13-T12: another tag, an unknown kid, or the wrong algorithm is refused', () => {
    const message = Buffer.from(TEXTS.T1);
    const tag = Buffer.from(tagOf(message, PRIMARY));
    const flipped = Buffer.from(tag);
    flipped[40] = (flipped[40] ?? 0) ^ 1;
    expect(verdict(lineOf(message, flipped))).toBe('ERR_TOKEN_VERIFY/tag');
    expect(verdict(lineOf(message, tagOf(Buffer.from(TEXTS.T3), PRIMARY)))).toBe('ERR_TOKEN_VERIFY/tag');
    expect(verdict(lineOf(message, tagOf(message, FALLBACK)))).toBe('ERR_TOKEN_VERIFY/tag');
    expect(verdict(lineOf(message, tag.subarray(0, 63)))).toBe('ERR_TOKEN_VERIFY/tag_length');
    expect(verdict(lineOf(message, Buffer.concat([tag, tag])))).toBe('ERR_TOKEN_VERIFY/tag_length');
    expect(verdict(TOKENS.T1.replace('eVBg>>>', 'eVB>>>'))).toBe('ERR_TOKEN_PARSE/base64');
    expect(verdict(tokenOf(canonicalText({ kid: 'stranger' })))).toBe('ERR_TOKEN_VERIFY/unknown_kid');
  });

  it('a token signed by another host is refused (threat 6)', () => {
    const message = Buffer.from(TEXTS.T1);
    expect(verdict(lineOf(message, sign(null, message, privateKeyOf(randomBytes(32)))))).toBe('ERR_TOKEN_VERIFY/tag');
    expect(verdict(TOKENS.T1, { keys: new Keyring({ clock: new TestClock() }) })).toBe('ERR_TOKEN_VERIFY/unknown_kid');
  });

  it('A3-12-5: the registry alone says which algorithm a kid has (threat 29)', () => {
    const message = Buffer.from(TEXTS.T1);
    const confused = createHmac('sha256', PRIMARY_PUBLIC).update(message).digest();
    expect(verdict(lineOf(message, confused))).toBe('ERR_TOKEN_VERIFY/tag_length');
    expect(verdict(lineOf(message, Buffer.concat([confused, confused])))).toBe('ERR_TOKEN_VERIFY/tag');
    const shared = Buffer.from(TEXTS.T4);
    expect(verdict(lineOf(shared, tagOf(shared, PRIMARY)))).toBe('ERR_TOKEN_VERIFY/tag_length');
    expect(signed(TEXTS.T1.replace('{', '{"alg":"HS256",'))).toBe('ok');
  });

  it('A3-6.4-2: HS256 is refused unless it is switched on', () => {
    expect(verdict(TOKENS.T4)).toBe('ok');
    expect(verdict(TOKENS.T4, { keys: goldenKeys({ allowHs256: false }) })).toBe('ERR_TOKEN_VERIFY/unknown_kid');
  });

  it('A3-6.3-12: exactly the key of that kid is used, and odd kids are just unknown', () => {
    const asked: string[] = [];
    const keys = goldenKeys();
    const lookup = (kid: string): VerifyKey | null => {
      asked.push(kid);
      return keys.lookup(kid);
    };
    verdict(TOKENS.T5, { keys: { lookup } });
    expect(asked).toEqual([FALLBACK]);
    for (const kid of ['__proto__', 'constructor', '', 'x'.repeat(200)])
      expect(verdict(tokenOf(canonicalText({ kid })))).toBe('ERR_TOKEN_VERIFY/unknown_kid');
    for (const kid of ['1', 'null', '["x"]', '{}'])
      expect(signed(TEXTS.T1.replace(`"${PRIMARY}"`, kid))).toBe('ERR_TOKEN_PARSE/kid');
    expect(signed(TEXTS.T1.replace(`"kid":"${PRIMARY}",`, ''))).toBe('ERR_TOKEN_PARSE/kid');
  });

  it('a signature is not malleable: S plus the group order is refused (threat 31)', () => {
    const message = Buffer.from(TEXTS.T1);
    const tag = Buffer.from(tagOf(message, PRIMARY));
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    const s = BigInt(`0x${Buffer.from(tag.subarray(32)).reverse().toString('hex')}`) + order;
    const malleated = Buffer.concat([tag.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse()]);
    expect(verdict(lineOf(message, malleated))).toBe('ERR_TOKEN_VERIFY/tag');
  });

  it('a key that throws verifies nothing', () => {
    const verify = (): boolean => {
      throw new Error('hardware');
    };
    const keys = { lookup: () => ({ kid: PRIMARY, alg: 'Ed25519' as const, tagBytes: 64, verify }) };
    expect(verdict(TOKENS.T1, { keys })).toBe('ERR_TOKEN_VERIFY/tag');
  });
});

describe('token: binding', () => {
  it('A3-6.5-1: another session is refused (threat 5)', () => {
    expect(verdict(TOKENS.T1, { sessionId: 'sid-2' })).toBe('ERR_TOKEN_SCOPE/session');
  });
  it('A3-13-T3: a token of another session has the scope code', () => {
    expect(verdict(tokenOf(canonicalText({ sid: 'SID-1' })))).toBe('ERR_TOKEN_SCOPE/session');
  });
  it('A3-6.5-2: the turn before and the turn after are refused', () => {
    expect([0, 2].map((turnIndex) => verdict(TOKENS.T1, { turnIndex }))).toEqual([
      'ERR_TOKEN_SCOPE/turn',
      'ERR_TOKEN_SCOPE/turn',
    ]);
  });
  it('A3-13-T5: a token of another turn has the scope code', () => {
    expect(verdict(tokenOf(canonicalText({ turn: 2 })))).toBe('ERR_TOKEN_SCOPE/turn');
  });
  it('A3-6.5-3: another nonce is refused (threats 4, 7)', () => {
    expect(verdict(TOKENS.T1, { turnNonce: 'AAECAwQFBgcICQoLDA0ODg' })).toBe('ERR_TOKEN_SCOPE/nonce');
  });
  it('A3-13-T4: a token with another nonce has the scope code', () => {
    expect(verdict(tokenOf(canonicalText({ nonce: NONCE.toLowerCase() })))).toBe('ERR_TOKEN_SCOPE/nonce');
  });

  it('A3-6.5-4: a token is good through issued_at + ttl and not a second longer', () => {
    expect([0, 119, 120, 120.999].map((age) => verdict(TOKENS.T1, { now: ISSUED + age }))).toEqual(['ok', 'ok', 'ok', 'ok']);
    expect(verdict(TOKENS.T1, { now: ISSUED + 121 })).toBe('ERR_TOKEN_TTL/expired');
  });
  it('A3-13-T6: an expired token has the TTL code', () => {
    expect(verdict(TOKENS.T1, { now: 1725012466 })).toBe('ERR_TOKEN_TTL/expired');
  });
  it('A3-6.3-11: without ttl nothing expires, ttl 0 is good for its second, a negative one never', () => {
    expect(verdict(TOKENS.T6, { now: ISSUED + 1e9 })).toBe('ok');
    const zero = tokenOf(canonicalText({ ttl: 0 }));
    expect([0, 1].map((age) => verdict(zero, { now: ISSUED + age }))).toEqual(['ok', 'ERR_TOKEN_TTL/expired']);
    expect(verdict(tokenOf(canonicalText({ ttl: -1 })))).toBe('ERR_TOKEN_TTL/expired');
  });
  it('a token from the future is refused beyond the clock skew, when one is set (threat 26)', () => {
    expect(verdict(TOKENS.T1, { now: ISSUED - 3600 })).toBe('ok');
    expect([60, 61].map((ahead) => verdict(TOKENS.T1, { now: ISSUED - ahead, clockSkew: 60 }))).toEqual([
      'ok',
      'ERR_TOKEN_TTL/future',
    ]);
  });

  it('A3-6.5-5: a repeated id is refused (threat 3)', () => {
    const replay = new ReplayCache({ clock: new TestClock() });
    expect([1, 2, 3].map(() => verdict(TOKENS.T1, { replay }))).toEqual([
      'ok',
      'ERR_TOKEN_REPLAY/replay',
      'ERR_TOKEN_REPLAY/replay',
    ]);
  });
  it('A3-13-T7: a second token with the id of the first has the replay code', () => {
    const replay = new ReplayCache({ clock: new TestClock() });
    const other = tokenOf(canonicalText({ n: 1, payload: '{"action":"abort"}' }));
    expect([TOKENS.T1, other].map((line) => verdict(line, { replay }))).toEqual(['ok', 'ERR_TOKEN_REPLAY/replay']);
  });
  it('a failing token does not use up its id', () => {
    const replay = new ReplayCache({ clock: new TestClock() });
    expect(verdict(TOKENS.T1, { replay, sessionId: 'other' })).toBe('ERR_TOKEN_SCOPE/session');
    expect(verdict(TOKENS.T1, { replay, now: ISSUED + 999 })).toBe('ERR_TOKEN_TTL/expired');
    expect(verdict(tokenOf(canonicalText({ payload: '{"action":"x"}' })), { replay })).toBe('ERR_TOKEN_PARSE/action');
    expect(verdict(TOKENS.T1, { replay })).toBe('ok');
  });
});

describe('token: order of checks', () => {
  it('A3-8-3: each defect has its code, and of two the earlier check decides', () => {
    /** One defect each, in the order of the checks. The test combines each entry with every earlier one. */
    const text = (changes: Partial<Record<Defect, boolean>>): string => {
      let payload = canonicalText({
        kid: changes.unknown_kid ? 'stranger' : PRIMARY,
        sid: changes.session ? 'sid-2' : 'sid-1',
        turn: changes.turn ? 2 : 1,
        nonce: changes.nonce ? 'AAAA' : NONCE,
        issuedAt: changes.expired ? ISSUED - 1000 : ISSUED,
        payload: changes.action ? '{"action":"halt"}' : '{"action":"done"}',
      });
      if (changes.version) payload = payload.replace('"v":3', '"v":4');
      if (changes.canonical) payload = payload.replace('"v":', '"v": ');
      if (changes.kid) payload = payload.replace(/"kid":"[^"]*",/, '"kid":7,');
      return changes.json ? `${payload}}` : payload;
    };
    type Defect = (typeof DEFECTS)[number][0];
    const DEFECTS = [
      ['json', 'ERR_TOKEN_PARSE/json'],
      ['kid', 'ERR_TOKEN_PARSE/kid'],
      ['unknown_kid', 'ERR_TOKEN_VERIFY/unknown_kid'],
      ['tag_length', 'ERR_TOKEN_VERIFY/tag_length'],
      ['canonical', 'ERR_TOKEN_VERIFY/canonical'],
      ['tag', 'ERR_TOKEN_VERIFY/tag'],
      ['version', 'ERR_TOKEN_PARSE/version'],
      ['action', 'ERR_TOKEN_PARSE/action'],
      ['session', 'ERR_TOKEN_SCOPE/session'],
      ['turn', 'ERR_TOKEN_SCOPE/turn'],
      ['nonce', 'ERR_TOKEN_SCOPE/nonce'],
      ['expired', 'ERR_TOKEN_TTL/expired'],
      ['replay', 'ERR_TOKEN_REPLAY/replay'],
    ] as const;
    const judge = (defects: readonly Defect[]): string => {
      const has = Object.fromEntries(defects.map((defect) => [defect, true]));
      const message = Buffer.from(text(has));
      const tag = Buffer.from(tagOf(message, PRIMARY));
      if (has['tag']) tag[3] = (tag[3] ?? 0) ^ 4;
      const replay = new ReplayCache({ clock: new TestClock() });
      if (has['replay']) replay.add('sid-1', jtiOf(1));
      return verdict(lineOf(message, has['tag_length'] ? tag.subarray(1) : tag), { replay });
    };
    for (const [i, [first, expected]] of DEFECTS.entries()) {
      expect(judge([first])).toBe(expected);
      for (const [second] of DEFECTS.slice(i + 1))
        expect(`${first}+${second} ${judge([first, second])}`).toBe(`${first}+${second} ${expected}`);
    }
  });

  it('requireToken throws a TokenError with the code', () => {
    const error = thrownBy(() => requireToken(TOKENS.T1, goldenTurn({ turnIndex: 9 })));
    expect(error).toBeInstanceOf(TokenError);
    expect(error).toMatchObject({ code: 'ERR_TOKEN_SCOPE', detail: 'turn', name: 'TokenError' });
    expect(requireToken(TOKENS.T1, goldenTurn()).jti).toBe(jtiOf(1));
  });

  it('messages never quote the token, a key or the nonce (threat 43)', () => {
    const lines = [TOKENS.T1, `"${TOKENS.T1}"`, tokenOf(canonicalText({ nonce: 'AAAA' })), TOKENS.T1.replace('VBg>', 'VBw>')];
    for (const line of lines) {
      const result = verifyToken(line, goldenTurn({ turnIndex: 2 }));
      const message = result.ok ? '' : result.message;
      expect(message).not.toContain(NONCE);
      expect(message).not.toContain('eyJ');
      expect(message).not.toContain(Buffer.from(hex('9d61b19d')).toString('base64url'));
    }
  });
});

function decodePayload(line: string): string {
  return Buffer.from(line.split(':')[3]?.split('.')[0] ?? '', 'base64url').toString();
}

describe('token: several keys', () => {
  it('verifies Ed25519 and HS256 tokens with one ring', () => {
    expect([TOKENS.T1, TOKENS.T4, TOKENS.T5].map((line) => verdict(line))).toEqual(['ok', 'ok', 'ok']);
  });
});
