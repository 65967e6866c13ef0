import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createRuntime } from '../../src/runtime/index.ts';
import { type FsQuota, fsTools } from '../../stdlib-tools/index.ts';
import { tempFolder } from '../folder.ts';
import { ALL, emitted, values } from './call.ts';

const base = realpathSync(tempFolder());

let rounds = 0;
let root = '';
let outside = '';

beforeEach(() => {
  const round = join(base, String(++rounds));
  root = join(round, 'root');
  outside = join(round, 'outside');
  mkdirSync(root, { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret.txt'), 'secret');
});

const tools = (quota: FsQuota = {}) => fsTools({ directoryOf: async () => root, quota });
const run = (...calls: string[]) => values(tools(), ...calls);

/** What each call gives, or the number of its error. */
async function guarded(calls: readonly string[]): Promise<readonly unknown[]> {
  const lib = calls.map((call, index) =>
    [
      `func try${index}(returns out) means`,
      '  on error do',
      '    set out = system_error.code',
      '    clear_error',
      '  endon',
      '  set out = nil',
      `  set out = ${call}`,
      '  return out',
      'endfunc',
    ].join('\n'),
  );
  await using runtime = await createRuntime({
    tools: tools(),
    policy: ALL,
    limits: { toolCalls: 1000, wallMs: 60_000, cpuMs: 20_000 },
    concurrency: 1,
  });
  const source = ['command', ...calls.map((_, index) => `  emit try${index}()`), 'endcommand'].join('\n');
  const result = await runtime.run(source, { lib });
  if (result.error !== null) throw new Error(JSON.stringify(result.error));
  return result.values;
}

describe('tool.fs', () => {
  it('writes, adds, reads, counts and digests files, and makes the directories on the way', async () => {
    expect(
      await run(
        'tool.fs.Write("a/b/c.txt", "grüße\\n")',
        'tool.fs.Append("a/b/c.txt", "two")',
        'tool.fs.Read("./a//b/c.txt")',
        'tool.fs.LineCount("a/b/c.txt")',
        'tool.fs.Hash("a/b/c.txt")',
        'tool.fs.Write("a/b/c.txt", "")',
        'tool.fs.Read("a/b/c.txt")',
        'tool.fs.LineCount("a/b/c.txt")',
        'tool.fs.Write("copy", tool.fs.ReadBytes("a/b/c.txt"))',
      ),
    ).toEqual([
      'OK',
      'OK',
      'grüße\ntwo',
      2,
      // printf 'grüße\ntwo' | sha256sum
      execFileSync('sha256sum', { input: 'grüße\ntwo' }).toString().slice(0, 64),
      'OK',
      '',
      0,
      'OK',
    ]);
  });

  it('lists, walks and describes, in the order of names', async () => {
    writeFileSync(join(root, 'b.txt'), 'four');
    mkdirSync(join(root, 'a'));
    writeFileSync(join(root, 'a', 'x'), '');
    const [list, all, walk, stat] = await run(
      'tool.fs.List(".")',
      'tool.fs.List(".", true)',
      'tool.fs.Walk("a")',
      'tool.fs.Stat("b.txt")',
    );
    const time = expect.stringMatching(/^20\d\d-\d\d-\d\dT[\d:.]+Z$/);
    const shown = (name: string, path: string, isDir: boolean, size: unknown) => ({ name, path, isDir, size, modTime: time });
    expect(list).toEqual([shown('a', 'a', true, expect.any(Number)), shown('b.txt', 'b.txt', false, 4)]);
    expect(all).toEqual([expect.anything(), shown('x', 'a/x', false, 0), expect.anything()]);
    const unix = expect.any(Number);
    const common = { modified_unix: unix, modified_rfc3339: time };
    expect(walk).toEqual([{ name: 'x', path_relative: 'x', is_dir: false, size_bytes: 0, mode_string: '-rw-r--r--', ...common }]);
    expect(stat).toEqual({
      ...{ name: 'b.txt', path: 'b.txt', size_bytes: 4, is_dir: false, mode_string: '-rw-r--r--', mode_perm: '0644' },
      ...common,
    });
  });

  it('makes, moves and deletes; what is absent can be deleted, what is not empty cannot', async () => {
    expect(
      await run(
        'tool.fs.Mkdir("d/e")',
        'tool.fs.Write("d/e/f", "1")',
        'tool.fs.Move("d/e/f", "d/g")',
        'tool.fs.Read("d/g")',
        'tool.fs.Delete("d/e")',
        'tool.fs.Delete("d/e")',
        'tool.fs.Delete("no/such/thing")',
        'tool.fs.Delete("d/g")',
        'tool.fs.List("d")',
      ),
    ).toEqual([
      { status: 'success', message: 'Successfully created directory: d/e', path: 'd/e' },
      'OK',
      { message: 'moved d/e/f to d/g', error: null },
      '1',
      'OK',
      'OK',
      'OK',
      'OK',
      [],
    ]);
  });

  it('says by its code what is wrong', async () => {
    mkdirSync(join(root, 'd'));
    writeFileSync(join(root, 'd', 'inside'), '');
    writeFileSync(join(root, 'f'), 'f');
    writeFileSync(join(root, 'binary'), Buffer.from([0xff, 0xfe]));
    const table: readonly (readonly [call: string, code: number])[] = [
      ['tool.fs.Read("none")', 22],
      ['tool.fs.Read("none/none")', 22],
      ['tool.fs.Stat("none")', 22],
      ['tool.fs.Stat(".")', 4],
      ['tool.fs.Read("d")', 23],
      ['tool.fs.Read("f/x")', 23],
      ['tool.fs.Write("d", "x")', 23],
      ['tool.fs.Write("f/x", "x")', 23],
      ['tool.fs.List("f")', 23],
      ['tool.fs.Mkdir("d")', 24],
      ['tool.fs.Mkdir("f")', 24],
      ['tool.fs.Mkdir(".")', 4],
      ['tool.fs.Move("f", "d")', 24],
      ['tool.fs.Move("none", "x")', 22],
      ['tool.fs.Move("d", "d/x")', 4],
      ['tool.fs.Move("f", "f")', 4],
      ['tool.fs.Delete("d")', 19],
      ['tool.fs.Delete(".")', 4],
      ['tool.fs.Write("x", 5)', 4],
      ['tool.fs.Write("x", nil)', 4],
      ['tool.fs.Read(nil)', 4],
      ['tool.fs.Read("binary")', 41],
    ];
    const codes = await guarded(table.map(([call]) => call));
    expect(table.map(([call], index) => [call, codes[index]])).toEqual(table);
  });

  it('makes names that are allowed of any text', async () => {
    const texts = ['My Report Final?.docx', '../../etc/passwd', '', '...', 'nul.txt', 'ünï', 'a/b\\c:d', '😀'.repeat(200), '_x_'];
    const names = await run(...texts.map((text) => `tool.fs.SanitizeFilename(${JSON.stringify(text)})`));
    expect(names.slice(0, 7)).toEqual(['My_Report_Final_.docx', 'etc_passwd', '_', '_', '_nul.txt', 'ünï', 'a_b_c_d']);
    expect(await run(...names.map((name) => `tool.fs.Write(${JSON.stringify(name)}, "x")`))).toEqual(names.map(() => 'OK'));
  });

  it('reads need fs:read and writes fs:write', async () => {
    writeFileSync(join(root, 'f'), 'f');
    const policy = { allow: ['*'], grants: ['fs:read'] };
    const [read] = await emitted(tools(), ['tool.fs.Read("f")'], { policy });
    const [write] = await emitted(tools(), ['tool.fs.Write("f", "g")'], { policy });
    expect([read?.values, write?.error?.code]).toEqual([['f'], 'NS1003']);
  });

  it("works in the session's own directory by itself: two sessions never see each other's files", async () => {
    const own = fsTools();
    const script = ['tool.fs.Write("f", "mine")', 'len(tool.fs.List("."))'];
    const runs = await emitted(own, script, { sessions: ['s1', 's2', 's1'] });
    expect(runs.map((result) => result.values)).toEqual([
      ['OK', 1],
      ['OK', 1],
      ['OK', 1],
    ]);
    expect((await emitted(own, ['tool.fs.Read("f")'], { sessions: ['s3'] }))[0]?.error?.code).toBe('NS22');
  });
});

describe('no way out of the directory', () => {
  const SHAPES: readonly string[] = [
    '..',
    '../outside/secret.txt',
    './../outside/secret.txt',
    'a/../../outside/secret.txt',
    'a/..',
    'a/../b',
    '../',
    '/..',
    '/',
    '//',
    '/etc/passwd',
    '//etc/passwd',
    '/proc/self/environ',
    '/dev/zero',
    '/dev/stdin',
    'a/./../../outside/secret.txt',
    '....//....//outside',
    '...',
    '.. ',
    '..\u0000',
    '..\\outside\\secret.txt',
    '\\outside',
    '\\\\server\\share',
    'C:\\windows',
    'C:/windows',
    'c:',
    'file:///etc/passwd',
    'a:stream',
    'a\u0000.txt',
    '\u0000',
    'a\nb',
    'a\u007f',
    'nul',
    'NUL.txt',
    'con',
    'aux.tar.gz',
    'com1',
    'LPT9.log',
    'dir/prn',
    'trailing.',
    'trailing ',
    'dir./file',
    'x'.repeat(256),
    'é'.repeat(128),
    Array.from({ length: 33 }, () => 'd').join('/'),
    '.neuroscript-1',
    'a/.neuroscript-x/b',
  ];

  it('refuses every such path in every tool that takes one, and touches nothing', async () => {
    const before = readdirSync(join(root, '..'), { recursive: true });
    const calls = SHAPES.map((shape) => JSON.stringify(shape)).flatMap((path) => [
      `tool.fs.Read(${path})`,
      `tool.fs.ReadBytes(${path})`,
      `tool.fs.Write(${path}, "x")`,
      `tool.fs.Append(${path}, "x")`,
      `tool.fs.List(${path})`,
      `tool.fs.Walk(${path})`,
      `tool.fs.Stat(${path})`,
      `tool.fs.Mkdir(${path})`,
      `tool.fs.Delete(${path})`,
      `tool.fs.Move(${path}, "x")`,
      `tool.fs.Move("x", ${path})`,
      `tool.fs.Hash(${path})`,
      `tool.fs.LineCount(${path})`,
    ]);
    const codes = await guarded(calls);
    expect(SHAPES.length).toBeGreaterThanOrEqual(40);
    expect(calls.filter((_, index) => codes[index] !== 34)).toEqual([]);
    expect(readdirSync(join(root, '..'), { recursive: true })).toEqual(before);
  });

  it('never follows a link, wherever in a path it stands, and shows it as what it is', async () => {
    symlinkSync(outside, join(root, 'out'));
    symlinkSync(join(outside, 'secret.txt'), join(root, 'file'));
    symlinkSync('loop', join(root, 'loop'));
    symlinkSync('/dev/zero', join(root, 'zero'));
    linkSync(join(outside, 'secret.txt'), join(root, 'hard'));
    const codes = await guarded([
      'tool.fs.Read("out/secret.txt")',
      'tool.fs.Read("file")',
      'tool.fs.Read("loop")',
      'tool.fs.Read("zero")',
      'tool.fs.Read("hard")',
      'tool.fs.Write("out/new", "x")',
      'tool.fs.Write("file", "x")',
      'tool.fs.Write("hard", "x")',
      'tool.fs.Append("file", "x")',
      'tool.fs.Append("hard", "x")',
      'tool.fs.List("out")',
      'tool.fs.Walk("out")',
      'tool.fs.Mkdir("out/new")',
      'tool.fs.Delete("out/secret.txt")',
      'tool.fs.Move("out/secret.txt", "mine")',
      'tool.fs.Move("nothing", "out/x")',
    ]);
    expect(codes.slice(0, 15)).toEqual(Array.from({ length: 15 }, () => 34));
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('secret');
    expect(readdirSync(outside)).toEqual(['secret.txt']);
    const [names] = await run('tool.fs.List(".", true)');
    expect(names).toMatchObject(['file', 'hard', 'loop', 'out', 'zero'].map((name) => ({ name, isDir: false })));
    expect(await run('tool.fs.Delete("out")')).toEqual(['OK']);
    expect(existsSync(join(outside, 'secret.txt'))).toBe(true);
  });

  it('neither hangs on a pipe nor reads a device', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')]);
    expect(await guarded(['tool.fs.Read("pipe")', 'tool.fs.Append("pipe", "x")', 'tool.fs.Write("pipe", "x")'])).toEqual([
      23, 23, 23,
    ]);
  });

  it('a directory that is exchanged for a link in the middle of a call leads nowhere', async () => {
    mkdirSync(join(root, 'd'));
    writeFileSync(join(root, 'd', 'secret.txt'), 'inside');
    // Exchanges the directory and a link to the outside as fast as it can, until it is ended.
    const racer = `
      const { renameSync, symlinkSync, existsSync } = require('node:fs');
      const [root, outside] = process.argv.slice(1);
      symlinkSync(outside, root + '/link');
      process.stdout.write('ready');
      for (;;) {
        renameSync(root + '/d', root + '/real'); renameSync(root + '/link', root + '/d');
        renameSync(root + '/d', root + '/link'); renameSync(root + '/real', root + '/d');
      }`;
    const { spawn } = await import('node:child_process');
    const child = spawn(process.execPath, ['-e', racer, root, outside], { stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      await new Promise((resolve) => child.stdout.once('data', resolve));
      const read = Array.from({ length: 300 }, () => 'tool.fs.Read("d/secret.txt")');
      const write = Array.from({ length: 300 }, (_, index) => `tool.fs.Write("d/w${index % 5}", "x")`);
      const got = await guarded([...read, ...write]);
      expect(got).not.toContain('secret');
      expect(got).toContain('inside');
      expect(got.filter((value) => typeof value === 'string' && !['inside', 'OK'].includes(value))).toEqual([]);
    } finally {
      child.kill('SIGKILL');
    }
    expect(readdirSync(outside)).toEqual(['secret.txt']);
  });

  it('tells a script no path of the host', async () => {
    const [result] = await emitted(tools(), ['tool.fs.Read("none")']);
    expect(JSON.stringify(result?.error)).not.toContain(base);
    const broken = fsTools({ directoryOf: async () => join(base, 'gone') });
    const [failed] = await emitted(broken, ['tool.fs.Read("none")']);
    expect(failed?.error?.code).toBe('NS22');
    expect(JSON.stringify(failed?.error)).not.toContain(base);
  });
});

describe('the quota', () => {
  it('bounds one file, all files and their number, and counts what is replaced', async () => {
    const small = tools({ fileBytes: 10, totalBytes: 25, entries: 4 });
    const full = (...calls: string[]) => values(small, ...calls);
    expect(await full('tool.fs.Write("a", "0123456789")', 'tool.fs.Write("b", "0123456789")')).toEqual(['OK', 'OK']);
    expect(await full('tool.fs.Write("c", "01234567890")')).toEqual(['NS37']);
    expect(await full('tool.fs.Append("a", "x")')).toEqual(['NS37']);
    expect(await full('tool.fs.Write("c", "012345")')).toEqual(['NS37']);
    expect(await full('tool.fs.Write("a", "abcdefghij")', 'tool.fs.Append("c", "01234")')).toEqual(['OK', 'OK']);
    expect(await full('tool.fs.Append("c", "5")')).toEqual(['NS37']);
    expect(await full('tool.fs.Mkdir("d/e")')).toEqual(['NS37']);
    expect(await full('tool.fs.Mkdir("d")', 'tool.fs.Write("e", "")')).toEqual([expect.anything(), 'NS37']);
    expect(readdirSync(root).sort()).toEqual(['a', 'b', 'c', 'd']);
    expect(() => tools({ entries: 0 })).toThrow(expect.objectContaining({ code: 'ERR_CONFIG' }));
  });

  it('holds for what others put there: a file too large to read, a directory too full to list', async () => {
    writeFileSync(join(root, 'large'), 'x'.repeat(100));
    for (let index = 0; index < 9; index++) writeFileSync(join(root, `f${index}`), '');
    const small = tools({ fileBytes: 99, entries: 9 });
    expect(await values(small, 'tool.fs.Read("large")')).toEqual(['NS37']);
    expect(await values(small, 'tool.fs.List(".")')).toEqual(['NS37']);
  });

  it('what a killed writer left half-written is not seen, and goes', async () => {
    const half = join(root, '.neuroscript-half');
    writeFileSync(half, 'x'.repeat(1000));
    const long = Date.now() / 1000 - 120;
    utimesSync(half, long, long);
    const small = tools({ totalBytes: 10 });
    expect(await values(small, 'tool.fs.List(".")', 'tool.fs.Write("a", "1")')).toEqual([[], 'OK']);
    expect(readdirSync(root)).toEqual(['a']);
  });

  it('holds for depth: nothing can be moved or made so deep that the directory cannot be removed any more', async () => {
    const [long, levels] = ['n'.repeat(200), (count: number) => Array.from({ length: count }, () => 'd').join('/')];
    expect(
      await guarded([
        `tool.fs.Mkdir("${Array.from({ length: 10 }, () => long).join('/')}")`,
        `tool.fs.Mkdir("${Array.from({ length: 11 }, () => long).join('/')}")`,
        `tool.fs.Mkdir("a/${levels(20)}")`,
        `tool.fs.Mkdir("b/${levels(11)}")`,
        'tool.fs.Move("a", "b/d/d/d/d/d/d/d/d/d/d/d/a")',
        'tool.fs.Move("a", "b/d/d/d/d/d/d/d/d/d/d/a")',
      ]),
    ).toEqual([expect.anything(), 34, expect.anything(), expect.anything(), 34, expect.anything()]);
  });

  it('a reader takes nothing away from a writer that is at work', async () => {
    const half = join(root, '.neuroscript-half');
    writeFileSync(half, 'x');
    expect(await run('tool.fs.List(".")')).toEqual([[]]);
    expect(existsSync(half)).toBe(true);
  });

  it('many writers at once never exceed it', async () => {
    const small = tools({ entries: 5 });
    const sessions = Array.from({ length: 12 }, (_, index) => `s${index}`);
    const runs = await Promise.all(
      sessions.map((sessionId, index) => emitted(small, [`tool.fs.Write("f${index}", "x")`], { sessions: [sessionId] })),
    );
    expect(runs.flat().filter(({ error }) => error === null)).toHaveLength(5);
    expect(readdirSync(root)).toHaveLength(5);
  });
});

describe('issue 44, finding 2: work on the host', () => {
  const programOf = (call: string): string => `for each i in [1,2,3,4,5,6,7,8] together\n  set r[i] = ${call}\nendfor\nemit r[8]`;
  const ran = async (call: string) => {
    await using runtime = await createRuntime({ tools: tools(), policy: ALL, concurrency: 1 });
    const { error, usage, journal, emits } = await runtime.run(`command\n${programOf(call)}\nendcommand`);
    return { error, usage, emits, works: journal.map((entry) => (entry.kind === 'tool' ? entry.work : undefined)) };
  };

  it.each(['Hash', 'LineCount'])('tool.fs.%s is paid by the bytes of the file, as fuel and as CPU time', async (name) => {
    writeFileSync(join(root, 'large'), `${'x'.repeat(1023)}\n`.repeat(8000));
    writeFileSync(join(root, 'half'), `${'y'.repeat(1023)}\n`.repeat(4000));
    const [whole, half] = [await ran(`tool.fs.${name}("large")`), await ran(`tool.fs.${name}("half")`)];
    expect([whole.error, half.error]).toEqual([null, null]);
    // 32 bytes take one fuel, and 10,000 fuel are a millisecond.
    expect([...whole.works, ...half.works]).toEqual([...Array(8).fill(256_000), ...Array(8).fill(128_000)]);
    expect(whole.usage.fuel - half.usage.fuel).toBe(8 * 128_000);
    expect(whole.usage.cpuMs).toBeGreaterThan((8 * 256_000) / 10_000);
  });

  it.each(['Hash("large")', 'LineCount("large")', 'Read("large")', 'List(".")', 'Stat("large")'])(
    'reserve, then begin: 64 calls of tool.fs.%s together hold the descriptors of one',
    async (call) => {
      writeFileSync(join(root, 'large'), 'x'.repeat(300_000));
      await using runtime = await createRuntime({ tools: tools(), policy: ALL, concurrency: 1 });
      const source = `command\n  for each i, x in "${'x'.repeat(64)}" together\n    set r[i] = tool.fs.${call}\n  endfor\nendcommand`;
      const open = (): number => readdirSync('/proc/self/fd').length;
      const before = open();
      let most = 0;
      let over = false;
      const look = (): void => {
        most = Math.max(most, open());
        if (!over) setImmediate(look);
      };
      look();
      const { error } = await runtime.run(source, { limits: { memoryBytes: 2 ** 28 } });
      over = true;
      expect(error).toBeNull();
      expect(most - before).toBeLessThanOrEqual(8);
    },
  );

  it('a directory is paid by its entries, also when there are too many', async () => {
    for (let file = 0; file < 20; file++) writeFileSync(join(root, `f${file}`), '');
    expect((await ran('tool.fs.List(".")')).works).toEqual(Array(8).fill(20 * 256));
    const few = tools({ entries: 10 });
    await using runtime = await createRuntime({ tools: few, policy: ALL, concurrency: 1 });
    const { journal } = await runtime.run('command\n  call tool.fs.Walk(".")\nendcommand');
    expect(journal).toMatchObject([{ outcome: { code: 37 }, work: 11 * 256 }]);
  });

  it('ends a program that has not the fuel for it', async () => {
    writeFileSync(join(root, 'large'), 'x'.repeat(4_000_000));
    await using runtime = await createRuntime({ tools: tools(), policy: ALL, concurrency: 1 });
    const source = 'command\n  emit tool.fs.Hash("large")\nendcommand';
    expect(await runtime.run(source, { limits: { fuel: 100_000 } })).toMatchObject({
      ok: false,
      error: { code: 'ERR_QUOTA', limit: 'fuel' },
      usage: { fuel: 100_000 },
    });
  });
});
