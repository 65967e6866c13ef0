// @module-tag slow
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { tempFolder } from '../folder.ts';
import type { HeapReport } from './journal.ts';

const CHILD = fileURLToPath(new URL('journalchild.ts', import.meta.url));
const MB = 1024 * 1024;

it('finding 2: a journal takes the bytes that are counted, and a session keeps no journals that nobody asked for', async () => {
  const folder = tempFolder();
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', CHILD, join(folder, 'store.db')]);
  const { jsonBytes, ofRun, ofSession }: HeapReport = JSON.parse(stdout);
  expect(jsonBytes).toBeGreaterThan(0.9 * MB);
  expect(ofRun).toBeLessThan(2 * jsonBytes);
  expect(ofSession).toBeLessThan(2 * jsonBytes);
}, 120_000);
