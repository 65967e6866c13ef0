import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolder } from '../../src/files/folder.ts';
import { tempFolder } from '../folder.ts';

it('makes a folder and those above it, and says which one it made first', () => {
  const root = tempFolder();
  expect(makeFolder(join(root, 'a/b/c'), 0o700)).toBe(join(root, 'a'));
  expect(['a', 'a/b', 'a/b/c'].map((name) => statSync(join(root, name)).mode & 0o777)).toEqual([0o700, 0o700, 0o700]);
  expect(makeFolder(join(root, 'a/b/c'))).toBe(undefined);
});

it('throws what the file system says where none can be made', () => {
  const root = tempFolder();
  writeFileSync(join(root, 'file'), '');
  expect(() => makeFolder(join(root, 'file'))).toThrow(expect.objectContaining({ code: 'EEXIST' }));
  expect(() => makeFolder(join(root, 'file/a'))).toThrow(expect.objectContaining({ code: 'ENOTDIR' }));
  expect(() => makeFolder(join(root, 'file/a/b'))).toThrow(expect.objectContaining({ code: 'ENOTDIR' }));
  expect(() => makeFolder('/proc/x/y')).toThrow(expect.objectContaining({ code: 'ENOENT', path: '/proc/x' }));
});
