import { describe, expect, it } from 'vitest';
import { withoutFence } from '../../../src/aeiou/index.ts';
import { readReply } from '../../../src/loop/turn/input.ts';

const PROGRAM = "command\n  emit '1'\nendcommand";

describe('a Markdown fence around a program', () => {
  it.each([
    ['backticks', `\`\`\`\n${PROGRAM}\n\`\`\``],
    ['a language', `\`\`\`neuroscript\n${PROGRAM}\n\`\`\``],
    ['tildes', `~~~\n${PROGRAM}\n~~~`],
    ['a longer closing fence', `\`\`\`\n${PROGRAM}\n\`\`\`\`\``],
    ['blank lines around it', `\n\n  \`\`\`\n${PROGRAM}\n\`\`\`\n\n`],
  ])('is cut off: %s', (_name, body) => {
    expect(withoutFence(body)).toBe(PROGRAM);
  });

  it.each([
    ['nothing is fenced', PROGRAM],
    ['only a part is fenced', `set x = 1\n\`\`\`\n${PROGRAM}\n\`\`\``],
    ['the fence has no end', `\`\`\`\n${PROGRAM}`],
    ['the end has other characters', `\`\`\`\n${PROGRAM}\n~~~`],
    ['the end is shorter', `\`\`\`\`\n${PROGRAM}\n\`\`\``],
    ['there is only one line', '```'],
    ['there is no line', ''],
  ])('is left when %s', (_name, body) => {
    expect(withoutFence(body)).toBeNull();
  });

  it('keeps the bytes of the lines within', () => {
    expect(withoutFence('```\n  a \t\r\n\n\ufeffb\n```')).toBe('  a \t\r\n\n\ufeffb');
  });

  it('is cut off from the ACTIONS of a reply, with a lint at its line, and the envelope has none', () => {
    const sections = { userdata: '{"subject":"s","fields":{}}', output: null, scratchpad: null };
    const reply = (body: string) =>
      [
        'Here it is:',
        '<<<NSENV:V3:START>>>',
        '<<<NSENV:V3:USERDATA>>>',
        '{}',
        '<<<NSENV:V3:ACTIONS>>>',
        body,
        '<<<NSENV:V3:END>>>',
      ].join('\n');
    const fenced = readReply(sections, reply(`\`\`\`\n${PROGRAM}\n\`\`\``));
    const bare = readReply(sections, reply(PROGRAM));
    expect(fenced).toMatchObject({ ok: true, envelope: { actions: PROGRAM }, lints: [{ code: 'LINT_FENCE_IGNORED', line: 6 }] });
    expect(fenced.text).toBe(bare.text);
    expect(bare).toMatchObject({ ok: true, lints: [] });
  });
});
