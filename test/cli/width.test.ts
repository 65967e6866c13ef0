import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { Output } from '../../src/cli/terminal/output.ts';
import { sessionLines } from '../../src/report/index.ts';
import { tempFolder } from '../folder.ts';
import { command, linesOf } from './spawn.ts';
import { within } from './terminal.ts';

/** The lines of a text that a terminal of 80 columns breaks. */
const wide = (text: string): string[] => linesOf(text).filter((line) => [...line].length > 80);

it('issue 19, 16: the list of codes and the page of every code fit 80 columns', async () => {
  const list = (await within(['explain'])).stdout;
  expect(wide(list)).toEqual([]);
  const codes = linesOf(list).flatMap((line) => /^[A-Z]\S+/.exec(line) ?? []);
  expect(codes.length).toBeGreaterThan(100);
  for (const code of codes) expect({ code, wide: wide((await within(['explain', code])).stdout) }).toEqual({ code, wide: [] });
});

it.each([[['tools']], [['tools', '--all']], [['tools', '--brief']], [['doctor']], [['doctor', '--launcher', 'none']]])(
  'issue 19, 16: %j fits 80 columns',
  async (argv) => {
    const { stdout } = await within(argv);
    expect(linesOf(stdout).length).toBeGreaterThan(20);
    expect(wide(stdout)).toEqual([]);
  },
);

it('issue 19, 15: tools --brief shows signatures alone, and takes no other format', async () => {
  const { stdout } = await within(['tools', 'tool.str.Length', 'tool.str.Replace', '--brief']);
  expect(linesOf(stdout)).toEqual([
    'tool.str.Length(input_string: string) -> int',
    'tool.str.Replace(input_string: string, old_substring: string,',
    '        new_substring: string, count: int = -1) -> string',
  ]);
  expect(
    linesOf((await within(['tools', '--brief', '--format', 'prompt'])).stdout)
      .slice(1)
      .every((line) => line.startsWith('tool.')),
  ).toBe(true);
  expect(await within(['tools', '--brief', '--json'])).toMatchObject({
    code: 2,
    stderr: 'neuroscript: --brief needs --format text or prompt\n',
  });
});

it('issue 19, 18: counting with a key that is not there names the idiom', async () => {
  const { stderr } = await within(['run', '-'], { stdin: command('set counts = {}', 'set counts["a"] = counts["a"] + 1') });
  expect(stderr).toContain('to count in a map, write set m[k] = tool.map.Get(m, k, 0) + 1');
});

it('issue 19, 19: promptuser without a line names what to do', async () => {
  const program = command('promptuser "?" into x');
  expect((await within(['run', '-'], { stdin: program })).stderr).toContain(
    'hint: pass the value as a global (--global NAME=JSON)',
  );
});

/** What an output writes to a terminal of some columns. */
function shown(columns: number, write: (out: Output) => void): readonly string[] {
  const pieces: string[] = [];
  const stream = new Writable({ write: (chunk, _, done) => done(void pieces.push(String(chunk))) });
  write(new Output(Object.assign(stream, { isTTY: true, columns })));
  return pieces.join('').split('\n').slice(0, -1);
}

it('issue 49: a message is as wide as the terminal, and breaks between words; a word that is wider stays whole', () => {
  const hash = 'a'.repeat(64);
  expect(shown(30, (out) => out.prose(`  hint: \u001b[31mallowed are\u001b[39m calls of  tool.shop.stock ${hash}`))).toEqual([
    '  hint: \u001b[31mallowed are\u001b[39m calls of',
    '    tool.shop.stock',
    `    ${hash}`,
  ]);
  expect(shown(30, (out) => out.line('as it is '.repeat(9)))).toHaveLength(1);
});

it('issue 49: a list of sessions has columns where they fit', () => {
  const session = { status: 'done', reason: null, turns: 2 };
  const rows = [
    { ...session, sid: 'a' },
    { ...session, sid: 'b'.repeat(30), status: 'halted', reason: 'ERR_EXEC' },
  ];
  expect(sessionLines(rows)[0]).toBe(`a${' '.repeat(31)}done             2 turns`);
  expect(sessionLines(rows, 50)[0]).toBe('a  done  2 turns');
  const lease = { owner: 'host-7', until: 5 };
  expect(sessionLines([{ ...session, sid: 'a', status: 'open', lease }])[0]).toContain('a  running  2 turns  held by host-7');
});

it('issue 49: the keys of a file stand in columns, and fit a terminal of 60 columns, but for what has no blank', async () => {
  const cwd = tempFolder();
  await within(['keys', 'generate', 'k.json'], { cwd });
  const all = linesOf((await within(['keys', 'list', 'k.json'], { cwd })).stdout);
  expect(new Set(all.map((line) => line.indexOf('Ed25519'))).size).toBe(1);
  const narrow = linesOf((await within(['keys', 'list', 'k.json'], { cwd, columns: 60 })).stdout);
  expect(narrow.filter((line) => [...line].length > 60)).toEqual([]);
});

it('issue 49: what is foreseen and what is found fit a terminal of 60 columns', async () => {
  const program = command('emit tool.str.ToUpper("a text that is longer than the terminal is wide, in words")', 'set unused = 1');
  for (const verb of ['foresee', 'check']) {
    const { stdout, stderr } = await within([verb, '-'], { stdin: program, columns: 60 });
    expect(linesOf(stdout + stderr).filter((line) => [...line].length > 60)).toEqual([]);
  }
});
