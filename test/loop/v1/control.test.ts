import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Control, parseControl, scanMarkers } from '../../../src/loop/v1/control.ts';
import { controlDigest } from '../../../src/loop/v1/session.ts';
import { cpuMs } from '../../cost.ts';
import { SLOW } from '../../groups.ts';

const signal = (output: string): Control['signal'] => parseControl(output).signal;
const digest = (output: string): string => controlDigest(output, parseControl(output));
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** What stands for each signal as JSON on the first line; halt has no JSON form. */
const JSON_OF = { continue: '{"loop":"continue"}', done: '{"loop":"done"}', abort: '{"loop":"abort"}', halt: null } as const;
const MARKER_OF = {
  continue: '[[loop:continue]]',
  done: '[[loop:done]]',
  abort: '[[loop:abort:reason=x]]',
  halt: '[[loop:halt:reason=y]]',
} as const;
const ORDER = ['abort', 'halt', 'done', 'continue'] as const;
const PAIRS = ORDER.flatMap((strong, index) => ORDER.slice(index).map((weak) => [strong, weak] as const));

describe('control of the v1 profile', () => {
  it('AL1-1-1: control is a JSON line or a marker, and nothing else', () => {
    expect([JSON_OF.continue, MARKER_OF.continue].map(signal)).toEqual(['continue', 'continue']);
    expect(signal(`${JSON_OF.continue}\nprose`)).toBe('continue');
    for (const other of [
      'continue',
      'loop: continue',
      'loop=continue',
      '<<<LOOP:CONTINUE>>>',
      '[loop:continue]',
      '[[LOOP:continue]]',
      '[[loop: continue]]',
      `<<<NSMAG:V3:LOOP:${'A'.repeat(40)}.${'B'.repeat(86)}>>>`,
      'tool.aeiou.magic("LOOP", {"action": "continue"})',
      '"continue"',
      '- loop: continue',
      '{\n"loop": "continue"\n}',
    ])
      expect(signal(other), other).toBeNull();
  });

  it.each([
    ['{"loop":"continue"}', 'continue'],
    ['{"loop":"done"}', 'done'],
    ['{"loop":"abort"}', 'abort'],
    ['{"loop":"done","notes":"n","plan_digest":"sha256:abc123"}\nprose', 'done'],
    ['  {"loop":"continue"}\t', 'continue'],
    ['{"loop":"continue"}\r\nmore', 'continue'],
    ['{ "extra": [1.5, null], "loop" : "continue" }', 'continue'],
    ['{\n"loop":"continue"}', null],
    ['{"loop":"continue",\n"notes":"x"}', null],
    ['\n{"loop":"continue"}', null],
    ['prose\n{"loop":"continue"}', null],
    ['\ufeff{"loop":"continue"}', null],
    ['{"loop":"Continue"}', null],
    ['{"loop":"halt"}', null],
    ['{"loop":1}', null],
    ['{"loop":["continue"]}', null],
    ['{"Loop":"continue"}', null],
    ['["loop","continue"]', null],
    ['{"notes":{"loop":"continue"}}', null],
    ['{"loop":"done","loop":"continue"}', null],
    ['{"loop":"continue","notes":"a","notes":"b"}', null],
    ["{'loop':'continue'}", null],
    ['{"loop":"continue"} and prose', null],
    ['{"loop":"continue"', null],
    ['{"__proto__":{"loop":"continue"}}', null],
  ])('AL1-2.6-1: the first line %j asks for %s', (output, expected) => {
    expect(signal(output)).toBe(expected);
  });

  it('AL1-2.6-1: notes, plan digest and reason are read; a wrong value is dropped with a lint and the line stands', () => {
    const good = parseControl('{"loop":"abort","notes":"n","plan_digest":"sha256:aB9","reason":"r"}');
    expect(good).toMatchObject({ signal: 'abort', reason: 'r', notes: 'n', planDigest: 'sha256:aB9', lints: [] });
    const bad = parseControl('{"loop":"continue","notes":1,"plan_digest":"md5:00","reason":null,"other":{}}');
    expect(bad).toMatchObject({ signal: 'continue', reason: null, notes: null, planDigest: null });
    expect(bad.lints).toEqual(['notes', 'plan_digest', 'reason'].map((key) => ({ code: 'LINT_CONTROL_VALUE', key })));
  });

  it.each([
    ['[[loop:continue]]', [{ signal: 'continue', reason: null }]],
    ['so [[loop:done]], I think', [{ signal: 'done', reason: null }]],
    ['[[loop:abort]]', [{ signal: 'abort', reason: null }]],
    ['[[loop:abort:reason=no disk: 95% full]]', [{ signal: 'abort', reason: 'no disk: 95% full' }]],
    ['[[loop:halt:reason=policy]]', [{ signal: 'halt', reason: 'policy' }]],
    ['[[loop:abort:reason=]]', [{ signal: 'abort', reason: '' }]],
    [
      '[[loop:continue]][[loop:done]]\n\n x[[loop:abort]]',
      [
        { signal: 'continue', reason: null },
        { signal: 'done', reason: null },
        { signal: 'abort', reason: null },
      ],
    ],
    ['[[loop:continue]', []],
    ['[[loop:continue ]]', []],
    ['[[loop:Done]]', []],
    ['[[loop:halt]]', []],
    ['[[loop:abort:reason=a]b]]', []],
    ['[[loop:abort:reason=a\nb]]', []],
    ['[[loop:abort:why=a]]', []],
    ['[[loop:pause]]', []],
    ['[[loop:', []],
    [
      '[[loop:abort:reason=[[loop:done]]',
      [
        { signal: 'abort', reason: '[[loop:done' },
        { signal: 'done', reason: null },
      ],
    ],
    [`[[loop:abort:reason=${'r'.repeat(256)}]]`, [{ signal: 'abort', reason: 'r'.repeat(256) }]],
    [`[[loop:abort:reason=${'r'.repeat(257)}]]`, []],
    [`[[loop:abort:reason=${'😀'.repeat(256)}]]`, [{ signal: 'abort', reason: '😀'.repeat(256) }]],
    [`[[loop:abort:reason=${'😀'.repeat(257)}]]`, []],
  ])('AL1-2.6-2: the markers of %j', (text, expected) => {
    expect(scanMarkers(text)).toEqual(expected);
  });

  it('AL1-2.6-2: half a megabyte of openers costs no more than reading it, and 100 markers are 100', SLOW, () => {
    for (const opener of ['[[loop:', '[[loop:abort:reason=', '[[loop:halt:reason=x]']) {
      const text = opener.repeat(Math.ceil(520_000 / opener.length));
      // A pattern without a bound takes ten seconds for this (protocol.md 8.1).
      expect(cpuMs(() => expect(scanMarkers(text)).toEqual([]))).toBeLessThan(1000);
    }
    expect(scanMarkers('[[loop:continue]]\n'.repeat(100))).toHaveLength(100);
  });

  it('AL1-2.6-2: any text is scanned without a throw, and every marker found stands in it as written', () => {
    const pieces = fc.constantFrom('[[loop:', 'continue', 'done', 'abort', 'halt', ':reason=', ']]', ']', '[', '\n', 'é😀', ' ');
    fc.assert(
      fc.property(
        fc.array(pieces).map((parts) => parts.join('')),
        (text) => {
          for (const { signal: found, reason } of scanMarkers(text))
            expect(text).toContain(reason === null ? `[[loop:${found}]]` : `[[loop:${found}:reason=${reason}]]`);
        },
      ),
    );
  });

  it.each(PAIRS)('AL1-2.7-1: %s wins over %s, in both orders and both forms', (strong, weak) => {
    expect(signal(`${MARKER_OF[strong]}\n${MARKER_OF[weak]}`)).toBe(strong);
    expect(signal(`${MARKER_OF[weak]} ${MARKER_OF[strong]}`)).toBe(strong);
    if (JSON_OF[strong] !== null) expect(signal(`${JSON_OF[strong]}\n${MARKER_OF[weak]}`)).toBe(strong);
    if (JSON_OF[weak] !== null) expect(signal(`${JSON_OF[weak]}\nprose\n${MARKER_OF[strong]}`)).toBe(strong);
  });

  it('AL1-8-4: the reason is that of the signal that won, not of the weaker one', () => {
    expect(
      parseControl('{"loop":"done","reason":"weak"}\n[[loop:halt:reason=policy]]\n[[loop:abort:reason=strong]]'),
    ).toMatchObject({
      signal: 'abort',
      reason: 'strong',
    });
    expect(parseControl('{"loop":"continue","reason":"weak"}\n[[loop:halt:reason=strong]]')).toMatchObject({
      signal: 'halt',
      reason: 'strong',
    });
  });

  it('AL1-5-6: JSON is read from the first line, and markers are looked for also when it is there', () => {
    expect(parseControl('{"loop":"continue","notes":"n"}\n[[loop:continue]]')).toMatchObject({ signal: 'continue', notes: 'n' });
    expect(parseControl('no json\n[[loop:continue]]')).toMatchObject({ signal: 'continue', notes: null, json: null });
    expect(signal('{"loop":"continue"}\n[[loop:abort:reason=x]]')).toBe('abort');
    expect(signal('{"loop":"continue","notes":"[[loop:done]]"}')).toBe('done');
  });

  it('AL1-2.8-1: without an explicit and well-formed continue there is none', () => {
    for (const output of [
      '',
      '\n',
      '\n\n',
      'please continue',
      '{"loop":"continue"',
      '{"loop":"go on"}',
      '[[loop:continue',
      'PLAN []',
    ])
      expect(signal(output), JSON.stringify(output)).toBeNull();
  });
});

describe('the control digest', () => {
  it('AL1-2.9-1: neither the order of keys nor white space changes it', () => {
    const first = '{"loop":"continue","notes":"n"}\nPLAN [{"op":"set","path":"/x"}]';
    for (const same of [
      '{"notes":"n","loop":"continue"}\nPLAN [{"op":"set","path":"/x"}]',
      ' { "loop" : "continue" , "notes" : "n" } \nPLAN  [ {"path":"/x", "op":"set"} ] ',
      '{"loop":"continue","notes":"\\u006e"}\nprose that says something else\nPLAN [{"op":"set","path":"/x"}]\nmore',
    ])
      expect(digest(same), same).toBe(digest(first));
  });

  it('AL1-2.9-1: another plan, other notes, another digest or one plan more changes it', () => {
    const outputs = [
      '{"loop":"continue"}',
      '{"loop":"continue","notes":"n"}',
      '{"loop":"continue","notes":"m"}',
      '{"loop":"continue","plan_digest":"sha256:ab"}',
      '{"loop":"continue"}\nPLAN [1]',
      '{"loop":"continue"}\nPLAN [2]',
      '{"loop":"continue"}\nPLAN [1]\nPLAN [1]',
      'PLAN [1]\n[[loop:continue]]',
      'PLAN {"loop":"continue"}\n[[loop:continue]]',
    ];
    expect(new Set(outputs.map(digest)).size).toBe(outputs.length);
  });

  it('AL1-2.9-1: it is the SHA-256 of the canonical forms, so anybody can compute it', () => {
    expect(digest('{"notes":"n","loop":"continue"}\nPLAN [ {"b":1.0,"a":"x"} ]')).toBe(
      sha256('CONTROL|{"loop":"continue","notes":"n"}\nPLAN|[{"a":"x","b":1}]'),
    );
  });

  it('AL1-2.9-1: without JSON control and plan the whole OUTPUT counts, but for blanks at the ends of lines', () => {
    expect(digest('a [[loop:continue]]  \nb\t\r\n')).toBe(digest('a [[loop:continue]]\nb'));
    expect(digest('a [[loop:continue]]\nb')).toBe(sha256('OUTPUT|a [[loop:continue]]\nb'));
    expect(digest('a [[loop:continue]]\nc')).not.toBe(digest('a [[loop:continue]]\nb'));
    expect(digest('PLAN tomorrow\n[[loop:continue]]')).toBe(sha256('OUTPUT|PLAN tomorrow\n[[loop:continue]]'));
  });
});
