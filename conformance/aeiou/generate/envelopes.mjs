// Reading, finding and writing envelopes, and USERDATA.
import { error, fill, join, ok } from './shared.mjs';

const M = Object.fromEntries(
  ['START', 'USERDATA', 'SCRATCHPAD', 'OUTPUT', 'ACTIONS', 'END'].map((name) => [name, `<<<NSENV:V3:${name}>>>`]),
);
const CODE = 'command\n  emit 1\nendcommand';
const MINIMAL = join(M.START, M.USERDATA, '{}', M.ACTIONS, CODE, M.END);
const bodies = (changes = {}) => ({ userdata: '{}', scratchpad: null, output: null, actions: CODE, lints: [], ...changes });
const withScratchpad = (body) => join(M.START, M.USERDATA, '{}', M.SCRATCHPAD, body, M.ACTIONS, CODE, M.END);
const MiB = 1024 * 1024;
const KiB512 = 512 * 1024;
const asciiLength = (...lines) => join(...lines).length;

function section(name, size) {
  const lines = { USERDATA: ['{}'], SCRATCHPAD: null, OUTPUT: null, ACTIONS: [CODE] };
  // A line of OUTPUT has at most 8192 bytes: repeat 8191 bytes and a line feed.
  const body = name === 'OUTPUT' ? [{ repeat: [fill(8191), '\n'], times: size / 8192 - 1 }, fill(8192)] : [fill(size)];
  return Object.keys(lines).flatMap((each) => {
    if (each === name) return [`${M[each]}\n`, ...body, '\n'];
    return lines[each] === null ? [] : [`${M[each]}\n${lines[each]}\n`];
  });
}
const sized = (name, size) => [`${M.START}\n`, ...section(name, size), M.END];

/** An envelope of exactly this many bytes, divided between USERDATA and SCRATCHPAD. */
function wholeOf(size) {
  const frame = asciiLength(M.START, M.USERDATA, '', M.SCRATCHPAD, '', M.ACTIONS, CODE, M.END);
  const left = size - frame - KiB512;
  return [`${M.START}\n${M.USERDATA}\n`, fill(KiB512), `\n${M.SCRATCHPAD}\n`, fill(left), `\n${M.ACTIONS}\n${CODE}\n${M.END}`];
}

const MARKERS = error('ERR_ENV_MARKERS_INVALID');

export const parse = [
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
export const extract = [
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
export const compose = [
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
export const userdata = [
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
