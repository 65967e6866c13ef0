import { PassThrough } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { complete, KeyboardLines } from '../../src/cli/repl/lines.ts';
import { Output } from '../../src/cli/terminal/output.ts';
import { paletteFor } from '../../src/report/index.ts';

const CONTROL_C = '\u0003';
const CONTROL_D = '\u0004';

function keyboard(maxBytes = 1000) {
  const keys = new PassThrough();
  const screen = new PassThrough();
  let interrupts = 0;
  let shown = '';
  screen.on('data', (chunk) => {
    shown += String(chunk);
  });
  const stop = new AbortController();
  const lines = new KeyboardLines({
    ...{ stdin: keys, screen, maxBytes, interrupt: stop.signal },
    complete: (line) => complete(line, NOTHING, ['tool.str.upper']),
    onInterrupt: () => {
      interrupts++;
    },
  });
  onTestFinished(() => lines[Symbol.dispose]());
  return { keys, lines, stop, shown: () => shown, interrupts: () => interrupts };
}

const NOTHING = { variables: [], definitions: [] };

describe('lines that a person types', () => {
  it('come one at a time, those of a paste too', async () => {
    const { keys, lines } = keyboard();
    const first = lines.next('ns> ');
    keys.write('one\r\rthree\r');
    expect(await first).toEqual({ text: 'one' });
    expect(await lines.more()).toBe(true);
    expect(await lines.next('ns> ')).toEqual({ text: '' });
    expect(await lines.next('ns> ')).toEqual({ text: 'three' });
    expect(await lines.more()).toBe(false);
  });

  it('Ctrl-C in an empty line and in one with text are told apart, and empty it', async () => {
    const { keys, lines, interrupts } = keyboard();
    const empty = lines.next('ns> ');
    keys.write(CONTROL_C);
    expect(await empty).toBe('interrupted');
    const half = lines.next('ns> ');
    keys.write('half');
    keys.write(CONTROL_C);
    expect(await half).toBe('cleared');
    const next = lines.next('ns> ');
    keys.write('whole\r');
    expect(await next).toEqual({ text: 'whole' });
    expect(interrupts()).toBe(0);
  });

  it('Ctrl-C while nobody waits is told to whoever runs, and forgets what was typed ahead', async () => {
    const { keys, lines, interrupts } = keyboard();
    const first = lines.next('ns> ');
    keys.write('one\rtwo\rthree\r');
    await first;
    keys.write(CONTROL_C);
    expect(interrupts()).toBe(1);
    const next = lines.next('ns> ');
    keys.write('four\r');
    expect(await next).toEqual({ text: 'four' });
  });

  it('issue 49: each line of a paste is shown behind its own prompt', async () => {
    const { keys, lines, shown } = keyboard();
    const first = lines.next('ns> ');
    keys.write('one\r\ntwo\r\n');
    await first;
    expect(await lines.next('... ')).toEqual({ text: 'two' });
    expect(shown().replace(/\u001b\[[0-9]*[A-Z]/g, '')).toBe('ns> one\r\n... two\r\n');
  });

  it('Ctrl-D is the end, also when nobody waits', async () => {
    const { keys, lines } = keyboard();
    const first = lines.next('ns> ');
    keys.write(`one\r${CONTROL_D}`);
    expect(await first).toEqual({ text: 'one' });
    expect(await lines.next('ns> ')).toBe('end');
  });

  it('what ends the command ends the waiting', async () => {
    const { lines, stop } = keyboard();
    const line = lines.next('ns> ');
    stop.abort();
    expect(await line).toBe('end');
  });

  it('one that is too long is refused', async () => {
    const { keys, lines } = keyboard(1024);
    const line = lines.next('ns> ');
    keys.write(`${'é'.repeat(600)}\r`);
    expect(await line).toEqual({ trouble: 'the line is longer than 1KB' });
  });

  it('a question of several lines is the prompt, without what it could do to the terminal', async () => {
    const { keys, lines, shown } = keyboard();
    const line = lines.next('first\n\u001b[2Jsecond? ');
    keys.write('x\r');
    await line;
    const screen = shown();
    expect(screen).toContain('first\n');
    expect(screen).toContain('\\e[2Jsecond? ');
    expect(screen).not.toContain('\u001b[2J');
  });

  it('Tab completes', async () => {
    const { keys, lines } = keyboard();
    const line = lines.next('ns> ');
    keys.write('emit tool.s');
    keys.write('\t');
    await new Promise((resolve) => setTimeout(resolve, 20));
    keys.write('("a")\r');
    expect(await line).toEqual({ text: 'emit tool.str.upper("a")' });
  });
});

describe('completion', () => {
  const file = { name: 'a', kind: 'library', commandBlocks: 0, signatures: [], metadata: [], events: 0, tools: [] } as const;
  const session = {
    variables: [{ name: 'count', value: 1 }],
    definitions: [{ source: { name: 'a', text: '' }, file: { ...file, procedures: ['counted'] } }],
  };
  const of = (line: string) => complete(line, session, ['tool.str.upper', 'tool.str.length']);

  it.each([
    ['knows keywords, variables and procedures', 'emit cou', [['count', 'counted'], 'cou']],
    ['tools', 'call tool.str.', [['tool.str.length', 'tool.str.upper'], 'tool.str.']],
    ['tools in any letter case (19-7)', 'call Tool.Str.Up', [['tool.str.upper'], 'Tool.Str.Up']],
    ['the name after digits and dots', 'emit 1.5cou', [['count', 'counted'], 'cou']],
    ['commands of the prompt', ' :re', [[':reset'], ':re']],
    ['nothing behind a blank', 'emit ', [[], '']],
    ['nothing that is not there', 'zzz', [[], 'zzz']],
  ])('%s', (_, line, expected) => {
    expect(of(line)).toEqual(expected);
  });
});

describe('repl before a person', () => {
  /** Types each text when what was shown so far ends with what stands before it; gives all that was shown, and the code. */
  async function talk(steps: readonly (readonly [ends: string, keys: string])[]): Promise<{ code: number; shown: string }> {
    const stdin = new PassThrough();
    const screen = new PassThrough();
    const out = new Output(screen);
    const paint = paletteFor({}, {});
    const interrupt = new AbortController();
    let shown = '';
    let from = 0;
    const left = [...steps];
    screen.on('data', (chunk) => {
      shown += String(chunk);
      const [step] = left;
      if (step === undefined || !plain(shown.slice(from)).endsWith(step[0])) return;
      left.shift();
      from = shown.length;
      setImmediate(() => stdin.write(step[1]));
    });
    const terminal = {
      ...{ stdin, screen, out, err: out, paintOut: paint, paintErr: paint },
      ...{ outIsTTY: true, statusColumns: 79, interrupt: interrupt.signal, onSignal: () => {}, beforeFailure: () => {} },
    };
    const code = await runProgram(['repl', '--fuel', '1e11', '--cpu', '60s', '--wall', '60s'], terminal);
    return { code, shown: plain(shown) };
  }

  /** Without what readline writes to move the cursor. */
  const plain = (text: string): string => text.replace(/\u001b\[[0-9]*[A-Z]/g, '').replaceAll('\r', '');

  it('issue 49: help and exit do what a newcomer expects, and a variable of that name is a variable', {
    timeout: 300_000,
  }, async () => {
    const { code, shown } = await talk([
      ['ns> ', 'help\r'],
      ['ns> ', 'set help = 5\r'],
      ['ns> ', 'help\r'],
      ['ns> ', 'exit\r'],
    ]);
    expect(shown).toMatch(/ns> help\n {2}:help [\s\S]*ns> help\n5\n(ns> )+exit\n$/);
    expect(code).toBe(0);
  });

  it('an endless program is stopped by Ctrl-C, and nothing is lost; a block is given up; Ctrl-D leaves with 0', {
    timeout: 300_000,
  }, async () => {
    const { code, shown } = await talk([
      ['ns> ', 'set x = "kept"\r'],
      ['ns> ', 'while true\r'],
      ['... ', 'set x = "lost"\r'],
      ['... ', 'endwhile\r'],
      ['endwhile\n', CONTROL_C],
      ['ns> ', 'if true\r'],
      ['... ', '\r'],
      ['ns> ', 'func f() means\r\r  return x\rendfunc\rx\r'],
      ['ns> ', 'emit "\\u001b[2J"\r'],
      ['ns> ', 'promptuser "who?" into w\r'],
      ['who? ', CONTROL_C],
      ['ns> ', 'fail "at the end"\r'],
      ['ns> ', CONTROL_C],
      ['ns> ', CONTROL_D],
    ]);
    expect(shown).toMatch(/cancelled \(ERR_CANCELLED\)[\s\S]*cancelled\n[\s\S]*defined f\(\)\nns> x\nkept\n[\s\S]*\\e\[2J\n/);
    expect(shown.match(/ERR_CANCELLED/g)).toHaveLength(2);
    expect(shown).toContain('press Ctrl-C again, or Ctrl-D, to leave');
    expect(code).toBe(0);
  });
});
