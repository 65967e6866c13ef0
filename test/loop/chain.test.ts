import { createHash } from 'node:crypto';
import { appendFile, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chained, GENESIS, readLink, verifyChain } from '../../src/loop/log/chain.ts';
import { LogError } from '../../src/loop/log/chainedfile.ts';
import { rotatedFiles } from '../../src/loop/log/disk.ts';
import { FileLog } from '../../src/loop/log/filelog.ts';
import type { LogEntry } from '../../src/loop/log/log.ts';
import { ConfigError } from '../../src/wire/errors.ts';
import { tempFolder } from '../folder.ts';

const folder = tempFolder();

let files = 0;
const newPath = (): string => join(folder, `log-${++files}.jsonl`);
const entry = (turn: number, more: Partial<LogEntry> = {}): LogEntry => ({
  ts: '2024-08-30T10:05:45.000Z',
  SID: 's',
  turn_index: turn,
  decision: 'CONTINUE',
  latency_ms: 1.25,
  output_bytes: 3,
  scratch_bytes: 0,
  ...more,
});
async function logOf(path: string, turns: number): Promise<string[]> {
  const log = new FileLog(path);
  for (let turn = 1; turn <= turns; turn++) await log.append(entry(turn));
  return (await readFile(path, 'utf8')).trimEnd().split('\n');
}

describe('the chain', () => {
  it('A3-10-1 AL3-9-1: adds two keys to an entry: the hash of the line before, and its own', () => {
    const { text, hash } = chained(entry(1), GENESIS);
    // The canonical form written by hand: keys in order, no blanks.
    const canonical = `{"SID":"s","decision":"CONTINUE","latency_ms":1.25,"output_bytes":3,"prev":"${'0'.repeat(64)}","scratch_bytes":0,"ts":"2024-08-30T10:05:45.000Z","turn_index":1}`;
    expect(hash).toBe(createHash('sha256').update(canonical).digest('hex'));
    expect(JSON.parse(text)).toEqual({ ...entry(1), prev: GENESIS, hash });
    expect(readLink(text)).toEqual({ prev: GENESIS, hash, entry: { ...entry(1), prev: GENESIS } });
  });

  it('a whole log verifies, and its head is the hash of its last line', async () => {
    const path = newPath();
    const lines = await logOf(path, 5);
    expect(await verifyChain([path])).toEqual({ ok: true, lines: 5, head: JSON.parse(lines[4] ?? '').hash });
  });

  it.each<[string, number, (lines: string[]) => string[]]>([
    ['a changed decision', 3, (lines) => lines.with(2, (lines[2] ?? '').replace('CONTINUE', 'DONE'))],
    ['a changed line with a new hash', 4, (lines) => lines.with(2, chained(entry(9), JSON.parse(lines[2] ?? '').prev).text)],
    ['a line that was taken out', 3, (lines) => lines.toSpliced(2, 1)],
    ['a line that was put in', 4, (lines) => lines.toSpliced(3, 0, chained(entry(7), GENESIS).text)],
    ['two lines that changed places', 2, (lines) => lines.with(1, lines[2] ?? '').with(2, lines[1] ?? '')],
    ['a line that stands twice', 3, (lines) => lines.toSpliced(2, 0, lines[1] ?? '')],
    ['a first line that is missing', 1, (lines) => lines.slice(1)],
    ['a key that stands twice', 2, (lines) => lines.with(1, (lines[1] ?? '').replace('{', '{"decision":"DONE",'))],
    ['a blank that was put in', 5, (lines) => lines.with(4, (lines[4] ?? '').replace(',', ', '))],
    ['no JSON', 1, (lines) => lines.with(0, 'hello')],
    ['an empty line', 3, (lines) => lines.toSpliced(2, 0, '')],
    ['a line that is too long', 3, (lines) => lines.toSpliced(2, 0, 'x'.repeat(64 * 1024 + 1))],
    ['a line without a hash', 5, (lines) => lines.with(4, JSON.stringify(entry(5)))],
  ])('names the line of %s', async (_, line, change) => {
    const path = newPath();
    const lines = await logOf(path, 5);
    await writeFile(path, `${change(lines).join('\n')}\n`);
    expect(await verifyChain([path])).toMatchObject({ ok: false, file: path, line });
  });

  it('a file of 2 GB without a line end is refused after its first bytes (finding 9)', async () => {
    const path = newPath();
    await writeFile(path, '');
    await truncate(path, 2 ** 31);
    expect(await verifyChain([path])).toMatchObject({ ok: false, line: 1, why: 'it is longer than 65536 bytes' });
  });

  it('a session id may have a character at which other readers split lines', async () => {
    const path = newPath();
    const log = new FileLog(path);
    await log.append({ ...entry(1), SID: 'a\u2028b' });
    expect(await verifyChain([path])).toMatchObject({ ok: true, lines: 1 });
    expect(await log.has('a\u2028b', 1)).toBe(true);
  });

  it('a log that lacks its last lines is cut off for whoever knows the hash of one', async () => {
    const path = newPath();
    const lines = await logOf(path, 3);
    const link = readLink(lines[2] ?? '');
    const through = typeof link === 'string' ? link : link.hash;
    expect(await verifyChain([path], { through })).toMatchObject({ ok: true, lines: 3 });
    await writeFile(path, `${lines.slice(0, 2).join('\n')}\n`);
    expect(await verifyChain([path])).toMatchObject({ ok: true, lines: 2 });
    const why = 'the line with the expected hash is missing: the log was cut off';
    expect(await verifyChain([path], { through })).toEqual({ ok: false, file: path, line: 3, why });
  });

  it('a line that was not finished is named', async () => {
    const path = newPath();
    const lines = await logOf(path, 2);
    await writeFile(path, lines.join('\n'));
    expect(await verifyChain([path])).toMatchObject({ ok: false, line: 2, why: 'it was not written to its end' });
  });
});

describe('the file', () => {
  it.each(['{"ts":"2024-08-30T10:0', '{"t'])(
    'a log goes on where the process before ended; a line that it did not finish is cut off: %s',
    async (unfinished) => {
      const path = newPath();
      await logOf(path, 2);
      await appendFile(path, unfinished);
      expect(await logOf(path, 1)).toHaveLength(3);
      expect(await verifyChain([path])).toMatchObject({ ok: true, lines: 3 });
    },
  );

  it('a line that a killed process did not finish does not count as logged (found by npm run simulate, seed 12)', async () => {
    const path = newPath();
    const lines = await logOf(path, 2);
    await writeFile(path, lines.join('\n').slice(0, -10));
    const log = new FileLog(path);
    const { SID } = entry(1);
    expect([await log.has(SID, 1), await log.has(SID, 2)]).toEqual([true, false]);
    expect(await log.goesOnAfter(SID)).toBe(1);
    await log.append(entry(2));
    expect(await verifyChain([path])).toMatchObject({ ok: true, lines: 2 });
    expect(await log.has(SID, 2)).toBe(true);
  });

  it('two logs of one file, as of two processes, make one chain', async () => {
    const path = newPath();
    const logs = [new FileLog(path), new FileLog(path), new FileLog(path, { fsync: 'always' })];
    await Promise.all(Array.from({ length: 60 }, (_, index) => logs[index % 3]?.append(entry(index))));
    for (let turn = 0; turn < 9; turn++) await logs[turn % 3]?.append(entry(turn));
    expect(await verifyChain([path])).toMatchObject({ ok: true, lines: 69 });
  });

  it.each(['dear diary', 'dear diary\n', 'ts":"', `${JSON.stringify(entry(1))}\n`])(
    'is left alone when it is no decision log: %j',
    async (text) => {
      const path = newPath();
      await writeFile(path, text);
      await expect(new FileLog(path).append(entry(1))).rejects.toThrow(LogError);
      expect(await readFile(path, 'utf8')).toBe(text);
    },
  );

  it('rotates by size, and the chain goes on through all files', async () => {
    const path = newPath();
    for (let turn = 1; turn <= 30; turn++) await new FileLog(path, { maxBytes: 2000 }).append(entry(turn));
    const rotated = rotatedFiles(path);
    expect(rotated.map((file) => file.slice(path.length))).toEqual(rotated.map((_, index) => `.${index + 1}`));
    expect(rotated.length).toBeGreaterThan(3);
    for (const file of rotated) expect((await readFile(file)).length).toBeLessThanOrEqual(2000);
    expect(await verifyChain([...rotated, path])).toMatchObject({ ok: true, lines: 30 });
    expect(await verifyChain([path])).toMatchObject({ ok: false, line: 1, why: expect.stringMatching(/files before this one/) });
    expect(await verifyChain([...rotated.toSpliced(1, 1), path])).toMatchObject({ ok: false, file: rotated[2], line: 1 });
    // After the death of a process between putting the file aside and making the new one.
    await rm(path);
    await new FileLog(path).append(entry(31));
    expect(await verifyChain([...rotated, path])).toMatchObject({ ok: true });
    expect((await readdir(folder)).some((name) => name.endsWith('.lock'))).toBe(true);
  });

  it('a file may be as large as its bound', async () => {
    const path = newPath();
    const log = new FileLog(path, { maxBytes: 1024 });
    await log.append(entry(1));
    const { length } = await readFile(path);
    await log.append(entry(1, { SID: 's'.repeat(1 + 1024 - 2 * length) }));
    expect([(await readFile(path)).length, rotatedFiles(path)]).toEqual([1024, []]);
    await log.append(entry(2));
    expect(rotatedFiles(path)).toHaveLength(1);
  });

  it('no append leaves a file open, rotated or not', async () => {
    const path = newPath();
    const log = new FileLog(path, { maxBytes: 1024, fsync: 'always' });
    await log.append(entry(0));
    const open = async (): Promise<number> => (await readdir('/dev/fd')).length;
    const before = await open();
    for (let turn = 1; turn <= 40; turn++) await log.append(entry(turn));
    expect(rotatedFiles(path).length).toBeGreaterThan(3);
    expect(await open()).toBeLessThan(before + 5);
  });

  it('knows which decisions it has, also of the file put aside last', async () => {
    const path = newPath();
    const log = new FileLog(path, { maxBytes: 1024 });
    for (let turn = 1; turn <= 5; turn++) await log.append(entry(turn));
    expect(rotatedFiles(path).length).toBeGreaterThan(0);
    for (const turn of [3, 4, 5]) expect(await log.has('s', turn)).toBe(true);
    expect(await log.has('s', 6)).toBe(false);
    expect(await log.has('t', 5)).toBe(false);
    expect(await new FileLog(newPath()).has('s', 1)).toBe(false);
  });

  it.each([0, 1023, 1.5, Number.NaN])('refuses a size of %d bytes', (maxBytes) => {
    expect(() => new FileLog(newPath(), { maxBytes })).toThrow(ConfigError);
  });

  it('refuses a path that is no text, and options that are unknown or wrong', () => {
    const refused = (...given: readonly unknown[]) =>
      expect(() => Reflect.construct(FileLog, given), JSON.stringify(given)).toThrow(ConfigError);
    refused();
    refused(7);
    for (const options of [null, 'x', { fsync: true }, { fsync: 'allways' }, { maxbytes: 2048 }]) refused(newPath(), options);
  });
});
