import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Sandbox } from '../../src/sandbox/index.ts';
import { HOLED, run, sandboxOf } from './kit.ts';

const program = fileURLToPath(new URL('launcher.mjs', import.meta.url));

/** What a process with this search path says of a sandbox with this choice. */
function tried(choice: string, path: string): unknown {
  const text = execFileSync(process.execPath, ['--no-warnings', program, choice], { env: { PATH: path }, encoding: 'utf8' });
  return JSON.parse(text);
}

function withBwrap<T>(script: string, work: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'bwrap-'));
  try {
    writeFileSync(join(folder, 'bwrap'), script);
    chmodSync(join(folder, 'bwrap'), 0o755);
    return work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('the choice of a launcher', () => {
  it('none is taken at its word', async () => {
    const sandbox = await sandboxOf({ launcher: 'none' });
    expect(sandbox.launcher).toEqual({ bubblewrap: null, reason: 'it was switched off' });
    expect((await run(sandbox, 'echo', { value: 1 })).result.result).toBe(1);
  });

  it('what is no choice is refused', async () => {
    const choice: string = 'yes';
    await expect(Sandbox.create({ files: HOLED, launcher: choice as 'auto' })).rejects.toThrow('launcher must be one of');
  });

  it('auto without bubblewrap runs and says what is missing; required refuses to start', () => {
    expect(tried('auto', '/nowhere')).toEqual({ reason: expect.stringContaining('bubblewrap is not installed'), ok: true });
    expect(tried('required', '/nowhere')).toEqual({ code: 'ERR_CONFIG', message: expect.stringContaining('not installed') });
  });

  it('auto with a bubblewrap that does not work here runs and says why; required refuses to start', () => {
    withBwrap('#!/bin/sh\necho "bwrap: no namespaces for you" >&2\nexit 1\n', (folder) => {
      expect(tried('auto', folder)).toEqual({ reason: expect.stringContaining('no namespaces for you'), ok: true });
      expect(tried('required', folder)).toEqual({
        code: 'ERR_CONFIG',
        message: expect.stringContaining('no namespaces for you'),
      });
    });
  });
});
