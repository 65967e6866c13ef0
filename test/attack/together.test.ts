// @module-tag slow
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const CHILD = fileURLToPath(new URL('togetherchild.ts', import.meta.url));
const MB = 1024 * 1024;

it.each([
  ['tool.fs.Read("a")', 'journalBytes'],
  // In base64 each of them is larger than a result may be.
  ['tool.fs.ReadBytes("a")', 'toolBytes'],
  ['tool.hostile.Large()', 'journalBytes'],
])(
  'issue 44, finding 1: 64 calls of %s together hold no more on the host than the journal takes',
  async (call, breached) => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--max-old-space-size=400', CHILD, call]);
    const { limit, calls, rssBytes }: Record<string, unknown> = JSON.parse(stdout);
    expect([limit, calls]).toEqual([breached, 64]);
    expect(rssBytes).toBeLessThan(450 * MB);
  },
  120_000,
);
