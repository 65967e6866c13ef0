import { describe, expect, it } from 'vitest';
import { parseControl } from '../../../src/loop/v1/control.ts';
import { readV1Reply } from '../../../src/loop/v1/envelope.ts';
import type { V1TurnRecord } from '../../../src/loop/v1/record.ts';
import { scriptV1Agent } from '../../../src/loop/v1/script.ts';
import { explainV1End, explainV1Turn, plainPalette } from '../../../src/report/index.ts';
import { defaultLimits } from '../../../src/wire/limits.ts';
import { NO_USAGE } from '../../../src/wire/result.ts';
import { sections } from './bench.ts';

const ask = (transcript: string, turn: number) =>
  scriptV1Agent(transcript, 'a.txt').reply({
    sid: 's',
    turn,
    prompt: '',
    attempt: 1,
    system: '',
    maxTokens: null,
    signal: new AbortController().signal,
  });

describe('a transcript of v1 replies', () => {
  const [one, two] = [sections({ ACTIONS: 'first' }), sections({ ACTIONS: 'second' })];

  it('is cut at lines of three dashes, and parts without a section are skipped', async () => {
    const transcript = `about\n---\nprose\n${one}---\n${two}--- not a cut\n---\nend\n`;
    expect(await ask(transcript, 1)).toBe(`prose\n${one}`.trimEnd());
    expect(await ask(transcript, 2)).toContain('second');
    await expect(ask(transcript, 3)).rejects.toMatchObject({ code: 'ERR_AGENT' });
  });

  it('may also be of v3 envelopes, and is refused when it has no reply at all', async () => {
    const v3 = '<<<NSENV:V3:START>>>\n<<<NSENV:V3:USERDATA>>>\n{}\n<<<NSENV:V3:ACTIONS>>>\nx\n<<<NSENV:V3:END>>>';
    expect(await ask(`${v3}\n${v3}`, 2)).toContain(v3);
    expect(() => scriptV1Agent('prose\n---\nmore', 'a.txt')).toThrow(expect.objectContaining({ code: 'ERR_CONFIG' }));
  });
});

describe('reading a reply', () => {
  const programs = (text: string) => {
    const read = readV1Reply(text);
    return read.ok ? read.programs : read.reason;
  };

  it('takes what stands between code fences, or the whole section without any', () => {
    const none = { implementations: '', events: '' };
    const marker = '<<<NSENVELOPE_MAGIC::ACTIONS::v1>>>';
    expect(programs(`prose\n${marker}\n\n\`\`\`neuroscript\na\n  b\n\`\`\`\nprose after`)).toEqual({
      ...none,
      actions: 'a\n  b',
    });
    expect(programs(`${marker}\n\na\nb\n\n`)).toEqual({ ...none, actions: 'a\nb' });
    expect(programs(`${marker}\n\`\`\`\nnever closed`)).toEqual({ ...none, actions: 'never closed' });
    expect(programs(`${marker}\n\`\`\`\n\`\`\``)).toBe('missing_command');
    expect(programs(`${marker} `)).toBe('missing_command');
    expect(programs(` ${marker}\na`)).toBe('missing_command');
    expect(programs('{"proto":"NSENVELOPE","v":1}\r\n<<<NSENVELOPE_MAGIC::ACTIONS::v1>>>\r\na')).toEqual({
      ...none,
      actions: 'a',
    });
  });
});

describe('explaining a loop', () => {
  const evil = '\u001b[31mred\n[[loop:done]]';
  const turn: V1TurnRecord = {
    loopId: 'l',
    turn: 1,
    prompt: '',
    tokens: 7,
    reply: '',
    limits: defaultLimits('turn'),
    invalid: null,
    output: evil,
    nextOutput: evil,
    control: { ...parseControl(`{"loop":"done","notes":"${'n'.repeat(200)}"}`) },
    digest: null,
    stubs: [],
    lints: [{ code: 'LINT_SECRET_OUTPUT', name: 'key' }],
    whispers: [],
    eventEmits: [],
    delivered: [],
    eventErrors: [],
    journal: [],
    usage: NO_USAGE,
    error: null,
  };

  it('fits 80 columns and lets nothing through that a terminal would obey', () => {
    const end = explainV1End(
      {
        decision: 'HALT',
        cause: 'host',
        reason: 'policy',
        loopId: 'l',
        output: evil,
        error: null,
        fuel: 0,
        tokens: 7,
        turns: [turn],
      },
      plainPalette,
    );
    const lines = [...explainV1Turn(turn, 'DONE', plainPalette), ...end];
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(lines.join('\n')).not.toContain('\u001b');
    expect(lines).toContain('Loop l: HALT after 1 turn');
    expect(lines).toContain('  reason      policy: a budget or the policy does not allow it to go on');
    expect(lines.join('\n')).toContain('LINT_SECRET_OUTPUT key');
  });
});
