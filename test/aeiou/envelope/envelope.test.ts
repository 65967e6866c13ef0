import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  carryForward,
  composeEnvelope,
  EnvelopeError,
  type EnvelopeParts,
  extractEnvelope,
  MARKERS,
  type ParsedEnvelope,
  parseEnvelope,
} from '../../../src/aeiou/index.ts';
import { codePoint } from '../../codepoint.ts';
import { thrownBy } from '../kit.ts';

const { START, USERDATA, SCRATCHPAD, OUTPUT, ACTIONS, END } = MARKERS;
const SECTIONS = ['USERDATA', 'SCRATCHPAD', 'OUTPUT', 'ACTIONS'] as const;
const COMMAND = 'command\n  emit 1\nendcommand';
const MIB = 1024 * 1024;

const lines = (...parts: readonly string[]): string => parts.join('\n');
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const parse = (text: string): ParsedEnvelope => parseEnvelope(bytes(text));
const MINIMAL = lines(START, USERDATA, '{}', ACTIONS, COMMAND, END);

/** `CODE/detail` of the EnvelopeError that a call throws. */
function fault(work: () => unknown): string {
  const error = thrownBy(work);
  return error instanceof EnvelopeError ? `${error.code}/${error.detail}` : `no EnvelopeError: ${String(error)}`;
}
const faultOf = (...parts: readonly string[]): string => fault(() => parse(lines(...parts)));

describe('issue 50: an envelope of another version', () => {
  const said = (work: () => unknown): string => String(thrownBy(work));
  const OTHER = MINIMAL.replaceAll(':V3:', ':V4:');
  const WORDS = ': version 4 is not supported; this runtime reads v3';

  it('is refused in words, under the same codes', () => {
    expect(fault(() => parse(OTHER))).toBe('ERR_ENV_MARKERS_INVALID/start');
    expect(said(() => parse(OTHER))).toContain(`${START}${WORDS}`);
    expect(said(() => extractEnvelope(`Here it is:\n${OTHER}`))).toContain(WORDS);
    expect(said(() => parse(MINIMAL.replace(ACTIONS, '<<<NSENV:V4:ACTIONS>>>')))).toContain(WORDS);
  });

  it('is not spoken of where there is none', () => {
    for (const text of ['', 'hello', MINIMAL.replace(START, '<<<NSENV:V3:BEGIN>>>')])
      expect(said(() => parse(text))).not.toContain('version');
  });
});

describe('envelope: golden', () => {
  it('A3-13-E1: the minimal envelope is read without a lint', () => {
    expect(parse(MINIMAL)).toEqual({ userdata: '{}', scratchpad: null, output: null, actions: COMMAND, lints: [] });
  });

  it('A3-7-1: the layout is START, USERDATA, optional sections, ACTIONS, END; a final line feed may follow', () => {
    expect(parse(`${MINIMAL}\n`)).toEqual(parse(MINIMAL));
    expect(faultOf(USERDATA, '{}', ACTIONS, COMMAND, END)).toBe('ERR_ENV_MARKERS_INVALID/start');
    expect(faultOf(START, USERDATA, '{}', ACTIONS, COMMAND)).toBe('ERR_ENV_MARKERS_INVALID/end');
  });

  it('A3-13-E2: SCRATCHPAD and OUTPUT, each alone and both, with their bytes', () => {
    const body = ' a \r\n\t\n\u0000b';
    expect(parse(lines(START, USERDATA, '{}', SCRATCHPAD, body, ACTIONS, '', END))).toMatchObject({
      scratchpad: body,
      output: null,
    });
    expect(parse(lines(START, USERDATA, '{}', OUTPUT, body, ACTIONS, '', END))).toMatchObject({ scratchpad: null, output: body });
    expect(parse(lines(START, USERDATA, '{}', SCRATCHPAD, body, OUTPUT, `${body}x`, ACTIONS, '', END))).toMatchObject({
      scratchpad: body,
      output: `${body}x`,
    });
  });

  it('A3-3.2-4: SCRATCHPAD may be absent or there once', () => {
    expect(parse(MINIMAL).scratchpad).toBeNull();
    expect(parse(lines(START, USERDATA, '{}', SCRATCHPAD, 's', ACTIONS, COMMAND, END)).scratchpad).toBe('s');
  });

  it('A3-3.2-5: OUTPUT may be absent or there once', () => {
    expect(parse(MINIMAL).output).toBeNull();
    expect(parse(lines(START, USERDATA, '{}', OUTPUT, 'o', ACTIONS, COMMAND, END)).output).toBe('o');
  });

  it.each(SECTIONS)('A3-13-E3: of two sections %s the first is kept, with one lint that names it', (name) => {
    const all = [USERDATA, 'u', SCRATCHPAD, 's', OUTPUT, 'o', ACTIONS, 'a'];
    const parsed = parse(lines(START, ...all, MARKERS[name], 'second', END));
    expect(parsed).toEqual({
      userdata: 'u',
      scratchpad: 's',
      output: 'o',
      actions: 'a',
      lints: [{ code: 'LINT_DUP_SECTION_IGNORED', line: 10, section: name }],
    });
  });

  it('A3-3.2-6: every ignored copy gives a lint, wherever it stands', () => {
    const parsed = parse(lines(START, USERDATA, '1', USERDATA, '2', ACTIONS, 'a', USERDATA, '3', ACTIONS, 'b', END));
    expect([parsed.userdata, parsed.actions]).toEqual(['1', 'a']);
    expect(parsed.lints.map(({ code, line, section }) => `${code} ${line} ${section}`)).toEqual([
      'LINT_DUP_SECTION_IGNORED 4 USERDATA',
      'LINT_DUP_SECTION_IGNORED 8 USERDATA',
      'LINT_DUP_SECTION_IGNORED 10 ACTIONS',
    ]);
  });

  it('A3-3.2-1: every order but the fixed one is refused', () => {
    const orders = permutations(SECTIONS).map((names) => {
      const text = lines(START, ...names.flatMap((name) => [MARKERS[name], 'x']), END);
      return names.join() === SECTIONS.join() ? typeof parse(text) : fault(() => parse(text));
    });
    expect(orders).toHaveLength(24);
    expect(orders.filter((result) => result === 'ERR_ENV_ORDER/order')).toHaveLength(23);
  });

  it('A3-13-E4: ACTIONS before USERDATA is the wrong order, also when something is missing too', () => {
    expect(faultOf(START, ACTIONS, COMMAND, USERDATA, '{}', END)).toBe('ERR_ENV_ORDER/order');
    expect(faultOf(START, OUTPUT, 'o', USERDATA, '{}', END)).toBe('ERR_ENV_ORDER/order');
  });

  it('A3-3.2-2: an envelope without USERDATA is refused', () => {
    expect(faultOf(START, ACTIONS, COMMAND, END)).toBe('ERR_ENV_SECTION_MISSING/missing');
  });

  it('A3-3.2-3: an envelope without ACTIONS is refused', () => {
    expect(faultOf(START, USERDATA, '{}', END)).toBe('ERR_ENV_SECTION_MISSING/missing');
    expect(faultOf(START, END)).toBe('ERR_ENV_SECTION_MISSING/missing');
  });

  it.each([
    ['empty input', '', 'ERR_ENV_MARKERS_INVALID/start'],
    ['no START', lines(USERDATA, '{}', ACTIONS, 'a', END), 'ERR_ENV_MARKERS_INVALID/start'],
    ['only START', START, 'ERR_ENV_MARKERS_INVALID/end'],
    ['only END', END, 'ERR_ENV_MARKERS_INVALID/start'],
    ['END before START', lines(END, START, USERDATA, '{}', ACTIONS, 'a'), 'ERR_ENV_MARKERS_INVALID/start'],
    ['a second START', lines(START, USERDATA, '{}', START, ACTIONS, 'a', END), 'ERR_ENV_SECTION_DUP/nested_start'],
    [
      'an unknown section',
      lines(START, USERDATA, '{}', '<<<NSENV:V3:EVENTS>>>', ACTIONS, 'a', END),
      'ERR_ENV_MARKERS_INVALID/unknown_marker',
    ],
    ['no USERDATA', lines(START, ACTIONS, 'a', END), 'ERR_ENV_SECTION_MISSING/missing'],
    ['no ACTIONS', lines(START, USERDATA, '{}', END), 'ERR_ENV_SECTION_MISSING/missing'],
    ['text before the first section', lines(START, 'x', USERDATA, '{}', ACTIONS, 'a', END), 'ERR_ENV_MARKERS_INVALID/stray_text'],
    ['a blank line before it', lines(START, '', USERDATA, '{}', ACTIONS, 'a', END), 'ERR_ENV_MARKERS_INVALID/stray_text'],
    ['text before START', `x\n${MINIMAL}`, 'ERR_ENV_MARKERS_INVALID/start'],
    ['text after END', `${MINIMAL}\nx`, 'ERR_ENV_MARKERS_INVALID/trailing_text'],
    ['two line feeds after END', `${MINIMAL}\n\n`, 'ERR_ENV_MARKERS_INVALID/trailing_text'],
    ['two envelopes', `${MINIMAL}\n${MINIMAL}`, 'ERR_ENV_MARKERS_INVALID/trailing_text'],
  ])('A3-13-E7: %s', (_, text, expected) => {
    expect(fault(() => parse(text))).toBe(expected);
  });

  it('A3-12-1: markers of other versions are refused, as START and inside', () => {
    for (const version of ['V2', 'V4', 'V33']) {
      expect(fault(() => parse(MINIMAL.replaceAll('V3', version)))).toBe('ERR_ENV_MARKERS_INVALID/start');
      expect(fault(() => parse(MINIMAL.replace(ACTIONS, ACTIONS.replace('V3', version))))).toBe(
        'ERR_ENV_MARKERS_INVALID/unknown_marker',
      );
    }
  });
});

describe('envelope: markers', () => {
  it('A3-3.1-1: the six markers are these, and the composer writes them', () => {
    expect(Object.values(MARKERS).sort()).toEqual([
      '<<<NSENV:V3:ACTIONS>>>',
      '<<<NSENV:V3:END>>>',
      '<<<NSENV:V3:OUTPUT>>>',
      '<<<NSENV:V3:SCRATCHPAD>>>',
      '<<<NSENV:V3:START>>>',
      '<<<NSENV:V3:USERDATA>>>',
    ]);
    const text = new TextDecoder().decode(composeEnvelope({ userdata: 'u', scratchpad: 's', output: 'o', actions: 'a' }));
    expect(text).toBe(
      '<<<NSENV:V3:START>>>\n<<<NSENV:V3:USERDATA>>>\nu\n<<<NSENV:V3:SCRATCHPAD>>>\ns\n<<<NSENV:V3:OUTPUT>>>\no\n<<<NSENV:V3:ACTIONS>>>\na\n<<<NSENV:V3:END>>>',
    );
  });

  it('A3-3.1-2: characters that share bytes with a byte order mark do not make the rest of their line a marker', () => {
    // U+FB01 begins with the first byte of a byte order mark, U+FEC0 with its first two.
    for (const character of ['\ufb01', '\ufec0'])
      expect(parse(lines(START, USERDATA, '{}', ACTIONS, `${character}${END}`, END)).actions).toBe(`${character}${END}`);
  });

  it('a fault is reported with the line in which it stands', () => {
    const lineOf = (work: () => unknown): unknown => Reflect.get(Object(thrownBy(work)), 'line');
    expect(lineOf(() => parse(lines(START, 'x', USERDATA, '{}', ACTIONS, 'a', END)))).toBe(2);
    expect(lineOf(() => extractEnvelope(lines(END, START, USERDATA, '{}', ACTIONS, 'a')))).toBe(1);
    expect(extractEnvelope(lines('prose', START, '', USERDATA, '{}', ACTIONS, 'a', END)).lints).toMatchObject([
      { code: 'LINT_BLANK_LINES_IGNORED', line: 3 },
    ]);
  });

  it('A3-3.1-2: a marker with anything else on its line is body text', () => {
    for (const line of [`${END}x`, `x${END}`, `"${END}"`, `\`${END}\``, `> ${END}`])
      expect(parse(lines(START, USERDATA, line, ACTIONS, 'a', END)).userdata).toBe(line);
  });

  it('A3-7-2: a marker followed by text on its line is no marker', () => {
    expect(parse(lines(START, USERDATA, `${ACTIONS} command`, ACTIONS, 'a', END)).userdata).toBe(`${ACTIONS} command`);
  });

  it.each([
    ['lower case', END.toLowerCase()],
    ['full-width signs', END.replaceAll('<', '\uff1c').replaceAll('>', '\uff1e')],
    ['a Cyrillic letter', ACTIONS.replace('A', '\u0410')],
    ['a zero-width joiner', END.replace('V3', 'V\u200d3')],
    ['a zero-width space in front', `\u200b${END}`],
    ['a leading space', ` ${END}`],
    ['a trailing space', `${END} `],
    ['a trailing tab', `${END}\t`],
    ['a trailing carriage return', `${END}\r`],
    ['a no-break space', `${END}\u00a0`],
    ['one bracket less', END.slice(1)],
    ['one bracket more', `<${END}`],
  ])('A3-3.1-3: a marker with %s is body text (threats 12, 13)', (_, line) => {
    expect(parse(lines(START, USERDATA, '{}', SCRATCHPAD, line, ACTIONS, 'a', END)).scratchpad).toBe(line);
  });

  it('a line of the form of a marker is never body text, with or without a byte order mark', () => {
    for (const line of [
      '<<<NSENV:>>>',
      '<<<NSENV:V3:>>>',
      '<<<NSENV:V3:START >>>',
      '<<<NSENV:V3:end>>>',
      `<<<NSENV:${'x'.repeat(9000)}>>>`,
    ])
      for (const mark of ['', '\ufeff'])
        expect(faultOf(START, USERDATA, `${mark}${line}`, ACTIONS, 'a', END)).toBe('ERR_ENV_MARKERS_INVALID/unknown_marker');
  });
});

describe('envelope: bytes', () => {
  it('A3-3.4-1: what is no UTF-8 is refused', () => {
    for (const bad of [[0xc3, 0x28], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xff], [0xe2, 0x82]]) {
      const text = Buffer.concat([bytes(lines(START, USERDATA, '')), Uint8Array.from(bad), bytes(lines('', ACTIONS, 'a', END))]);
      expect(fault(() => parseEnvelope(text))).toBe('ERR_ENV_MARKERS_INVALID/encoding');
      expect(fault(() => extractEnvelope(text))).toBe('ERR_ENV_MARKERS_INVALID/encoding');
      expect(fault(() => composeEnvelope({ userdata: Uint8Array.from(bad), actions: '' }))).toBe(
        'ERR_ENV_MARKERS_INVALID/encoding',
      );
    }
    expect(fault(() => composeEnvelope({ userdata: '\ud800', actions: '' }))).toBe('ERR_ENV_MARKERS_INVALID/encoding');
    expect(fault(() => extractEnvelope(`${MINIMAL}\udfff`))).toBe('ERR_ENV_MARKERS_INVALID/encoding');
  });

  it('what is no bytes is refused by its type, and extractEnvelope takes a text too', () => {
    const given = [
      ['text', 'string'],
      [undefined, 'undefined'],
      [null, 'null'],
      [{}, 'object'],
      [[60], 'a list'],
    ] as const;
    for (const [value, type] of given) {
      const message = `the envelope must be a Uint8Array, got ${type}`;
      const refusal = { code: 'ERR_ENV_MARKERS_INVALID', detail: 'encoding', message };
      expect(thrownBy(() => Reflect.apply(parseEnvelope, undefined, [value]))).toMatchObject(refusal);
      if (value !== 'text') expect(thrownBy(() => Reflect.apply(extractEnvelope, undefined, [value]))).toMatchObject(refusal);
    }
    expect(extractEnvelope(MINIMAL).actions).toBe(COMMAND);
  });

  it('A3-13-E6: an envelope that is no UTF-8 is refused before its structure is looked at', () => {
    expect(fault(() => parseEnvelope(Uint8Array.of(0xff)))).toBe('ERR_ENV_MARKERS_INVALID/encoding');
  });

  it('A3-3.4-2: only line feeds end lines', () => {
    for (const end of ['\r', '\u0085', '\u2028', '\u2029', '\u000b', '\u000c']) {
      const body = `x${end}${END}${end}y`;
      expect(parse(lines(START, USERDATA, body, ACTIONS, 'a', END)).userdata).toBe(body);
    }
    expect(fault(() => parse(MINIMAL.replaceAll('\n', '\r\n')))).toBe('ERR_ENV_MARKERS_INVALID/start');
  });

  it('A3-3.4-3: a byte order mark is dropped in front of markers and kept in bodies', () => {
    const marked = lines(`\ufeff${START}`, `\ufeff${USERDATA}`, '\ufeff{}', `\ufeff${ACTIONS}`, 'a\ufeff', `\ufeff${END}`);
    expect(parse(marked)).toEqual({ userdata: '\ufeff{}', scratchpad: null, output: null, actions: 'a\ufeff', lints: [] });
    expect(extractEnvelope(marked).userdata).toBe('\ufeff{}');
    expect(parse(lines(START, USERDATA, `\ufeff\ufeff${END}`, ACTIONS, 'a', END)).userdata).toBe(`\ufeff\ufeff${END}`);
  });

  it('the line feed before a marker is no part of the body, and a body may have no line at all', () => {
    expect(parse(lines(START, USERDATA, '', ACTIONS, '', END))).toEqual(parse(lines(START, USERDATA, ACTIONS, END)));
    expect(parse(lines(START, USERDATA, '', '', ACTIONS, '\n', END))).toMatchObject({ userdata: '\n', actions: '\n' });
  });

  it.each(['', ' ', '\n', '\n\n', 'x\n', '\r', 'x \t\r\n', '\ufeff', '\u0000', 'ä\n', '<<<', '\\'])(
    'A3-3.4-4: the body %j comes back',
    (body) => {
      const parts = { userdata: body, scratchpad: body, output: body, actions: body };
      expect(parseEnvelope(composeEnvelope(parts))).toEqual({ ...parts, lints: [] });
    },
  );

  it('A3-3.4-4: parse(compose(x)) = x for all bytes that compose takes, and it takes all UTF-8 without marker lines', () => {
    const piece = fc.oneof(
      { weight: 3, arbitrary: fc.string({ unit: codePoint, maxLength: 8 }) },
      fc.constantFrom('\n', '\r', '\ufeff', ' ', '<<<', '>>>', 'NSENV:V3:', END, ACTIONS, `${START}\n`, '<<<NSENV:V4:X>>>'),
    );
    const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));
    const body = fc.oneof({ weight: 9, arbitrary: text.map(bytes) }, fc.uint8Array({ maxLength: 12 }));
    const parts = fc.record({ userdata: body, scratchpad: fc.option(body), output: fc.option(body), actions: body });
    fc.assert(
      fc.property(parts, (given) => {
        const bodies = [given.userdata, given.scratchpad, given.output, given.actions];
        const marked = bodies.some(
          (each) => each !== null && /^\ufeff?<<<NSENV:[ -~]*>>>$/m.test(decode(each).replaceAll(/[\r\u2028\u2029]/g, '\u0000')),
        );
        const valid = bodies.every((each) => each === null || isUtf8(each));
        if (marked || !valid) {
          expect(fault(() => composeEnvelope(given))).toMatch(/marker_in_body|encoding/);
          return;
        }
        const parsed = parseEnvelope(composeEnvelope(given));
        const read = [parsed.userdata, parsed.scratchpad, parsed.output, parsed.actions];
        expect(read.map((each) => (each === null ? null : Buffer.from(bytes(each)).toString('hex')))).toEqual(
          bodies.map((each) => (each === null ? null : Buffer.from(each).toString('hex'))),
        );
        expect(parsed.lints).toEqual([]);
      }),
      { numRuns: 1500 },
    );
  });

  it('A3-3.4-8: any bytes are answered with an envelope or an EnvelopeError', () => {
    const piece = fc.oneof(
      fc.constantFrom(...Object.values(MARKERS).map((marker) => `${marker}\n`), '\n', 'x\n', '\ufeff', '<<<NSENV:V9:X>>>\n'),
      fc.string({ maxLength: 5 }),
    );
    const input = fc.oneof(
      fc.array(piece, { maxLength: 14 }).map((pieces) => bytes(pieces.join(''))),
      fc.uint8Array({ maxLength: 80 }),
    );
    fc.assert(
      fc.property(input, (given) => {
        for (const read of [parseEnvelope, extractEnvelope]) {
          try {
            expect(read(given)).toHaveProperty('actions');
          } catch (error) {
            expect(error).toBeInstanceOf(EnvelopeError);
          }
        }
      }),
      { numRuns: 3000 },
    );
  });
});

describe('envelope: sizes', () => {
  const fixed = composeEnvelope({ userdata: '', scratchpad: '', output: null, actions: '' }).length;
  /** Two bodies that fill an envelope to exactly `total` bytes. */
  const filled = (total: number): EnvelopeParts => {
    const room = total - fixed;
    return { userdata: 'u'.repeat(Math.ceil(room / 2)), scratchpad: 's'.repeat(Math.floor(room / 2)), actions: '' };
  };

  it('A3-3.4-5: 1 MiB from START to END is accepted, one byte more is not; mark and final line feed do not count', () => {
    const exact = composeEnvelope(filled(MIB));
    expect(exact.length).toBe(MIB);
    expect(parseEnvelope(exact).actions).toBe('');
    expect(parseEnvelope(Buffer.concat([bytes('\ufeff'), exact, bytes('\n')])).actions).toBe('');
    expect(fault(() => composeEnvelope(filled(MIB + 1)))).toBe('ERR_ENV_SIZE/envelope_size');
    const longer = Buffer.from(new TextDecoder().decode(exact).replace('uu', 'uuu'));
    expect(fault(() => parseEnvelope(longer))).toBe('ERR_ENV_SIZE/envelope_size');
  });

  it.each(SECTIONS)('A3-3.4-6: a body of 512 KiB in %s is accepted, one byte more is not', (name) => {
    const body = name === 'OUTPUT' ? `${'ä'.repeat(4096)}\n`.repeat(63) : 'x'.repeat(524_288);
    const padded = Buffer.concat([bytes(body), new Uint8Array(524_288 - bytes(body).length).fill(0x0a)]);
    const parts = (more: Uint8Array): EnvelopeParts => ({
      userdata: '{}',
      actions: 'a',
      [name.toLowerCase()]: Buffer.concat([padded, more]),
    });
    expect(parseEnvelope(composeEnvelope(parts(bytes('')))).lints).toEqual([]);
    expect(fault(() => composeEnvelope(parts(bytes('\n'))))).toBe('ERR_ENV_SIZE/section_size');
    const text = new TextDecoder().decode(composeEnvelope(parts(bytes(''))));
    expect(fault(() => parse(text.replace(`${MARKERS[name]}\n`, `${MARKERS[name]}\nx`)))).toMatch(/^ERR_ENV_SIZE\//);
  });

  it('A3-13-E5: the last section is limited even when END is missing', () => {
    expect(faultOf(START, USERDATA, '{}', ACTIONS, 'x'.repeat(524_289))).toBe('ERR_ENV_SIZE/section_size');
  });

  it('A3-13-E5: ignored duplicates are limited too', () => {
    expect(faultOf(START, USERDATA, '{}', ACTIONS, 'a', USERDATA, 'x'.repeat(524_289), END)).toBe('ERR_ENV_SIZE/section_size');
  });

  it('A3-3.4-7: a line of OUTPUT has at most 8192 bytes, counted as UTF-8; other sections have no such limit', () => {
    const at = 'ä'.repeat(4096);
    for (const body of [at, `x\n${at}\ny`])
      expect(parseEnvelope(composeEnvelope({ userdata: '{}', output: body, actions: '' })).output).toBe(body);
    for (const body of [`${at}x`, `x\n${at}x\ny`]) {
      expect(fault(() => composeEnvelope({ userdata: '{}', output: body, actions: '' }))).toBe('ERR_ENV_SIZE/line_size');
      expect(faultOf(START, USERDATA, '{}', OUTPUT, body, ACTIONS, '', END)).toBe('ERR_ENV_SIZE/line_size');
      expect(parse(lines(START, USERDATA, body, SCRATCHPAD, body, ACTIONS, body, END)).scratchpad).toBe(body);
    }
  });

  it('a reply above 1 MiB is refused before it is read, also when its envelope is small (threat 11)', () => {
    expect(fault(() => extractEnvelope('x'.repeat(2 * MIB)))).toBe('ERR_ENV_SIZE/envelope_size');
    expect(fault(() => extractEnvelope(`${'ä'.repeat(MIB / 2)}\n${MINIMAL}`))).toBe('ERR_ENV_SIZE/envelope_size');
  });
});

describe('envelope: injection', () => {
  it('compose refuses every body that holds a marker line, and says which line (threat 14)', () => {
    for (const marker of [...Object.values(MARKERS), '<<<NSENV:V4:START>>>'])
      for (const line of [marker, `\ufeff${marker}`])
        for (const name of ['userdata', 'scratchpad', 'output', 'actions'] as const) {
          const error = thrownBy(() => composeEnvelope({ userdata: '', actions: '', [name]: `one\n${line}\nthree` }));
          expect(error).toMatchObject({ code: 'ERR_ENV_MARKERS_INVALID', detail: 'marker_in_body', line: 2 });
        }
  });

  it('a marker in a multi-line text of ACTIONS ends the envelope there (threat 16)', () => {
    const reply = lines(START, USERDATA, '{}', ACTIONS, 'command', '  emit ```', END, '```', 'endcommand', END);
    expect(fault(() => extractEnvelope(reply))).toBe('ERR_ENV_MARKERS_INVALID/envelope_count');
    expect(extractEnvelope(lines(START, USERDATA, '{}', ACTIONS, 'command', '  emit ```', END, '```')).actions).toBe(
      'command\n  emit ```',
    );
  });

  it('A3-4-5: a stream is carried forward without its final line feed, and not at all when nothing was said', () => {
    expect(['', 'a\n', 'a\nb\n', '\n', '\n\n', 'a'].map(carryForward)).toEqual([null, 'a', 'a\nb', '', '\n', 'a']);
  });
});

describe('extractEnvelope', () => {
  it('A3-14-2: text around the envelope changes nothing', () => {
    const plain = parse(MINIMAL);
    for (const [before, after] of [
      ['Here it is:\n', '\nDone.'],
      ['```text\n', '\n```\n'],
      ['\ufeff\n\n', '\n\n'],
      [`I will not use ${START} twice.\n`, `\nNor ${END} here.`],
      [`${ACTIONS}\n<<<NSENV:V9:X>>>\n`, `\n${USERDATA}`],
      ['{"a": "\\u0000"}\n', ''],
    ])
      expect(extractEnvelope(`${before}${MINIMAL}${after}`)).toEqual(plain);
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        fc.pre(!before.includes('NSENV') && !after.includes('NSENV'));
        expect(extractEnvelope(bytes(`${before}\n${MINIMAL}\n${after}`))).toEqual(plain);
      }),
    );
  });

  it('a reply with no envelope, two of them, or pieces of one is refused', () => {
    const count = 'ERR_ENV_MARKERS_INVALID/envelope_count';
    const replies = [
      '',
      'no envelope',
      START,
      END,
      lines(END, START),
      `${MINIMAL}\n${MINIMAL}`,
      `${MINIMAL}\n${END}`,
      `${MINIMAL}\n${START}`,
      `${END}\n${MINIMAL}`,
    ];
    expect(replies.map((reply) => fault(() => extractEnvelope(reply)))).toEqual(replies.map(() => count));
    expect(fault(() => extractEnvelope(lines(START, MINIMAL)))).toBe('ERR_ENV_SECTION_DUP/nested_start');
  });

  it('says when the marker is there but not alone on its line', () => {
    for (const reply of [MINIMAL.replaceAll('\n', '\r\n'), MINIMAL.replaceAll(/^/gm, '  '), `Use ${START}`])
      expect(thrownBy(() => extractEnvelope(reply))).toMatchObject({ message: expect.stringContaining('around it') });
    expect(String(thrownBy(() => extractEnvelope('hello')))).not.toContain('around it');
  });

  it('blank lines after START are ignored with a lint; text is not', () => {
    expect(extractEnvelope(lines('x', START, '', ' \t\r', USERDATA, '{}', ACTIONS, 'a', END)).lints).toEqual([
      { code: 'LINT_BLANK_LINES_IGNORED', line: 3, section: 'START' },
    ]);
    expect(fault(() => extractEnvelope(lines(START, 'x', USERDATA, '{}', ACTIONS, 'a', END)))).toBe(
      'ERR_ENV_MARKERS_INVALID/stray_text',
    );
  });

  it('lines are counted in the reply', () => {
    expect(thrownBy(() => extractEnvelope(lines('a', 'b', START, USERDATA, '<<<NSENV:V1:A>>>', ACTIONS, END)))).toMatchObject({
      line: 5,
    });
  });
});

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, i) => permutations(items.toSpliced(i, 1)).map((rest) => [item, ...rest]));
}

function decode(input: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(input);
}

function isUtf8(input: Uint8Array): boolean {
  return Buffer.from(decode(input)).equals(input);
}
