import { describe, expect, it } from 'vitest';
import { EXAMPLE_ACTIONS } from '../../../src/aeiou/index.ts';
import { programReply } from '../../../src/loop/index.ts';
import { toolGrammar } from '../../../src/tools/index.ts';
import { follow, Gbnf } from './gbnf.ts';
import { ALLOWED } from './view.ts';

const [grammar, small] = [false, true].map((each) => new Gbnf(toolGrammar(ALLOWED, { of: 'turn', small: each }))) as [Gbnf, Gbnf];
const token = 'emit tool.aeiou.magic("LOOP", {"action": "done"})';
const command = (...lines: readonly string[]): string => `command\n${lines.join('\n')}\nendcommand`;

describe('the grammar of a turn', () => {
  it.each([
    [command(token)],
    [command('emit "x"', token)],
    [command('if a', token, 'else', 'emit "x"', token.replace('done', 'continue'), 'endif')],
    [command('if a', token, 'return', 'endif', token)],
    [command('while a', token, 'return', 'endwhile', token)],
    [command('on error do', 'emit 1', 'endon', token)],
  ])('A3-5.3: takes a reply whose last line is the token: %j', (actions) => {
    for (const each of [grammar, small]) expect(follow(each, programReply(actions)).whole).toBe(true);
  });

  it.each([
    [EXAMPLE_ACTIONS],
    [command(`# first`, `${token} # last`)],
    [command(token.replaceAll('"', "'"))],
    [command('emit tool . aeiou . magic ( "LOOP" , {"action": "abort", "request": {"x": [1]}}, {"ttl": 60} )')],
    [command("emit '''a\n<b>\n< c'''", token)],
  ])('the whole language: %j', (actions) => {
    expect(follow(grammar, programReply(actions)).whole).toBe(true);
  });

  it.each([
    ['no token', command('emit 1')],
    ['text behind the token', command(token, 'emit 1')],
    ['a branch without a token', command('if a', token, 'endif')],
    ['a return without a token', command('return', token)],
    ['a token in a variable', command('set t = tool.aeiou.magic("LOOP", {"action": "done"})', 'emit t')],
    ['a token in a handler', command('on error do', token, 'return', 'endon', token)],
    ['an unknown action', command(token.replace('done', 'stop'))],
    ['a typed token', command('emit "<<<NSMAG:V3:LOOP:x.y>>>"')],
    ['two command blocks', `${command(token)}\n${command(token)}`],
    ['a procedure', 'func f() means\nemit 1\nendfunc'],
    ['no program', ''],
  ])('A3-3.3: refuses %s', (_what, actions) => {
    for (const each of [grammar, small]) expect(follow(each, programReply(actions)).whole).toBe(false);
  });

  it.each(['<<<NSENV:V3:END>>>', '<<<NSENV:V3:X>>>'])('A3-3.1: no line of a text in the program is a marker: %s', (marker) => {
    for (const [open, close] of [
      ["'''", "'''"],
      ['```', '```'],
    ] as const) {
      const reply = (text: string): string =>
        programReply(command('emit 1', token)).replace('emit 1', `emit ${open}a\n${text}\n${close}`);
      expect(follow(grammar, reply(marker)).whole).toBe(false);
      expect(follow(grammar, reply(`x${marker}`)).whole).toBe(true);
    }
  });
});
