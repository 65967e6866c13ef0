import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SLOW } from '../groups.ts';
import { command, folder, linesOf, neuroscript, pressControlC } from './spawn.ts';
import { within } from './terminal.ts';

const TOOLS = 'tools:\n  tool.shop.Next:\n    cases:\n      - sequence: [{ returns: a }, { returns: b }]\n';
const PASSING = `#: adds
emit 1 + 2 #=> 3
emit "two\\nlines"
#=> two\\nlines
---
#: divides by zero
set x = 1
emit x / 0 #!! 14
---
#: a loop without end reaches its limit
#: limits {"fuel": 500}
while true
  set x = 1
endwhile
#!! ERR_QUOTA fuel
---
#: calls what the file defines, with a variable
#: file lib.ns
#: global name="Ada"
emit greet(name) #=> hello Ada
---
#: a mock starts anew in every case
emit tool.shop.Next() #=> a
emit tool.shop.Next() #=> b
---
#: again
emit tool.shop.Next() #=> a
---
#: an event reaches its handler, which fails
#: event hello=1
on event "hello" do
  emit "got it" #=> got it
  fail "no"
endon
#!event 1
`;
const LIB = 'func greet(needs name returns text) means\n  return "hello " + name\nendfunc\n';

describe('neuroscript test', () => {
  it('runs every case of the test files below the folder, and exits with 0 when all are as expected', async () => {
    const cwd = folder({ 'a.test.ns': PASSING, 'lib.ns': LIB, 'tools.yaml': TOOLS });
    const { code, stdout, stderr } = await within(['test', '--tools', 'tools.yaml'], { cwd });
    expect({ code, stderr, last: linesOf(stdout).at(-1) }, stdout).toEqual({ code: 0, stderr: '', last: '7 passed, 0 failed' });
    expect(linesOf(stdout)[1]).toBe('ok     a.test.ns:6 divides by zero');
  });

  it.each([
    ['another text', 'emit 1 #=> 2', 'emit 1: expected "2", got "1"'],
    ['an emit too many', 'emit 1 #=> 1\nemit 2', 'emit 2: expected none, got "2"'],
    ['an emit too few', '#=> 1', 'emit 1: expected "1", got none'],
    ['an error that nobody expects', 'emit 1 / 0', 'expected no error, got'],
    ['no error', 'emit 1 #=> 1\n#!! 14', 'expected NS14, got none'],
    ['another error', 'emit 1 / 0 #!! 7', 'expected NS7 on line 2, got'],
    ['the error on another line', 'set x = 1 #!! 14\nemit x / 0', 'expected NS14 on line 2, got'],
    ['a syntax error', 'set = 1', 'expected no error, got'],
    ['no error of a handler', '#!event 7', 'errors of handlers: expected NS7, got none'],
  ])('fails for %s, says what differs, and exits with 1', async (_, body, problem) => {
    const cwd = folder({ 'a.test.ns': `#: case\n${body}\n` });
    const { code, stdout } = await within(['test', 'a.test.ns'], { cwd });
    expect(code).toBe(1);
    expect(linesOf(stdout)[0]).toBe('FAILED a.test.ns:1 case');
    expect(linesOf(stdout)[1]?.trim()).toBe(problem);
    expect(linesOf(stdout).at(-1)).toBe('0 passed, 1 failed');
  });

  it.each([
    ['a byte-order mark', '\ufeff#: case\nemit 1 #=> 1\n'],
    ['line ends of CR LF', '#: case\r\nemit 1 #=> 1\r\nemit 2\r\n#=> 2\r\n'],
    ['line ends of CR', '#: case\remit 1 #=> 1\r---\r#: other\remit 2 #=> 2\r'],
    ['a tab in front of an expectation', '#: case\nemit 1 / 0\t#!! 14\n'],
    ['no blank in front of an expectation', '#: case\nemit 1#=> 1\n'],
    ['blanks behind a code', '#: case\nemit 1 / 0 #!!  14 \n'],
    ['blanks behind the code of a handler', '#: case\n#: event e=1\non event "e" do\n  fail "no"\nendon\n#!event 1 \n'],
    ['a string that holds a mark', '#: case\nemit "a #=> b" #=> a #=> b\nemit \'#!! 7\'\n#=> #!! 7\n'],
    ['a text of several lines that holds a mark', "#: case\nemit '''a\n#: file x\n#=> b''' #=> a\\n#: file x\\n#=> b\n"],
    ['an expectation behind an open string', '#: case\nemit "a #!! 15\n'],
    ['an emit with a line separator', '#: case\nemit "a\u2028b" #=> a\u2028b\n'],
    ['a setting behind blanks', '#: case\n  #: limits {"fuel": 5}\nwhile true\n  set x = 1\nendwhile\n#!! ERR_QUOTA  fuel\n'],
  ])('takes %s', async (_, text) => {
    const { code, stdout, stderr } = await within(['test', 'a.test.ns'], { cwd: folder({ 'a.test.ns': text }) });
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
  });

  it('prints no control character of a case', async () => {
    const text = '#: a\nemit "x\\u009b31my" #=> \x9b32m\n---\n#: b\nemit 1 #=> 1\n#!! \x1b[31m\n#!event \x1b[31m\n';
    const { code, stdout } = await within(['test', 'a.test.ns'], { cwd: folder({ 'a.test.ns': text }) });
    expect({ code, controls: stdout.match(/[\0-\x09\x0b-\x1f\x7f-\x9f]/g) }, stdout).toEqual({ code: 1, controls: null });
  });

  it('shows an error at its place in the test file', async () => {
    const cwd = folder({ 'a.test.ns': '#: one\nemit 1 #=> 1\n---\n#: two\nset x = 1\nemit x / 0\n' });
    expect((await within(['test'], { cwd })).stdout).toContain('a.test.ns:6:');
  });

  it('--json prints one object with all cases', async () => {
    const cwd = folder({ 'a.test.ns': '#: good\nemit 1 #=> 1\n---\n#: bad\nemit 1 #=> 2\n' });
    const { code, stdout } = await within(['test', '--json'], { cwd });
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      passed: 1,
      failed: 1,
      cases: [
        { file: 'a.test.ns', line: 1, title: 'good', ok: true, problems: [] },
        { file: 'a.test.ns', line: 4, title: 'bad', ok: false, problems: ['emit 1: expected "2", got "1"'] },
      ],
    });
  });

  it.each([
    ['a file without a case', '', "a.test.ns has no case; a case starts with '#: ' and a title"],
    ['a case without title', 'emit 1\n', "a.test.ns:1: a case starts with '#: ' and its title"],
    ['an unknown setting', '#: a\n#: limit {}\n', "a.test.ns:2: '#: limit' must be file, global, event or limits"],
    ['two errors', '#: a\n#!! 1\n#!! 2\n', 'a.test.ns:3: a case ends with one error'],
    ['an error that nobody would look for', '#: a\nset x = 1 #!!14\n', "a.test.ns:2: a blank must follow '#!!'"],
    ['an emit that nobody would look for', '#: a\n#=>5\n', "a.test.ns:2: a blank must follow '#=>'"],
    ['an error without its code', '#: a\nset x = 1 #!! \n', 'a.test.ns:2: the code of the error is missing'],
    ['an error of a handler without its code', '#: a\n#!event\n', 'a.test.ns:2: the code of the error is missing'],
    ['an error with two limits', '#: a\n#!! ERR_QUOTA fuel cpuMs\n', 'a.test.ns:2: only a limit name may follow the code'],
    ['a case that does nothing', '#: a\nemit 1 #=> 1\n---\n#: b\n# later\n', 'a.test.ns:4: the case has no program'],
    ['limits that are no object', '#: a\n#: limits 5\nemit 1\n', 'a.test.ns:2: limits are an object, such as'],
    ['a limit that does not exist', '#: a\n#: limits {"full": 1}\nemit 1\n', "unknown limit 'full'"],
  ])('refuses %s with exit code 2', async (_, text, message) => {
    const { code, stderr } = await within(['test'], { cwd: folder({ 'a.test.ns': text }) });
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it('says so when there is no test file', async () => {
    const { code, stderr } = await within(['test'], { cwd: folder({ 'a.ns': command('emit 1') }) });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'neuroscript: there is no test file (*.test.ns) in this folder or below; name a file\n',
    });
  });

  it('takes folders, and says so when one has no test file', async () => {
    const cwd = folder({ 'a/b/x.test.ns': '#: x\nemit 1 #=> 1\n', 'a/y.ns': command('emit 2'), 'c.ns': command('emit 3') });
    expect(await within(['test', 'a'], { cwd })).toMatchObject({
      code: 0,
      stdout: 'ok     a/b/x.test.ns:1 x\n1 passed, 0 failed\n',
    });
    const { code, stderr } = await within(['test', 'a/b', '.', 'node_modules'], {
      cwd: folder({ 'a/b/x.test.ns': '', 'node_modules/a.ns': '' }),
    });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'neuroscript: there is no test file (*.test.ns) in node_modules or below; name a file\n',
    });
  });

  it('--watch runs them again after a change, also of a module of tools, and ends with Ctrl-C', SLOW, async () => {
    const tool = (answer: number): string =>
      `export const tools = [{ name: 'tool.my.Answer', args: [], effects: 'read', run: () => ${answer} }];\n`;
    const cwd = folder({ 'a.test.ns': '#: answer\nemit tool.my.Answer() #=> 2\n', 'tools.mjs': tool(1) });
    let rounds = 0;
    const { code, stdout } = await neuroscript(['test', '--watch', '--tools', 'tools.mjs'], {
      cwd,
      onStderr(text, child) {
        if (!text.includes('waiting for a change')) return;
        rounds += 1;
        if (rounds === 1) writeFileSync(join(cwd, 'tools.mjs'), tool(2));
        else pressControlC(child);
      },
    });
    expect(code).toBe(0);
    // A file system may report one change twice, so the last round may come again.
    const rounded = linesOf(stdout).filter((line) => line.includes('passed'));
    expect([...new Set(rounded)]).toEqual(['0 passed, 1 failed', '1 passed, 0 failed']);
  });
});
