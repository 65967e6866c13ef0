import { describe, expect, it } from 'vitest';
import type { TurnRecord } from '../../src/loop/record/record.ts';
import { readTurn } from '../../src/loop/turn/input.ts';
import { explainEnd, explainSession, explainTurn, type Palette, plainPalette, printable } from '../../src/report/index.ts';
import { languageError } from '../../src/wire/errorinfo.ts';
import { wrap } from '../../src/wire/text/printable.ts';
import { play } from '../loop/example.ts';
import type { Program } from '../loop/fake.ts';
import { bench, turnOf } from '../loop/harness.ts';

const style = (code: number) => (text: string) => `\u001b[${code}m${text}\u001b[0m`;
const ansi: Palette = { columns: 80, bold: style(1), dim: style(2), red: style(31), green: style(32), yellow: style(33) };
const bare = (line: string) => line.replace(/\u001b\[\d+m/g, '');

const EVIL = 'a\u001b[2J\u202ereversed\u0007\rb\u2028c\ud800';
const programs: Record<string, Program> = {
  done: async ({ emit, magic }) => {
    emit('finished');
    emit(await magic('done', { request: { notes: 'all good' } }));
  },
  forged: async ({ emit, magic }) => {
    const token = await magic('done');
    emit(token.replace(/.{8}>>>$/, 'AAAAAAAA>>>'));
  },
  evil: ({ emit, whisper }) => {
    emit(EVIL);
    whisper(EVIL.repeat(60));
    return languageError(21, EVIL, { source: EVIL, line: 1, column: 2 }, EVIL);
  },
  chatty: ({ emit }) => {
    for (let i = 0; i < 500; i++) emit(`line ${i}`);
    emit('x'.repeat(5000));
  },
};

const explained = async (program: string, change: Partial<TurnRecord> = {}, palette = plainPalette): Promise<string> => {
  const { record } = await turnOf(bench(programs), program);
  return explainTurn({ ...record, ...change }, palette, true).join('\n');
};

describe('the explanation of a turn', () => {
  it('says what went in and out, how the token verified check by check, the decision, the cost', async () => {
    const text = await explained('done');
    expect(text).toContain(
      '  USERDATA    {"subject":"test","fields":{}}\n  SCRATCHPAD  none\n  OUTPUT      none\n  ACTIONS     1  program done\n',
    );
    expect(text).toMatch(/ {2}OUTPUT {6}finished\n {14}<<<NSMAG:V3:LOOP:\w+\.\.\.[\w-]+>>>\n {2}SCRATCHPAD {2}none\n/);
    expect(text).toContain('  line 2      verified, and decides\n              LOOP done, signed with test-primary\n');
    expect(text).toContain('issued 2024-08-30T10:05:45Z, good for 120 s\n              request {"notes":"all good"}\n');
    expect(text).toContain(
      'form ok, key ok, canonical payload ok, signature ok, fields ok,\n              session ok, turn ok, nonce ok, time ok, first use ok\n',
    );
    expect(text).toContain('  decision    DONE\n  lints       none\n');
    expect(text).toContain('  used        fuel 12 of 100,000,000, CPU 0.4 ms,');
    expect(text).toMatch(/ {2}time {8}[\d.]+ m?s, store [\d.]+ m?s, prepare [\d.]+ m?s/);
  });

  it('shows every call with its arguments, its result or failure, its place and its time', async () => {
    const at = { fork: 'f', source: 'ACTIONS', line: 4, column: 3 };
    const text = await explained('done', {
      journal: [
        {
          kind: 'tool',
          seq: 1,
          name: 'tool.a.b',
          args: ['x', { y: [1, null], $10: { $$a: 1 }, $2: 2 }],
          at,
          outcome: { ok: true, value: true },
          begin: 2,
          ms: 12.34,
        },
        {
          kind: 'tool',
          seq: 2,
          name: 'tool.a.c',
          args: [],
          at,
          outcome: { ok: false, code: 21, message: 'no luck' },
          begin: 14.34,
          ms: 1500,
        },
        {
          kind: 'tool',
          seq: 3,
          name: 'tool.a.d',
          args: [],
          at,
          outcome: { ok: false, halted: languageError(1003, 'denied') },
          begin: 0,
          ms: 0,
        },
      ],
    });
    expect(text).toContain(
      '  1           tool.a.b("x", {"y": [1, null], "10": {"$$a": 1}, "2": 2})\n              = true\n              at ACTIONS:4, after 2 ms, took 12 ms\n',
    );
    expect(text).toContain(
      '  2           tool.a.c()\n              failed: no luck (NS21)\n              at ACTIONS:4, after 14 ms, took 1.5 s\n',
    );
    expect(text).toContain('  3           tool.a.d()\n              stopped: denied (NS1003)\n');
  });

  it('names the check that a rejected token failed, and shows none after it', async () => {
    const text = await explained('forged');
    expect(text).toContain(
      '  line 1      rejected: ERR_TOKEN_VERIFY: the tag does not belong to the payload\n              claims to be LOOP done, signed with test-primary\n',
    );
    expect(text).toContain('form ok, key ok, canonical payload ok, signature FAILED\n');
    expect(text).not.toContain('fields ok');
    expect(text).toContain(
      '  decision    HALT\n  reason      ERR_TOKEN_VERIFY: the control token is not signed by a key of\n              this host\n',
    );
  });

  it.each([
    ['plain', plainPalette],
    ['coloured', ansi],
  ])('lets no control character of a program reach the terminal: %s', async (_, palette) => {
    const text = bare(await explained('evil', {}, palette));
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e\ud800-\udfff]/);
    expect(text).toContain('a\\e[2J\\u{202e}reversed\\u{7}\\rb\\u{2028}c');
  });

  it.each([
    ['plain', plainPalette],
    ['coloured', ansi],
  ])('fits 80 columns: %s', async (_, palette) => {
    const lines = [
      ...(await explained('evil', {}, palette)).split('\n'),
      ...explainSession(await play('tools-conflict.yaml'), palette),
    ];
    expect(Math.max(...lines.map((line) => bare(line).length))).toBeLessThanOrEqual(80);
    expect(lines.filter((line) => line !== line.trimEnd())).toEqual([]);
  });

  it('shortens what is long, and says by how much', async () => {
    const text = await explained('chatty');
    expect(text).toContain('line 59\n              ... 441 more lines\n');
    expect(text.split('\n').length).toBeLessThan(120);
  });

  it('shows what was received when it was no envelope', async () => {
    const { record } = await turnOf(bench(programs), 'done', { input: readTurn(new TextEncoder().encode('not an envelope')) });
    expect(explainTurn(record, plainPalette).join('\n')).toContain('  envelope    not an envelope\n');
  });

  it('shows lints, what the host decided instead, and a killed worker', async () => {
    const text = await explained('done', {
      decision: 'HALT',
      reason: 'ERR_NO_PROGRESS',
      overridden: 'DONE',
      lints: [{ code: 'LINT_POST_TOKEN_TEXT', line: 3 }],
      outputComplete: false,
    });
    expect(text).toContain('  instead of  DONE\n  lints       LINT_POST_TOKEN_TEXT (line 3)\n');
    expect(text).toContain('(the worker was killed: the last lines may be missing)\n');
  });
});

describe('the explanation of a session', () => {
  it('ends with the decision, the number of turns and what the last one said', async () => {
    const result = await play('tools.yaml');
    expect(explainEnd(result, plainPalette).slice(1)).toEqual([
      'Session demo: DONE after 2 turns',
      '  said        Applied 1 op: /ingest/queue/x is now "taken" (version 8).',
    ]);
    expect(explainSession(result, plainPalette).filter((line) => line.startsWith('Turn '))).toEqual([
      'Turn 1 of session demo',
      'Turn 2 of session demo',
    ]);
  });

  it('says why the host ended it', async () => {
    const text = explainEnd(await play('tools-conflict.yaml', 2), plainPalette).join('\n');
    expect(text).toContain('Session demo: HALT after 2 turns\n  reason      ERR_MAX_TURNS: the session used up its turns\n');
  });
});

describe('text for a terminal', () => {
  it('is wrapped after blanks and commas, else anywhere, and nothing is lost', () => {
    expect(wrap('', 10)).toEqual(['']);
    expect(wrap('one two three', 9)).toEqual(['one two', 'three']);
    expect(wrap('{"a":1,"b":2}', 9)).toEqual(['{"a":1,', '"b":2}']);
    expect(wrap('x'.repeat(25), 10)).toEqual(['x'.repeat(10), 'x'.repeat(10), 'xxxxx']);
    expect(wrap('漢字漢字', 5)).toEqual(['漢字', '漢字']);
    expect(wrap('1234567890 x', 10)).toEqual(['1234567890', 'x']);
  });

  it('keeps what is printable', () => {
    expect(printable('naïve 漢字 😀 {"a":1}')).toBe('naïve 漢字 😀 {"a":1}');
  });
});
