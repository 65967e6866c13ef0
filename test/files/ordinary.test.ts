import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeOrdinary, openOrdinary, readOrdinary } from '../../src/files/ordinary.ts';
import { tempFolder } from '../folder.ts';

function folder(): string {
  const path = tempFolder();
  execFileSync('mkfifo', [join(path, 'pipe')]);
  return path;
}

describe('an ordinary file (finding 9)', () => {
  it('is read whole up to the bound, and refused above it', () => {
    const file = join(folder(), 'file');
    for (const size of [0, 1, 256 * 1024, 600_000]) {
      const bytes = Buffer.alloc(size, 'abc');
      writeFileSync(file, bytes);
      expect(readOrdinary(file, size).equals(bytes)).toBe(true);
      if (size > 0) expect(() => readOrdinary(file, size - 1)).toThrow(expect.objectContaining({ code: 'EFBIG', path: file }));
    }
  });

  it('is bounded by what is read: a file of /proc has no size', () => {
    expect(statSync('/proc/self/maps').size).toBe(0);
    expect(() => readOrdinary('/proc/self/maps', 100)).toThrow(expect.objectContaining({ code: 'EFBIG' }));
  });

  it.each([
    ['pipe', 'ENXIO'],
    ['.', 'EISDIR'],
    ['/dev/zero', 'ENXIO'],
    ['missing', 'ENOENT'],
  ])('is not %s, which is refused at once with %s', (name, code) => {
    const path = name.startsWith('/') ? name : join(folder(), name);
    expect(() => openOrdinary(path)).toThrow(expect.objectContaining({ code }));
    expect(() => readOrdinary(path, 100)).toThrow(expect.objectContaining({ code }));
    expect(() => makeOrdinary(path, { mustExist: true })).toThrow(expect.objectContaining({ code }));
  });

  it('is made for its owner alone, and left as it is', () => {
    const file = join(folder(), 'file');
    makeOrdinary(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    writeFileSync(file, 'kept');
    makeOrdinary(file);
    makeOrdinary(file, { mustExist: true });
    expect(readFileSync(file, 'utf8')).toBe('kept');
  });
});
