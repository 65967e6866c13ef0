// Verifying and minting control tokens.
import { createHmac } from 'node:crypto';
import {
  b64,
  control,
  error,
  KEYS,
  lineOf,
  made,
  ok,
  padded,
  publicHalf,
  SEEDS,
  T1,
  T2,
  T3,
  T4,
  T5,
  T6,
  TURN,
  tagOf,
  textOf,
  token,
} from './shared.mjs';

const PARSE = error('ERR_TOKEN_PARSE');
const VERIFY = error('ERR_TOKEN_VERIFY');
const genuine = (action, n, kid = 'ed25519-test-1') =>
  ok({ action, kid, jti: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}` });
const TEXT1 = textOf(1);
const message1 = Buffer.from(TEXT1);
const tag1 = tagOf(message1, 'ed25519-test-1');
const respelt = (text) => [lineOf(text, tag1), token(text)];
const otherDigit = (text, at) => `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;

export const verify = [
  ['T1', 'done, Ed25519', ['A3-13-T1'], T1, {}, genuine('done', 1)],
  ['T2', 'continue, with request and telemetry', ['A3-6.3-13'], T2, {}, genuine('continue', 2)],
  ['T3', 'abort', ['A3-5.2-1'], T3, {}, genuine('abort', 3)],
  ['T4', 'done, HS256', ['A3-6.4-2'], T4, {}, genuine('done', 4, 'hs256-test-1')],
  ['T5', 'the abort of a fallback signer', ['A3-11.4-2'], T5, {}, genuine('abort', 5, 'ed25519-fallback-1')],
  ['T6', 'no ttl: it does not expire', ['A3-6.3-11'], T6, { now: 9999999999 }, genuine('done', 6)],
  ['T2-altered', 'another action, the old tag', ['A3-13-T2'], lineOf(textOf(1, { payload: control('abort') }), tag1), {}, VERIFY],
  ['T3-session', 'another session', ['A3-13-T3'], T1, { session: 'sid-2' }, error('ERR_TOKEN_SCOPE')],
  ['T4-nonce', 'another nonce', ['A3-13-T4'], T1, { nonce: 'AAECAwQFBgcICQoLDA0ODg' }, error('ERR_TOKEN_SCOPE')],
  ['T5-turn', 'the next turn', ['A3-13-T5'], T1, { turn: 2 }, error('ERR_TOKEN_SCOPE')],
  ['T5-turn-before', 'the turn before', ['A3-13-T5'], T1, { turn: 0 }, error('ERR_TOKEN_SCOPE')],
  ['T6-last', 'the last second', ['A3-6.5-4'], T1, { now: 1725012465 }, genuine('done', 1)],
  ['T6-expired', 'one second later', ['A3-13-T6'], T1, { now: 1725012466 }, error('ERR_TOKEN_TTL')],
  ['T6-zero', 'ttl 0: the same second', ['A3-6.3-11'], made(1, { ttl: 0 }), {}, genuine('done', 1)],
  ['T6-zero-after', 'ttl 0: the next second', ['A3-6.3-11'], made(1, { ttl: 0 }), { now: 1725012346 }, error('ERR_TOKEN_TTL')],
  ['T6-negative', 'a negative ttl has always expired', ['A3-6.3-11'], made(1, { ttl: -1 }), {}, error('ERR_TOKEN_TTL')],
  ['T6-skew', 'from the future, within the skew', ['A3-6.5-4'], T1, { now: 1725012285, clockSkew: 60 }, genuine('done', 1)],
  ['T6-future', 'from the future, beyond the skew', ['A3-6.5-4'], T1, { now: 1725012284, clockSkew: 60 }, error('ERR_TOKEN_TTL')],
  ['T7', 'an id that was used', ['A3-13-T7'], T1, { seen: ['00000000-0000-4000-8000-000000000001'] }, error('ERR_TOKEN_REPLAY')],
  [
    'T7-expired',
    'used and expired: the earlier check decides',
    ['A3-8-3'],
    T1,
    { now: 1725012466, seen: ['00000000-0000-4000-8000-000000000001'] },
    error('ERR_TOKEN_TTL'),
  ],
  [
    'T7-scope',
    'expired and of another turn: the earlier check decides',
    ['A3-8-3'],
    T1,
    { now: 1725012466, turn: 2 },
    error('ERR_TOKEN_SCOPE'),
  ],
  ['T8', 'in two lines', ['A3-13-T8'], `${T1.slice(0, 100)}\n${T1.slice(100)}`, {}, PARSE],
  ['T8-lf', 'a line feed behind', ['A3-6.2-3'], `${T1}\n`, {}, PARSE],
  ['T9', 'in double quotes', ['A3-13-T9'], `"${T1}"`, {}, PARSE],
  ['T9-single', 'in single quotes', ['A3-13-T9'], `'${T1}'`, {}, PARSE],
  ['T10', 'in backticks', ['A3-13-T10'], `\`${T1}\``, {}, PARSE],
  ['T10-space', 'a space in front', ['A3-6.2-3'], ` ${T1}`, {}, PARSE],
  ['T10-cr', 'a carriage return behind', ['A3-6.2-3'], `${T1}\r`, {}, PARSE],
  ['T11-1023', 'Ed25519, 1023 bytes', ['A3-6.2-4'], padded(1, 'ed25519-test-1', 442), {}, genuine('done', 1)],
  ['T11-1025', 'Ed25519, 1025 bytes', ['A3-13-T11'], padded(1, 'ed25519-test-1', 443), {}, PARSE],
  ['T11-1024', 'HS256, 1024 bytes', ['A3-6.2-4'], padded(4, 'hs256-test-1', 477), {}, genuine('done', 4, 'hs256-test-1')],
  ['T11-1026', 'HS256, 1026 bytes', ['A3-13-T11'], padded(4, 'hs256-test-1', 478), {}, PARSE],
  [
    'T12-tag',
    'the tag of another token',
    ['A3-13-T12'],
    lineOf(TEXT1, tagOf(Buffer.from(textOf(2)), 'ed25519-test-1')),
    {},
    VERIFY,
  ],
  ['T12-short', 'a tag of 63 bytes', ['A3-13-T12'], lineOf(TEXT1, tag1.subarray(0, 63)), {}, VERIFY],
  ['T12-long', 'a tag of 65 bytes', ['A3-13-T12'], lineOf(TEXT1, Buffer.concat([tag1, Buffer.alloc(1)])), {}, VERIFY],
  ['T12-kid', 'a kid that nobody knows', ['A3-13-T12'], token(textOf(1, { kid: 'unknown' }), 'ed25519-test-1'), {}, VERIFY],
  ['T12-proto', 'the kid __proto__', ['A3-13-T12'], token(textOf(1, { kid: '__proto__' }), 'ed25519-test-1'), {}, VERIFY],
  [
    'T12-hmac',
    'HMAC with the public key as secret, under an Ed25519 kid',
    ['A3-12-5'],
    lineOf(TEXT1, createHmac('sha256', publicHalf('ed25519-test-1')).update(message1).digest()),
    {},
    VERIFY,
  ],
  [
    'T12-alg',
    'an Ed25519 tag under an HS256 kid',
    ['A3-12-5'],
    lineOf(textOf(4, { kid: 'hs256-test-1' }), tagOf(Buffer.from(textOf(4, { kid: 'hs256-test-1' })), 'ed25519-test-1')),
    {},
    VERIFY,
  ],
  ['T12-s', 'S and the group order added', ['A3-6.4-1'], lineOf(TEXT1, malleable(tag1)), {}, VERIFY],
  ['T12-hs-off', 'HS256 where no such key is registered', ['A3-6.4-2'], T4, { keys: KEYS.slice(0, 2) }, VERIFY],
  ['B-trailing', 'bits set beyond the last byte', ['A3-7-5'], T1.replace('Bg>>>', 'Bh>>>'), {}, PARSE],
  ['B-padding', 'padding', ['A3-7-5'], T1.replace('>>>', '==>>>'), {}, PARSE],
  ['B-standard', 'a letter of the other alphabet', ['A3-7-5'], T1.replace('_4', '/4'), {}, PARSE],
  ['B-length', 'a length of 4n+1', ['A3-7-5'], T1.replace('>>>', 'AAA>>>'), {}, PARSE],
  ['G-kind', 'a kind in lower case', ['A3-7-4'], T1.replace('LOOP', 'loop'), {}, PARSE],
  ['G-dots', 'two dots', ['A3-7-3'], T1.replace('.', '..'), {}, PARSE],
  ['G-empty', 'an empty payload', ['A3-7-5'], T1.replace(/LOOP:[^.]*/, 'LOOP:'), {}, PARSE],
  ['G-version', 'another version', ['A3-12-2'], T1.replace('V3', 'V4'), {}, PARSE],
  ['G-empty-line', 'an empty line', ['AL3-5.2-1'], '', {}, PARSE],
  ...[
    ['space', 'a space', TEXT1.replace(',', ', ')],
    ['order', 'another order', `{"v":3,${TEXT1.slice(1, -7)}}`],
    ['escape', 'an escape that is not needed', TEXT1.replace('done', 'd\\u006fne')],
    ['minus-zero', 'minus zero', textOf(1, { payload: '{"action":"done","n":-0}' })],
  ].flatMap(([id, what, text]) =>
    respelt(text).map((line, i) => [
      `S-${id}${i === 0 ? '' : '-own'}`,
      `a payload that is not canonical: ${what}${i === 0 ? '' : ', with a tag of its own'}`,
      ['AL3-5.2-3'],
      line,
      {},
      VERIFY,
    ]),
  ),
  ...[
    ['float', 'a fraction', textOf(1, { payload: '{"action":"done","n":1.5}' })],
    ['exponent', 'an exponent', textOf(1, { payload: '{"action":"done","n":1e2}' })],
    ['large', 'the integer 2^53', textOf(1, { payload: '{"action":"done","n":9007199254740992}' })],
    ['twice', 'a name twice', textOf(1, { payload: '{"action":"done","action":"done"}' })],
    ['comma', 'a trailing comma', TEXT1.replace('"v":3', '"v":3,')],
    ['array', 'no object', '[1]'],
    ['two', 'two documents', `${TEXT1}${TEXT1}`],
    ['deep', 'containers 33 deep', textOf(1, { payload: `{"action":"done","n":${'['.repeat(31)}${']'.repeat(31)}}` })],
    ['surrogate', 'an escaped lone surrogate', textOf(1, { payload: '{"action":"done","n":"\\ud800"}' })],
    ['no-kid', 'no kid', TEXT1.replace('"kid":"ed25519-test-1",', '')],
    ['kid-number', 'a kid that is a number', TEXT1.replace('"kid":"ed25519-test-1"', '"kid":1')],
  ].map(([id, what, text]) => [
    `J-${id}`,
    `signed, but no JSON of the profile: ${what}`,
    ['A3-6.3-3', 'AL3-8-7'],
    token(text),
    {},
    PARSE,
  ]),
  ['J-utf8', 'signed, but no UTF-8', ['A3-13-T12'], token(Buffer.from([0x7b, 0xff, 0x7d])), {}, PARSE],
  ...[
    ['v', 'v is 2', textOf(1, { v: 2 })],
    ['v-text', 'v is a text', textOf(1, { v: '"3"' })],
    ['no-v', 'no v', TEXT1.replace(',"v":3', '')],
    ['action', 'the action halt', textOf(1, { payload: control('halt') })],
    ['action-case', 'an action in another case', textOf(1, { payload: control('Done') })],
    ['no-action', 'no action', textOf(1, { payload: '{}' })],
    ['payload', 'payload is a text', textOf(1, { payload: '"done"' })],
    ['request', 'request is a text', textOf(1, { payload: control('done', ',"request":"x"') })],
    ['telemetry', 'telemetry is null', textOf(1, { payload: control('done', ',"telemetry":null') })],
    ['jti', 'an empty jti', textOf(1, { jti: '' })],
    ['turn', 'turn_index is a text', textOf(1, { turn: '"1"' })],
    ['issued', 'issued_at is a text', textOf(1, { issued: '"1725012345"' })],
    ['ttl', 'ttl is null', TEXT1.replace('"ttl":120', '"ttl":null')],
    ['kind', 'the kind inside differs', token(textOf(1, { kind: 'OTHER' })), null],
  ].map(([id, what, text, whole]) => [
    `F-${id}`,
    `genuine tag, wrong field: ${what}`,
    ['A3-6.3-4', 'AL3-8-7'],
    whole === null ? text : token(text),
    {},
    PARSE,
  ]),
  ['F-foo', 'a correctly signed token of an unknown kind', ['A3-5.2-2'], made(1, { kind: 'FOO' }), {}, PARSE],
  ['F-extra', 'an unknown field is ignored', ['A3-12-3'], made(1, { extra: '"a":1,' }), {}, genuine('done', 1)],
  [
    'F-extra-changed',
    'but covered by the tag',
    ['A3-12-3'],
    lineOf(textOf(1, { extra: '"a":2,' }), tagOf(Buffer.from(textOf(1, { extra: '"a":1,' })), 'ed25519-test-1')),
    {},
    VERIFY,
  ],
  ...mutations(),
].map(([id, about, requirements, line, changes, expect]) => {
  const { keys, ...turn } = changes;
  return {
    id,
    about,
    requirements,
    input: { line, turn: { ...TURN, ...turn }, keys },
    expect,
  };
});

/** A signature with S + L, which verifies wherever S is not checked. */
function malleable(tag) {
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  let s = BigInt(`0x${Buffer.from(tag.subarray(32)).reverse().toString('hex')}`) + order;
  const out = Buffer.from(tag);
  for (let i = 32; i < 64; i++, s >>= 8n) out[i] = Number(s & 255n);
  return out;
}

/** T1 with one letter changed, at every ninth place, and T1 truncated. */
function mutations() {
  const list = [];
  const any = error(['ERR_TOKEN_PARSE', 'ERR_TOKEN_VERIFY']);
  for (let at = 0; at < T1.length; at += 9)
    list.push([`Z-${at}`, `T1 with another letter at ${at}`, ['A3-6.1-3'], otherDigit(T1, at), {}, any]);
  for (let end = 0; end < T1.length; end += 45)
    list.push([`Z-cut-${end}`, `the first ${end} bytes of T1`, ['A3-6.1-3'], T1.slice(0, end), {}, any]);
  return list;
}

const request = (payload, changes = {}) => ({
  key: { kid: 'ed25519-test-1', alg: 'Ed25519', seed: b64(Buffer.from(SEEDS['ed25519-test-1'], 'hex')) },
  session: TURN.session,
  turn: TURN.turn,
  nonce: TURN.nonce,
  jti: '00000000-0000-4000-8000-000000000001',
  issuedAt: 1725012345,
  ttl: 120,
  payload,
  ...changes,
});
const ARGS = error('ERR_MAGIC_TOOL_ARGS');
export const mint = [
  ['N-T1', 'T1, byte for byte', request({ action: 'done' }), ok({ line: T1 })],
  [
    'N-T2',
    'T2: members in any order give the same bytes',
    request(
      { telemetry: {}, request: { min_tokens: 1024 }, action: 'continue' },
      { jti: '00000000-0000-4000-8000-000000000002' },
    ),
    ok({ line: T2 }),
  ],
  [
    'N-T4',
    'T4, HS256',
    request({ action: 'done' }, { jti: '00000000-0000-4000-8000-000000000004', key: KEYS[2] }),
    ok({ line: T4 }),
  ],
  [
    'N-T6',
    'T6, without a ttl',
    request({ action: 'done' }, { jti: '00000000-0000-4000-8000-000000000006', ttl: null }),
    ok({ line: T6 }),
  ],
  [
    'N-1023',
    '1023 bytes',
    request({ action: 'done', request: { pad: 'a'.repeat(442) } }),
    ok({ line: padded(1, 'ed25519-test-1', 442) }),
  ],
  ['N-1025', '1025 bytes', request({ action: 'done', request: { pad: 'a'.repeat(443) } }), ARGS],
  ['N-float', 'a fraction', request({ action: 'done', request: { n: 1.5 } }), ARGS],
].map(([id, about, input, expect]) => ({ id, about, requirements: ['A3-6.3-1', 'A3-6.3-2'], input, expect }));
