import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ProgramFile } from '../../../src/mcp/index.ts';
import { MemoryPrograms, type ProgramStore, readProgram } from '../../../src/mcp/server/programs.ts';
import { tempFolder } from '../../folder.ts';

const folder = tempFolder();

const stores: readonly (readonly [string, () => Promise<ProgramStore>])[] = [
  ['the memory', async () => new MemoryPrograms()],
  ['a file', () => ProgramFile.open(join(folder, `${Math.random()}.db`))],
];

describe.each(stores)('%s', (_, open) => {
  it('gives out a program once', async () => {
    const store = await open();
    await store.put('a', 'program', 0);
    expect([await store.take('a', 0), await store.take('a', 0), await store.take('b', 0)]).toEqual(['program', null, null]);
  });

  it('gives up the program that has waited longest, when too many wait or they are too large', async () => {
    const store = await open();
    for (let n = 0; n < 257; n += 1) await store.put(`${n}`, 'x', n);
    expect([await store.take('0', 257), await store.take('1', 257)]).toEqual([null, 'x']);
    await store.put('large', 'x'.repeat(64 * 1024 * 1024), 258);
    expect([await store.take('2', 258), (await store.take('large', 258))?.length]).toEqual([null, 64 * 1024 * 1024]);
  });
});

describe('a file of programs', () => {
  it('keeps programs and key for the next process, and both from other users', async () => {
    const path = join(folder, 'kept.db');
    const first = await ProgramFile.open(path);
    first.put('a', 'program', 0);
    first[Symbol.dispose]();
    using second = await ProgramFile.open(path);
    expect([...second.key]).toEqual([...first.key]);
    expect(second.key).toHaveLength(32);
    expect(second.take('a', 3_600_000)).toBe('program');
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('gives out no program after an hour', async () => {
    using store = await ProgramFile.open(join(folder, 'late.db'));
    store.put('a', 'program', 0);
    expect(store.take('a', 3_600_001)).toBeNull();
  });

  it('that holds what is no program is damaged', () => {
    for (const text of ['', '{', '{}', '{"asked":0}'])
      expect(() => readProgram(text)).toThrow(expect.objectContaining({ code: 'ERR_STORE', detail: 'damaged' }));
  });
});
