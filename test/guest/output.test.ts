import { describe, expect, it } from 'vitest';
import { type Driven, type DriveOptions, drive } from './driver.ts';
import { TEST_TOOLS } from './tools.ts';

const run = (body: string, options: DriveOptions = {}): Driven =>
  drive(`command\n${body}\nendcommand\n`, { tools: TEST_TOOLS, ...options });

describe('what is emitted', () => {
  it('P30: text and value, one entry for each emit', () => {
    const driven = run("emit \"a\\nb\"\nemit nil\nemit {'k': [1, 'x', nil]}\nemit 1e21");
    expect(driven.emits).toEqual(['a\nb', 'nil', '{"k": [1, "x", nil]}', '1000000000000000000000']);
    expect(driven.values).toEqual(['a\nb', null, { k: [1, 'x', null] }, 1e21]);
  });

  it('counts UTF-8 bytes and one line feed for each emit', () => {
    expect(run("emit 'text'").outputBytes).toBe(5);
    expect(run("emit 'é😀'\nemit ''").outputBytes).toBe(7 + 1);
  });

  it('a lone surrogate becomes U+FFFD before it is sized', () => {
    const driven = drive("func main() means\nemit g\nemit {'k': g}\nwhisper self, g\nendfunc\n", {
      call: 'main',
      globals: { g: 'a\ud800b' },
    });
    expect(driven.emits).toEqual(['a\ufffdb', '{"k": "a\\ufffdb"}']);
    expect(driven.values).toEqual(['a\ufffdb', { k: 'a\ufffdb' }]);
    expect(driven.whispers).toEqual([{ to: 'default_self_buffer', text: 'a\ufffdb' }]);
    expect(driven.outputBytes).toBe(6 + '{"k": "a\\ufffdb"}\n'.length);
  });

  it.each([
    ['outputBytes', 10, "emit 'abcd'\nemit 'abcd'", "emit 'abcd'\nemit 'abcde'"],
    ['lineBytes', 4, 'emit \'abcd\'\nemit "ab\\nabcd"', "emit 'é€'\n"],
    ['scratchBytes', 10, "whisper self, 'abcd'\nwhisper 'x', 'abcd'", "whisper self, 'abcdefghij'"],
  ] as const)('%s: at the limit, and one byte more', (limit, allowed, fits, breaks) => {
    expect(run(fits, { limits: { [limit]: allowed } }).error).toBeNull();
    const broken = run(breaks, { limits: { [limit]: allowed } });
    expect(broken.error).toMatchObject({ kind: 'quota', code: 'ERR_QUOTA', limit, allowed, used: allowed + 1 });
    expect(run(breaks, { limits: { [limit]: allowed }, turn: true }).error).toMatchObject({
      kind: 'quota',
      code: 'ERR_ENV_SIZE',
      limit,
    });
  });

  it('nothing is said of the emit that breaks a limit, all before it is kept', () => {
    const driven = run("emit 'ab'\nemit 'abcdefgh'\nemit 'never'", { limits: { outputBytes: 6 } });
    expect(driven.emits).toEqual(['ab']);
    expect(driven.outputBytes).toBe(3);
  });
});

describe('out frames', () => {
  it('go ahead of every call to the host', () => {
    const driven = run("emit 1\ncall tool.t.give(1)\nemit 2\nwhisper 'w', 3\ncall tool.t.give(2)\nemit 4");
    expect(
      driven.frames.map((frame) => (frame === 'call' ? frame : [...frame.emits, ...frame.whispers.map(({ text }) => text)])),
    ).toEqual([['1'], 'call', ['2', '3'], 'call', ['4']]);
  });

  it('are sent when 64 KiB are gathered', () => {
    const driven = run("set i = 0\nwhile i < 20\nemit 'x' * 10000\nset i = i + 1\nendwhile");
    expect(driven.frames.length).toBeGreaterThan(3);
    expect(driven.emits).toHaveLength(20);
  });

  it('are sent while a program computes, so that a killed one loses little', () => {
    const driven = run("emit 'early'\nset i = 0\nwhile i < 200000\nset i = i + 1\nendwhile\nemit 'late'");
    expect(driven.frames.map((frame) => (frame === 'call' ? frame : frame.emits))).toEqual([['early'], ['late']]);
  });
});

it('only output right before a call and at the end says that something follows: other output must not be held back', () => {
  const many = "set i = 0\nwhile i < 3\nemit 'x' * 70000\nset i = i + 1\nendwhile";
  expect(run(many).follows).toEqual([false, false, false]);
  expect(run(`emit 1\ncall tool.t.echo(1)\n${many}\nemit 2`).follows).toEqual([true, false, false, false, true]);
});
