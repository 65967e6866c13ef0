import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SLOW } from '../groups.ts';
import { folder, linesOf, neuroscript, type Outcome, type SpawnOptions } from './spawn.ts';
import { within } from './terminal.ts';

/** Types these lines into the command, which runs in this process. */
function repl(lines: readonly string[], args: readonly string[] = [], options: SpawnOptions = {}): Promise<Outcome> {
  return within(['repl', ...args], { stdin: typed(lines), ...options });
}

/** Types these lines into the pipe of a process. */
function piped(lines: readonly string[], args: readonly string[] = [], options: SpawnOptions = {}): Promise<Outcome> {
  return neuroscript(['repl', ...args], { stdin: typed(lines), ...options });
}

const typed = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

describe('repl with lines from a pipe', () => {
  it('issue 49, finding 7: its help breaks between words', async () => {
    const { stdout } = await within(['repl'], { stdin: ':help\n', columns: 60 });
    expect(stdout).toContain('  :load FILE          add the definitions of a file, or run\n                      its commands\n');
  });

  it('standard output has the emits and values alone; variables and procedures stay', SLOW, async () => {
    const { code, stdout, stderr } = await piped([
      'set x = 6',
      'x * 7',
      'func add(needs a, b) means',
      '',
      '  # an empty line gives nothing up here',
      '  return a + b',
      'endfunc',
      'add(x, 1)',
      'set list = [1,',
      '  2]',
      'list',
      'nothing',
      'if x > 5',
      '  emit ```two',
      'lines```',
      'endif',
      'emit 1 + \\',
      '  1',
      'command',
      '  set x = x + 1',
      'endcommand',
      'x',
    ]);
    expect(linesOf(stdout)).toEqual(['42', '7', '[1, 2]', 'nil', 'two', 'lines', '2', '7']);
    expect(stderr).toBe('defined add(a, b)\n');
    expect(code).toBe(0);
  });

  it('an input that fails says where and why as run does, and changes nothing', async () => {
    const { code, stdout, stderr } = await repl(['set x = 1', 'if true', '  set x = 2', '  set y = 1 / 0', 'endif', 'x', 'y']);
    expect(linesOf(stdout)).toEqual(['1', 'nil']);
    expect(linesOf(stderr)).toEqual([
      'input-2:3:13: division by zero: number 1 / number 0 (NS14)',
      '      set y = 1 / 0',
      '                ^',
      '  hint: test the divisor first',
      '  in Command Block (input-2:1:1)',
    ]);
    expect(code).toBe(1);
  });

  it('an error in an earlier definition shows the line of that definition', async () => {
    const { stderr } = await repl(['func f() means', '  fail "no"', 'endfunc', 'f()']);
    expect(stderr).toContain('input-1:2:3: no (NS1)\n      fail "no"\n');
    expect(stderr).toContain('in f (input-1:1:1)');
    expect(stderr).toContain('in Command Block (input-2:1:1)');
  });

  it('a procedure is replaced, and that is said; its callers get the new one', async () => {
    const { stdout, stderr } = await repl([
      'func f() means\nreturn 1\nendfunc',
      'func g() means\nreturn f()\nendfunc',
      'func f(optional a) means\nreturn 2\nendfunc',
      'g()',
      ':procs',
    ]);
    expect(stderr).toBe('defined f()\ndefined g()\nredefined f([a])\n');
    expect(linesOf(stdout)).toEqual(['2', 'g()  input-2', 'f([a])  input-3']);
  });

  it('a breach costs the input alone, whichever limit it is', async () => {
    const { code, stdout, stderr } = await repl(
      [
        'set x = "kept"',
        'while true\nset n = 1\nendwhile',
        'if true\nset x = "a"\nwhile true\nset x = x + x\nendwhile\nendif',
        'for each i in [1, 2, 3, 4, 5, 6]\nemit "0123456789"\nendfor',
        'func deep() means\nreturn deep() + 1\nendfunc',
        'deep()',
        'set l = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]',
        'x',
      ].flatMap((input) => input.split('\n')),
      ['--fuel', '1e6', '--memory', '1MB', '--output', '50B', '--call-depth', '50', '--list-length', '10'],
    );
    expect(stderr.match(/limit: --[a-z-]+/g)).toEqual([
      'limit: --fuel',
      'limit: --memory',
      'limit: --output',
      'limit: --list-length',
    ]);
    expect(stderr).toMatch(/NS37|--call-depth/);
    expect(linesOf(stdout).at(-1)).toBe('kept');
    expect(code).toBe(5);
  });

  it('the exit code is that of the first input that failed', async () => {
    const all = [['set = 1', 'fail "x"', 'emit 1'], [':bogus', 'set = 1'], ['tool.http.get("http://127.0.0.1/")', '1'], []];
    const codes = [];
    for (const lines of all) codes.push((await repl(lines)).code);
    expect(codes).toEqual([3, 2, 1, 0]);
  });

  it('promptuser takes the next line, and not one more', async () => {
    const { code, stdout, stderr } = await repl(['promptuser "name?" into n', 'set n = 1', 'n', 'promptuser "end?" into m']);
    expect(linesOf(stdout)).toEqual(['set n = 1']);
    expect(stderr).toMatch(
      /^name\? end\? input-3:1:1: promptuser found the end of the input \(NS26\)\n.*to read until its end, put an on error block before the loop/s,
    );
    expect(code).toBe(1);
  });

  it('an input that never ends is a syntax error, and none of it runs', async () => {
    const { code, stdout, stderr } = await repl(['emit 1', 'if true', 'emit 2']);
    expect(stdout).toBe('1\n');
    expect(stderr).toMatch(/^input-2:1:1: this `if` block is never closed \(NS15\)/);
    expect(code).toBe(3);
  });

  it('what stands in a block with a mistake is not run as inputs of their own', async () => {
    const { stdout, stderr } = await repl([
      'if false',
      '  set = 1',
      '  emit "must not run"',
      'endif',
      'while x {',
      'emit 2',
      'endwhile',
    ]);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/input-1:2:7: .*\(NS15\)[\s\S]*input-2:1:9: a block is not written in braces/);
  });

  it('--trace and :usage show the calls of the input and nothing else', async () => {
    const path = folder({ 'tools.yaml': 'tools: { tool.m.Get: { args: [key], cases: [], otherwise: { returns: 5 } } }\n' });
    const { code, stdout, stderr } = await repl(
      ['set x = tool.m.Get("k")', 'set y = tool.m.Get(x)', ':usage', 'x + y'],
      ['--tools', 'tools.yaml', '--trace'],
      { cwd: path },
    );
    expect(linesOf(stderr).map((line) => line.replace(/\([\d.]+ ms, fork .*?, /, '('))).toEqual([
      '#1 tool.m.get("k") → 5 (input-1:1:9)',
      '#1 tool.m.get(5) → 5 (input-2:1:9)',
    ]);
    expect(stdout).toContain('--tool-calls    1 of 1,000');
    expect(linesOf(stdout).at(-1)).toBe('10');
    expect(code).toBe(0);
  });

  it('globals, events, :vars and :reset', async () => {
    const { code, stdout, stderr } = await repl(
      [
        'on event "tick" as e do\nemit e["payload"][0]["Payload"]["n"] + g\nendon',
        ':event tick={"n": 1}',
        ':event tick={"n": 2}',
        'set text = "\\u001b[31m"',
        'set m = {"2": 1, "1": 2}',
        ':vars',
        ':reset',
        ':vars',
        ':procs',
        ':event tick',
        'set g = 1',
      ].flatMap((input) => input.split('\n')),
      ['--global', 'g=40'],
    );
    expect(linesOf(stdout)).toEqual(['41', '42', 'text = "\\u001b[31m"', 'm = {"2":1,"1":2}']);
    expect(stderr).toContain('added an event handler\n');
    expect(stderr).toContain('NS43');
    expect(code).toBe(1);
  });
});

describe('repl as one session', () => {
  const tools = `
class Box {
  constructor(text) { this.text = text; }
  [Symbol.dispose]() { console.error('closed ' + this.text); }
}
const open = { name: 'tool.box.Open', args: [{ name: 'text', type: 'string' }],
  run: ({ text }, runtime) => runtime.handles.create('box', new Box(text)) };
const look = { name: 'tool.box.Look', args: [{ name: 'box', type: 'any' }],
  run: ({ box }, runtime) => runtime.handles.get(box, 'box').text };
export const tools = [open, look];
`;

  it('a handle means the same object in a later input; :reset ends it', SLOW, async () => {
    const path = folder({ 'tools.mjs': tools });
    const { stdout, stderr, code } = await piped(
      ['set box = tool.box.Open("inside")', 'fail "no"', 'tool.box.Look(box)', ':reset', 'set again = 1', 'again'],
      ['--tools', 'tools.mjs'],
      { cwd: path },
    );
    expect(stdout).toBe('inside\n1\n');
    expect(stderr).toContain('closed inside\n');
    expect(code).toBe(1);
  });

  it('what cannot be carried over is named, and gone', async () => {
    const { stdout, stderr, code } = await repl(
      [`set long = "${'x'.repeat(300)}"`, 'set short = 1', 'long', 'short'],
      ['--tool-bytes', '200B'],
    );
    expect(stderr).toMatch(/^long was not kept: its value is too large/);
    expect(stdout).toBe('nil\n1\n');
    expect(code).toBe(0);
  });
});

describe('repl and files', () => {
  const lib = 'func one() means\n  return 1\nendfunc\n\nfunc two() means\n  return one() + one()\nendfunc\n';

  it('loads definitions and command blocks, and saves what run repeats', async () => {
    const path = folder({ 'lib.ns': lib, 'main.ns': 'command\n  set x = two()\n  emit x\nendcommand\n' });
    const { code, stdout, stderr } = await repl(
      ['  :load main.ns  ', 'x + 1', 'set y = 1 / 0', 'set t = ```a', '  b```', 't', ':save out.ns'],
      ['lib.ns'],
      { cwd: path },
    );
    expect(linesOf(stdout)).toEqual(['2', '3', 'a', '  b']);
    expect(stderr).toContain('saved; run it with: neuroscript run out.lib.ns out.ns\n');
    expect(code).toBe(1);
    expect(await within(['run', 'out.lib.ns', 'out.ns'], { cwd: path })).toEqual({ code: 0, stdout, stderr: '' });
  });

  it('a missing file, a folder, standard input, a file that is there already: one sentence each', async () => {
    const path = folder({ 'there.ns': 'command\n  emit 1\nendcommand\n' });
    const { code, stdout, stderr } = await repl(
      [':load no.ns', ':load .', ':load -', ':load', ':save there.ns', 'emit 2', ':save there.ns', ':save no/x.ns', 'emit 3'],
      [],
      { cwd: path },
    );
    expect(linesOf(stderr)).toEqual([
      'neuroscript: cannot read no.ns: there is no such file (ERR_USAGE)',
      'neuroscript: cannot read .: it is a folder (ERR_USAGE)',
      "neuroscript: '-' is the source of the inputs; name a file (ERR_USAGE)",
      'neuroscript: :load needs an argument: :load FILE (ERR_USAGE)',
      'neuroscript: nothing to save yet: no input has succeeded (ERR_USAGE)',
      'neuroscript: cannot write there.ns: it exists already (ERR_USAGE)',
      'neuroscript: cannot write no/x.ns: its folder does not exist (ERR_USAGE)',
    ]);
    expect(linesOf(stdout)).toEqual(['2', '3']);
    expect(readFileSync(join(path, 'there.ns'), 'utf8')).toContain('emit 1');
    expect(code).toBe(2);
  });

  it('what does not fit into one file is not saved', async () => {
    const path = folder({ 'lib.ns': lib });
    const { stderr } = await repl(['func one() means', 'return 5', 'endfunc', ':save out.ns'], ['lib.ns'], { cwd: path });
    expect(stderr).toContain('the inputs do not fit into one file: the procedure `one` is defined twice');
    expect(existsSync(join(path, 'out.ns'))).toBe(false);
  });

  it('a FILE of the command line that fails ends it', async () => {
    const path = folder({ 'bad.ns': 'func f( means\n' });
    expect(await repl(['emit 1'], ['bad.ns'], { cwd: path })).toMatchObject({ code: 3, stdout: '' });
    expect(await repl(['emit 1'], ['no.ns'], { cwd: path })).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('repl and hostile lines', () => {
  it('a line of 10 MB is refused and forgotten', SLOW, async () => {
    const { code, stdout, stderr } = await piped(['set x = 1', 'x'.repeat(10_000_000), 'x']);
    expect(stdout).toBe('1\n');
    expect(stderr).toBe('neuroscript: the line is longer than 1MB (ERR_USAGE)\n');
    expect(code).toBe(2);
  });

  it('lines that are no UTF-8 cost the input that they stand in', async () => {
    const bytes = Buffer.concat([
      Buffer.from('if true\n  emit "'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"\n  emit "must not run"\nendif\n'),
      Buffer.from([0xc3]),
      Buffer.from('\nemit "a\0b"\n'),
    ]);
    const { code, stdout, stderr } = await repl([], [], { stdin: bytes });
    expect(stdout).toBe('ab\n');
    expect(linesOf(stderr)).toEqual([
      'neuroscript: the line is not UTF-8 text; that input was not run (ERR_USAGE)',
      'neuroscript: the line is not UTF-8 text (ERR_USAGE)',
    ]);
    expect(code).toBe(2);
  });

  it('an input larger than a source ends the reading: its rest must not run', async () => {
    const { code, stdout, stderr } = await repl(
      ['if false', ...new Array<string>(20).fill('  emit "must not run"'), 'emit 1'],
      ['--source', '200B'],
    );
    expect(stdout).toBe('');
    expect(stderr).toBe('neuroscript: the input is larger than 200B (ERR_USAGE)\n');
    expect(code).toBe(2);
  });

  it('a reader of the output that had enough ends the command', SLOW, async () => {
    const { code } = await piped(new Array<string>(20_000).fill('emit "more"'), [], {
      onStdout: (_, child) => child.stdout?.destroy(),
    });
    expect(code).toBe(0);
  });

  it('what is shown of errors has no control characters', async () => {
    const { stderr } = await repl(['fail "\\u001b[2Jx"', ':\u001b[2J']);
    expect(stderr).not.toContain('\u001b');
  });
});
