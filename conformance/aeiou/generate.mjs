// Writes the vectors of this folder: `npx node conformance/aeiou/generate.mjs`. Nothing of the implementation takes part: texts are
// written out here, tags and digests come from node:crypto, and expected outcomes are what the specification says.
import { createHash, createHmac, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';

const FORMAT = 1;

// Keys of RFC 8032 7.1 (tests 1 and 2), and a shared secret.
const SEEDS = {
  'ed25519-test-1': '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
  'ed25519-fallback-1': '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
};
const SECRET = Buffer.alloc(32, 0x0b);
const b64 = (bytes) => Buffer.from(bytes).toString('base64url');

function privateKey(kid) {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.from(SEEDS[kid], 'hex')]);
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
}
const publicHalf = (kid) => createPublicKey(privateKey(kid)).export({ format: 'der', type: 'spki' }).subarray(12);
const tagOf = (message, kid) =>
  kid === 'hs256-test-1' ? createHmac('sha256', SECRET).update(message).digest() : sign(null, message, privateKey(kid));

export const KEYS = [
  ...Object.keys(SEEDS).map((kid) => ({ kid, alg: 'Ed25519', public: b64(publicHalf(kid)) })),
  { kid: 'hs256-test-1', alg: 'HS256', secret: b64(SECRET) },
];
export const TURN = { session: 'sid-1', turn: 1, nonce: 'AAECAwQFBgcICQoLDA0ODw', now: 1725012345 };

/** The canonical text of a payload, member by member in the order of RFC 8785; `extra` stands before `issued_at`. */
function textOf(n, changes = {}) {
  const given = {
    kid: 'ed25519-test-1',
    kind: 'LOOP',
    payload: '{"action":"done"}',
    ttl: 120,
    issued: 1725012345,
    ...TURN,
    ...changes,
  };
  const jti = given.jti ?? `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
  const ttl = given.ttl === null ? '' : `"ttl":${given.ttl},`;
  const members = `"issued_at":${given.issued},"jti":${JSON.stringify(jti)},"kid":${JSON.stringify(given.kid)},"kind":"${given.kind}","payload":${given.payload}`;
  const scope = `"session_id":${JSON.stringify(given.session)},${ttl}"turn_index":${given.turn},"turn_nonce":"${given.nonce}"`;
  return `{${given.extra ?? ''}${members},${scope},"v":${given.v ?? 3}}`;
}
const lineOf = (text, tag, kind = 'LOOP') => `<<<NSMAG:V3:${kind}:${b64(text)}.${b64(tag)}>>>`;
const token = (text, kid = 'ed25519-test-1', kind = 'LOOP') => lineOf(text, tagOf(Buffer.from(text), kid), kind);
const made = (n, changes = {}) => token(textOf(n, changes), changes.kid, changes.kind);
const control = (action, more = '') => `{"action":"${action}"${more}}`;

const T1 = made(1);
const T2 = made(2, { payload: '{"action":"continue","request":{"min_tokens":1024},"telemetry":{}}' });
const T3 = made(3, { payload: control('abort') });
const T4 = made(4, { kid: 'hs256-test-1' });
const T5 = made(5, { kid: 'ed25519-fallback-1', payload: '{"action":"abort","request":{"reason":"fallback_signer_activated"}}' });
const T6 = made(6, { ttl: null });
const padded = (n, kid, pad) => made(n, { kid, payload: `{"action":"done","request":{"pad":"${'a'.repeat(pad)}"}}` });

// --- envelopes

const M = Object.fromEntries(
  ['START', 'USERDATA', 'SCRATCHPAD', 'OUTPUT', 'ACTIONS', 'END'].map((name) => [name, `<<<NSENV:V3:${name}>>>`]),
);
const CODE = 'command\n  emit 1\nendcommand';
const join = (...lines) => lines.join('\n');
const MINIMAL = join(M.START, M.USERDATA, '{}', M.ACTIONS, CODE, M.END);
const bodies = (changes = {}) => ({ userdata: '{}', scratchpad: null, output: null, actions: CODE, lints: [], ...changes });
const withScratchpad = (body) => join(M.START, M.USERDATA, '{}', M.SCRATCHPAD, body, M.ACTIONS, CODE, M.END);
const MiB = 1024 * 1024;
const KiB512 = 512 * 1024;
const fill = (times) => ({ repeat: 'x', times });
const asciiLength = (...lines) => join(...lines).length;

function section(name, size) {
  const lines = { USERDATA: ['{}'], SCRATCHPAD: null, OUTPUT: null, ACTIONS: [CODE] };
  // OUTPUT has lines of at most 8192 bytes: 8191 and a line feed, again and again.
  const body = name === 'OUTPUT' ? [{ repeat: [fill(8191), '\n'], times: size / 8192 - 1 }, fill(8192)] : [fill(size)];
  return Object.keys(lines).flatMap((each) => {
    if (each === name) return [`${M[each]}\n`, ...body, '\n'];
    return lines[each] === null ? [] : [`${M[each]}\n${lines[each]}\n`];
  });
}
const sized = (name, size) => [`${M.START}\n`, ...section(name, size), M.END];

/** An envelope of exactly this many bytes: USERDATA and SCRATCHPAD share them. */
function wholeOf(size) {
  const frame = asciiLength(M.START, M.USERDATA, '', M.SCRATCHPAD, '', M.ACTIONS, CODE, M.END);
  const left = size - frame - KiB512;
  return [`${M.START}\n${M.USERDATA}\n`, fill(KiB512), `\n${M.SCRATCHPAD}\n`, fill(left), `\n${M.ACTIONS}\n${CODE}\n${M.END}`];
}

const ok = (value) => ({ ok: value });
const error = (code) => ({ error: code });
const MARKERS = error('ERR_ENV_MARKERS_INVALID');

const parse = [
  ['E1', 'the minimal envelope', ['A3-13-E1'], MINIMAL, ok(bodies())],
  ['E1-lf', 'one line feed after END', ['A3-7-1'], `${MINIMAL}\n`, ok(bodies())],
  [
    'E1-empty',
    'bodies without a line',
    ['A3-7-1'],
    join(M.START, M.USERDATA, M.ACTIONS, M.END),
    ok(bodies({ userdata: '', actions: '' })),
  ],
  [
    'E1-blank',
    'bodies of an empty line',
    ['A3-3.4-4'],
    join(M.START, M.USERDATA, '', M.ACTIONS, '', M.END),
    ok(bodies({ userdata: '', actions: '' })),
  ],
  ['E2-scratchpad', 'SCRATCHPAD alone', ['A3-13-E2'], withScratchpad('note'), ok(bodies({ scratchpad: 'note' }))],
  [
    'E2-output',
    'OUTPUT alone',
    ['A3-13-E2'],
    join(M.START, M.USERDATA, '{}', M.OUTPUT, 'said', M.ACTIONS, CODE, M.END),
    ok(bodies({ output: 'said' })),
  ],
  [
    'E2-both',
    'both, with blanks, carriage returns, a NUL and empty lines',
    ['A3-13-E2', 'A3-3.4-4'],
    join(M.START, M.USERDATA, '{}', M.SCRATCHPAD, ' a \r\n\t\n\u0000b', M.OUTPUT, '\n\n', M.ACTIONS, CODE, M.END),
    ok(bodies({ scratchpad: ' a \r\n\t\n\u0000b', output: '\n\n' })),
  ],
  ...['USERDATA', 'SCRATCHPAD', 'OUTPUT', 'ACTIONS'].map((name) => [
    `E3-${name}`,
    `a second ${name}: the first counts`,
    ['A3-13-E3', 'A3-3.2-6'],
    join(M.START, M.USERDATA, 'u', M.SCRATCHPAD, 's', M.OUTPUT, 'o', M.ACTIONS, 'a', M[name], 'second', M.END),
    ok({ userdata: 'u', scratchpad: 's', output: 'o', actions: 'a', lints: ['LINT_DUP_SECTION_IGNORED'] }),
  ]),
  [
    'E3-three',
    'every ignored copy is a lint',
    ['A3-3.2-6'],
    join(M.START, M.USERDATA, 'u', M.USERDATA, 'v', M.ACTIONS, 'a', M.USERDATA, 'w', M.END),
    ok(bodies({ userdata: 'u', actions: 'a', lints: ['LINT_DUP_SECTION_IGNORED', 'LINT_DUP_SECTION_IGNORED'] })),
  ],
  [
    'E4',
    'ACTIONS before USERDATA',
    ['A3-13-E4'],
    join(M.START, M.ACTIONS, CODE, M.USERDATA, '{}', M.END),
    error('ERR_ENV_ORDER'),
  ],
  [
    'E4-output',
    'OUTPUT before SCRATCHPAD',
    ['A3-3.2-1'],
    join(M.START, M.USERDATA, '{}', M.OUTPUT, 'o', M.SCRATCHPAD, 's', M.ACTIONS, CODE, M.END),
    error('ERR_ENV_ORDER'),
  ],
  [
    'E4-missing',
    'the order is judged before what is missing',
    ['A3-13-E4'],
    join(M.START, M.OUTPUT, 'o', M.USERDATA, '{}', M.END),
    error('ERR_ENV_ORDER'),
  ],
  ['E5-envelope', 'exactly 1 MiB', ['A3-13-E5', 'A3-3.4-5'], wholeOf(MiB), { accepted: true }],
  ['E5-envelope+1', '1 MiB and one byte', ['A3-13-E5', 'A3-3.4-5'], wholeOf(MiB + 1), error('ERR_ENV_SIZE')],
  ...['USERDATA', 'SCRATCHPAD', 'OUTPUT', 'ACTIONS'].flatMap((name) => [
    [`E5-${name}`, `${name} of exactly 512 KiB`, ['A3-3.4-6'], sized(name, KiB512), { accepted: true }],
    [
      `E5-${name}+1`,
      `${name} of 512 KiB and one byte`,
      ['A3-13-E5', 'A3-3.4-6'],
      name === 'OUTPUT'
        ? [
            `${M.START}\n${M.USERDATA}\n{}\n${M.OUTPUT}\n`,
            { repeat: [fill(8191), '\n'], times: 64 },
            'x',
            `\n${M.ACTIONS}\n${CODE}\n${M.END}`,
          ]
        : sized(name, KiB512 + 1),
      error('ERR_ENV_SIZE'),
    ],
  ]),
  [
    'E5-line',
    'a line of OUTPUT of 8192 bytes',
    ['A3-3.4-7'],
    [`${M.START}\n${M.USERDATA}\n{}\n${M.OUTPUT}\n`, fill(8192), `\n${M.ACTIONS}\n${CODE}\n${M.END}`],
    { accepted: true },
  ],
  [
    'E5-line+1',
    'a line of OUTPUT of 8193 bytes',
    ['A3-13-E5', 'A3-3.4-7'],
    [`${M.START}\n${M.USERDATA}\n{}\n${M.OUTPUT}\n`, fill(8193), `\n${M.ACTIONS}\n${CODE}\n${M.END}`],
    error('ERR_ENV_SIZE'),
  ],
  [
    'E5-line-bytes',
    'bytes are counted, not characters',
    ['A3-3.4-7'],
    [`${M.START}\n${M.USERDATA}\n{}\n${M.OUTPUT}\n`, { repeat: 'é', times: 4097 }, `\n${M.ACTIONS}\n${CODE}\n${M.END}`],
    error('ERR_ENV_SIZE'),
  ],
  [
    'E5-line-else',
    'lines of other sections have no limit',
    ['A3-3.4-7'],
    [`${M.START}\n${M.USERDATA}\n{}\n${M.SCRATCHPAD}\n`, fill(8193), `\n${M.ACTIONS}\n${CODE}\n${M.END}`],
    { accepted: true },
  ],
  ...[
    ['c328', 'a broken sequence'],
    ['c0af', 'an overlong form'],
    ['eda080', 'a surrogate'],
    ['ff', 'no UTF-8 at all'],
  ].map(([hex, what]) => [
    `E6-${hex}`,
    `${what} in a body`,
    ['A3-13-E6', 'A3-3.4-1'],
    [`${M.START}\n${M.USERDATA}\n`, { hex }, `\n${M.ACTIONS}\n${CODE}\n${M.END}`],
    MARKERS,
  ]),
  ['E7-empty', 'no bytes', ['A3-13-E7'], '', MARKERS],
  ['E7-start', 'no START', ['A3-13-E7'], join(M.USERDATA, '{}', M.ACTIONS, CODE, M.END), MARKERS],
  ['E7-only-start', 'START alone', ['A3-13-E7'], M.START, MARKERS],
  ['E7-only-end', 'END alone', ['A3-13-E7'], M.END, MARKERS],
  ['E7-end', 'no END', ['A3-13-E7'], join(M.START, M.USERDATA, '{}', M.ACTIONS, CODE), MARKERS],
  [
    'E7-nested',
    'a second START',
    ['A3-13-E7', 'AL3-8-4'],
    join(M.START, M.USERDATA, '{}', M.START, M.ACTIONS, CODE, M.END),
    error('ERR_ENV_SECTION_DUP'),
  ],
  [
    'E7-unknown',
    'a section of another name',
    ['A3-13-E7'],
    join(M.START, M.USERDATA, '{}', '<<<NSENV:V3:EVENTS>>>', M.ACTIONS, CODE, M.END),
    MARKERS,
  ],
  ['E7-version', 'a marker of another version', ['A3-12-1'], MINIMAL.replace('V3:ACTIONS', 'V4:ACTIONS'), MARKERS],
  [
    'E7-stray',
    'text before the first section',
    ['A3-13-E7'],
    join(M.START, 'x', M.USERDATA, '{}', M.ACTIONS, CODE, M.END),
    MARKERS,
  ],
  ['E7-before', 'text before START', ['A3-13-E7'], `x\n${MINIMAL}`, MARKERS],
  ['E7-after', 'text after END', ['A3-13-E7'], `${MINIMAL}\nx`, MARKERS],
  ['E7-userdata', 'no USERDATA', ['A3-3.2-2'], join(M.START, M.ACTIONS, CODE, M.END), error('ERR_ENV_SECTION_MISSING')],
  ['E7-actions', 'no ACTIONS', ['A3-3.2-3'], join(M.START, M.USERDATA, '{}', M.END), error('ERR_ENV_SECTION_MISSING')],
  ['E7-crlf', 'CRLF line ends: no line is a marker', ['A3-3.4-2'], MINIMAL.replaceAll('\n', '\r\n'), MARKERS],
  [
    'M-bom',
    'a byte order mark in front of every marker is dropped, in a body it stays',
    ['A3-3.4-3'],
    join(`\ufeff${M.START}`, `\ufeff${M.USERDATA}`, '\ufeff{}', `\ufeff${M.ACTIONS}`, CODE, `\ufeff${M.END}`),
    ok(bodies({ userdata: '\ufeff{}' })),
  ],
  ...[
    ['lower', 'lower case', M.END.toLowerCase()],
    ['wide', 'full-width signs', M.END.replaceAll('<', '\uff1c').replaceAll('>', '\uff1e')],
    ['cyrillic', 'a Cyrillic letter', M.ACTIONS.replace('A', '\u0410')],
    ['joiner', 'a zero-width joiner', M.END.replace('V3', 'V\u200d3')],
    ['space', 'a space in front', ` ${M.END}`],
    ['tab', 'a tab behind', `${M.END}\t`],
    ['cr', 'a carriage return behind', `${M.END}\r`],
    ['quoted', 'quotes', `"${M.END}"`],
    ['text', 'text behind', `${M.ACTIONS} command`],
    ['u2028', 'a line separator in front', `x\u2028${M.END}`],
  ].map(([id, what, line]) => [
    `M-${id}`,
    `a marker with ${what} is body text`,
    ['A3-3.1-3'],
    withScratchpad(line),
    ok(bodies({ scratchpad: line })),
  ]),
].map(([id, about, requirements, bytes, expect]) => ({ id, about, requirements, input: { bytes }, expect }));

const fenced = `Here you are:\n\`\`\`\n${MINIMAL}\n\`\`\`\nDone.`;
const extract = [
  ['X-bare', 'an envelope alone', MINIMAL, ok(bodies())],
  ['X-prose', 'prose and a code fence around it are not read', fenced, ok(bodies())],
  [
    'X-blank',
    'blank lines after START are ignored with a lint',
    MINIMAL.replace(M.USERDATA, `\n${M.USERDATA}`),
    ok(bodies({ lints: ['LINT_BLANK_LINES_IGNORED'] })),
  ],
  ['X-none', 'no envelope', 'I will not.', MARKERS],
  ['X-two', 'two envelopes: which counts would be a guess', `${MINIMAL}\n${MINIMAL}`, MARKERS],
  ['X-quoted', 'a quoted envelope and a real one', `> ${MINIMAL.replaceAll('\n', '\n> ')}\n${MINIMAL}`, ok(bodies())],
  ['X-large', 'a reply above 1 MiB, whatever is in it', [`${MINIMAL}\n`, fill(MiB)], error('ERR_ENV_SIZE')],
].map(([id, about, bytes, expect]) => ({ id, about, requirements: ['A3-14-2'], input: { bytes }, expect }));

const composed = join(M.START, M.USERDATA, 'u', M.SCRATCHPAD, 's', M.OUTPUT, 'o', M.ACTIONS, 'a', M.END);
const compose = [
  ['C-minimal', 'two sections', { userdata: '{}', actions: CODE }, ok({ bytes: MINIMAL })],
  ['C-all', 'four sections', { userdata: 'u', scratchpad: 's', output: 'o', actions: 'a' }, ok({ bytes: composed })],
  [
    'C-bytes',
    'bodies keep their bytes',
    { userdata: '{}', scratchpad: '\r\n \ufeff', output: 'x\n', actions: CODE },
    ok({ bytes: join(M.START, M.USERDATA, '{}', M.SCRATCHPAD, '\r\n \ufeff', M.OUTPUT, 'x\n', M.ACTIONS, CODE, M.END) }),
  ],
  ...Object.keys(M).map((name) => [
    `C-inject-${name}`,
    `a body that holds the marker ${name}`,
    { userdata: '{}', output: `x\n${M[name]}\ny`, actions: CODE },
    MARKERS,
  ]),
  ['C-inject-bom', 'also behind a byte order mark', { userdata: '{}', scratchpad: `\ufeff${M.END}`, actions: CODE }, MARKERS],
  [
    'C-near',
    'a near miss is body text',
    { userdata: '{}', scratchpad: ` ${M.END}`, actions: CODE },
    ok({ bytes: withScratchpad(` ${M.END}`) }),
  ],
  ['C-size', 'a body of 512 KiB and one byte', { userdata: fill(KiB512 + 1), actions: CODE }, error('ERR_ENV_SIZE')],
  ['C-line', 'a line of OUTPUT of 8193 bytes', { userdata: '{}', output: fill(8193), actions: CODE }, error('ERR_ENV_SIZE')],
].map(([id, about, input, expect]) => ({ id, about, requirements: ['A3-3.4-4'], input, expect }));

const SCHEMA = error('ERR_USERDATA_SCHEMA');
const userdata = [
  ['U-minimal', 'the least', '{"subject":"s","fields":{}}', { accepted: true }],
  [
    'U-brief',
    'brief, further names, fractions',
    ' {"subject":"","brief":"b","fields":{"a":1.5},"more":[null]}\n',
    { accepted: true },
  ],
  ['U-no-subject', 'no subject', '{"fields":{}}', SCHEMA],
  ['U-subject', 'subject is a number', '{"subject":1,"fields":{}}', SCHEMA],
  ['U-brief-null', 'brief is null', '{"subject":"s","brief":null,"fields":{}}', SCHEMA],
  ['U-no-fields', 'no fields', '{"subject":"s"}', SCHEMA],
  ['U-fields', 'fields is a list', '{"subject":"s","fields":[]}', SCHEMA],
  ['U-array', 'a list', '[]', SCHEMA],
  ['U-text', 'a text', '"x"', SCHEMA],
  ['U-twice', 'a name twice, once escaped', '{"subject":"s","fields":{"a":1,"\\u0061":2}}', SCHEMA],
  ['U-surrogate', 'a lone surrogate', '{"subject":"\\ud800","fields":{}}', SCHEMA],
  ['U-comma', 'a trailing comma', '{"subject":"s","fields":{},}', SCHEMA],
  ['U-round', 'a whole number that a double cannot hold', '{"subject":"s","fields":{"n":9007199254740993}}', SCHEMA],
  [
    'U-deep',
    'containers 33 deep',
    ['{"subject":"s","fields":{"d":', { repeat: '[', times: 31 }, { repeat: ']', times: 31 }, '}}'],
    SCHEMA,
  ],
  ['U-asset', 'a text of 64 KiB and one byte', ['{"subject":"', fill(65537), '","fields":{}}'], SCHEMA],
  ['U-utf8', 'no UTF-8', ['{"subject":"', { hex: 'ff' }, '","fields":{}}'], SCHEMA],
].map(([id, about, bytes, expect]) => ({ id, about, requirements: ['A3-3.5-1', 'A3-3.5-3'], input: { bytes }, expect }));

// --- tokens

const PARSE = error('ERR_TOKEN_PARSE');
const VERIFY = error('ERR_TOKEN_VERIFY');
const genuine = (action, n, kid = 'ed25519-test-1') =>
  ok({ action, kid, jti: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}` });
const TEXT1 = textOf(1);
const message1 = Buffer.from(TEXT1);
const tag1 = tagOf(message1, 'ed25519-test-1');
const respelt = (text) => [lineOf(text, tag1), token(text)];
const otherDigit = (text, at) => `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;

const verify = [
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
    input: { line, turn: { ...TURN, ...turn }, ...(keys === undefined ? {} : { keys }) },
    expect,
  };
});

/** S + L, which an implementation that does not check S takes for the same signature. */
function malleable(tag) {
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  let s = BigInt(`0x${Buffer.from(tag.subarray(32)).reverse().toString('hex')}`) + order;
  const out = Buffer.from(tag);
  for (let i = 32; i < 64; i++, s >>= 8n) out[i] = Number(s & 255n);
  return out;
}

/** One letter of T1 changed, at every ninth place; and T1 cut short. */
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
const mint = [
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

// --- what a turn's OUTPUT decides

const act = (n, action) => made(n, { payload: control(action) });
const [CONTINUE, DONE, ABORT] = [act(11, 'continue'), act(12, 'done'), act(13, 'abort')];
const decides = (decision, line, codes, lints = []) => ok({ decision, reason: null, line, candidates: codes, lints });
const halts = (reason, codes = []) => ok({ decision: 'HALT', reason, line: null, candidates: codes, lints: [] });
const EXPIRED = made(14, { issued: 1 });
const FOREIGN = made(15, { session: 'sid-2' });
const [MULTI, POST] = ['LINT_MULTI_TOKENS', 'LINT_POST_TOKEN_TEXT'];
const orders = [
  [ABORT, DONE, CONTINUE],
  [ABORT, CONTINUE, DONE],
  [DONE, ABORT, CONTINUE],
  [DONE, CONTINUE, ABORT],
  [CONTINUE, ABORT, DONE],
  [CONTINUE, DONE, ABORT],
];
const select = [
  ['D-continue', 'one token', ['A3-5.1-1'], `text\n${CONTINUE}\n`, decides('CONTINUE', 2, [null])],
  ['D-done', 'one token', ['A3-5.1-1'], `${DONE}\n`, decides('DONE', 1, [null])],
  ['D-abort', 'one token', ['A3-5.1-1'], `${ABORT}\n`, decides('ABORT', 1, [null])],
  [
    'D-none',
    'no token',
    ['AL3-8-12'],
    'please continue\n{"loop":"done"}\n[[loop:done]]\n<<<LOOP:DONE>>>\n',
    halts('ERR_TOKEN_MISSING'),
  ],
  ['D-empty', 'nothing', ['AL3-8-12'], '', halts('ERR_TOKEN_MISSING')],
  ...orders.map((list, i) => [
    `D-order-${i + 1}`,
    'abort beats done beats continue',
    ['A3-5.3-2'],
    `${list.join('\n')}\n`,
    decides('ABORT', list.indexOf(ABORT) + 1, [null, null, null], list.indexOf(ABORT) === 2 ? [MULTI] : [MULTI, POST]),
  ]),
  [
    'D-last',
    'among equals the last',
    ['A3-5.3-3', 'A3-2-6'],
    `${act(21, 'done')}\n${act(22, 'done')}\n`,
    decides('DONE', 2, [null, null], [MULTI]),
  ],
  ['D-post', 'text after the token', ['A3-5.3-4'], `${DONE}\nbye\n`, decides('DONE', 1, [null], [POST])],
  ['D-blank', 'blank lines after it', ['A3-5.3-4'], `${DONE}\n\n \t\n`, decides('DONE', 1, [null])],
  ['D-twice', 'the same line twice', ['A3-6.5-5'], `${DONE}\n${DONE}\n`, decides('DONE', 1, [null, 'ERR_TOKEN_REPLAY'], [POST])],
  [
    'D-failed',
    'the last failure is the reason',
    ['AL3-5.3-4'],
    `${EXPIRED}\n${FOREIGN}\n`,
    halts('ERR_TOKEN_SCOPE', ['ERR_TOKEN_TTL', 'ERR_TOKEN_SCOPE']),
  ],
  [
    'D-failed-2',
    'the other way round',
    ['AL3-5.3-4'],
    `${FOREIGN}\n${EXPIRED}\n`,
    halts('ERR_TOKEN_TTL', ['ERR_TOKEN_SCOPE', 'ERR_TOKEN_TTL']),
  ],
  [
    'D-beside',
    'failures beside a good one',
    ['A3-5.1-4'],
    `${FOREIGN}\n${DONE}\n`,
    decides('DONE', 2, ['ERR_TOKEN_SCOPE', null]),
  ],
  ['D-quoted', 'a quoted token is no candidate', ['A3-6.2-2'], `"${DONE}"\n`, halts('ERR_TOKEN_MISSING')],
  [
    'D-split',
    'a token in two lines is none',
    ['A3-5.1-2'],
    `${DONE.slice(0, 50)}\n${DONE.slice(50)}\n`,
    halts('ERR_TOKEN_MISSING'),
  ],
  ['D-u2028', 'only line feeds make lines', ['A3-3.4-2'], `x\u2028${DONE}\n`, halts('ERR_TOKEN_MISSING')],
  ['D-crlf', 'a carriage return behind it', ['A3-6.2-3'], `${DONE}\r\n`, halts('ERR_TOKEN_MISSING')],
  ['D-long', 'a line above 1024 bytes', ['AL3-5.1-3'], `${padded(1, 'ed25519-test-1', 443)}\n`, halts('ERR_TOKEN_MISSING')],
].map(([id, about, requirements, output, expect]) => ({ id, about, requirements, input: { output, turn: TURN }, expect }));

const digestOf = (out, scr) => createHash('sha256').update(`OUT|${out}\nSCR|${scr}`).digest('hex');
const digests = [
  ['D0', 'nothing', '', '', digestOf('', '')],
  ['D1', 'two lines and a note', 'line 1\nline 2\n', 'note 1\n', digestOf('line 1\nline 2', 'note 1')],
  ['D2', 'one line', 'I am stuck.\n', '', digestOf('I am stuck.', '')],
  [
    'D1-noise',
    'token lines, carriage returns and blanks at line ends do not count',
    `line 1 \t\r\n${T1}\nline 2  \n`,
    `note 1\r\n${T3}\n`,
    digestOf('line 1\nline 2', 'note 1'),
  ],
  ['D-front', 'blanks in front count', ' x\n', '', digestOf(' x', '')],
  ['D-lines', 'empty lines count', 'x\n\n', '', digestOf('x\n', '')],
].map(([id, about, output, scratchpad, digest]) => ({
  id,
  about,
  requirements: ['A3-9-6'],
  input: { output, scratchpad },
  expect: ok({ digest }),
}));

const ANY = error('any');
const canonical = [
  [
    'J4-sample',
    'names by UTF-16 units',
    '{"\\u20ac":1,"\\r":2,"\\ufb33":3,"1":4,"\\ud83d\\ude00":5,"\\u0080":6,"\\u00f6":7}',
    '{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"\u{1f600}":5,"\ufb33":3}',
  ],
  ['J4-depth', 'at every depth', '{"b":{"z":1,"a":[{"d":1,"c":2}]},"a":{}}', '{"a":{},"b":{"a":[{"c":2,"d":1}],"z":1}}'],
  ['J4-utf16', 'U+1F600 before U+E000', '{"\\ue000":1,"\\ud83d\\ude00":2}', '{"\u{1f600}":2,"\ue000":1}'],
  ['J2-short', 'short escapes', '"\\u0008\\u0009\\u000a\\u000c\\u000d\\u0022\\u005c"', '"\\b\\t\\n\\f\\r\\"\\\\"'],
  ['J2-long', 'other controls in lower case', '"\\u0000\\u001F"', '"\\u0000\\u001f"'],
  ['J2-literal', 'everything else is literal', '"\\/\\u003c\\u0026\\u007f\\u2028\\u00E9"', '"/<&\u007f\u2028é"'],
  ['J1-apart', 'a decomposed letter stays so', '"A\\u030a"', '"A\u030a"'],
  ['J1-composed', 'a composed one too', '"\\u00c5"', '"Å"'],
  [
    'J3-extremes',
    'the largest integers',
    '[0,1,-1,9007199254740991,-9007199254740991]',
    '[0,1,-1,9007199254740991,-9007199254740991]',
  ],
  ['J-proto', '__proto__ is a name', '{"__proto__":{"b":1,"a":2}}', '{"__proto__":{"a":2,"b":1}}'],
  ['J-spaces', 'white space inside goes', '[1 , {"a" : null}]', '[1,{"a":null}]'],
].map(([id, about, bytes, text]) => ({ id, about, requirements: ['A3-6.3-1'], input: { bytes }, expect: ok({ text }) }));
const refused = [
  ['J3-plus', '2^53', '9007199254740992'],
  ['J3-minus', '-2^53', '-9007199254740992'],
  ['J3-int64', '2^63-1', '9223372036854775807'],
  ['J5-fraction', 'a fraction', '1.5'],
  ['J5-whole', 'a fraction that is whole', '1.0'],
  ['J5-exponent', 'an exponent', '1e2'],
  ['J-zero', 'a leading zero', '01'],
  ['J-plus', 'a plus sign', '+1'],
  ['J-hex', 'hexadecimal', '0x1'],
  ['J-twice', 'a name twice', '{"a":1,"a":2}'],
  ['J-twice-escaped', 'a name twice, once escaped', '{"a":1,"\\u0061":2}'],
  ['J-surrogate', 'a lone surrogate', '"\\ud800"'],
  ['J-surrogate-name', 'a lone surrogate in a name', '{"\\udc00":1}'],
  ['J-comma', 'a trailing comma', '[1,]'],
  ['J-comment', 'a comment', '[1/**/]'],
  ['J-bom', 'a byte order mark', '\ufeff1'],
  ['J-two', 'two documents', '1 2'],
  ['J-control', 'a raw control character', '"\u0001"'],
  ['J-utf8', 'no UTF-8', ['"', { hex: 'ff' }, '"']],
  [
    'J-deep',
    '33 containers',
    [
      { repeat: '[', times: 33 },
      { repeat: ']', times: 33 },
    ],
  ],
].map(([id, about, bytes]) => ({ id, about, requirements: ['A3-13-J5'], input: { bytes }, expect: ANY }));

/** Every file of vectors by its name. */
export const FILES = {
  'envelopes.json': { op: 'envelope.parse', title: 'Envelopes, byte by byte', vectors: parse },
  'replies.json': { op: 'envelope.extract', title: 'The envelope in a reply of a model', vectors: extract },
  'composing.json': { op: 'envelope.compose', title: 'Writing envelopes', vectors: compose },
  'userdata.json': { op: 'userdata.validate', title: 'USERDATA', vectors: userdata },
  'tokens.json': { op: 'token.verify', title: 'Control tokens', keys: KEYS, vectors: verify },
  'minting.json': { op: 'token.mint', title: 'Minting', vectors: mint },
  'selection.json': { op: 'output.select', title: 'What OUTPUT decides', keys: KEYS, vectors: select },
  'digests.json': { op: 'progress.digest', title: 'The digest of the progress guard', vectors: digests },
  'canonical.json': {
    op: 'json.canonicalize',
    title: 'Canonical JSON of the token profile',
    vectors: [...canonical, ...refused],
  },
};

if (import.meta.main)
  for (const [name, file] of Object.entries(FILES))
    writeFileSync(new URL(name, import.meta.url), `${JSON.stringify({ format: FORMAT, ...file }, null, 2)}\n`);
