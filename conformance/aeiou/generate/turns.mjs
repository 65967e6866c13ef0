// The decision of a turn's OUTPUT, and its progress digest.
import { createHash } from 'node:crypto';
import { control, made, ok, padded, T1, T3, TURN } from './shared.mjs';

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
export const select = [
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
export const digests = [
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
