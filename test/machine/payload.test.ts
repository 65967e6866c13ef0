// @module-tag slow
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { tempFolder } from '../folder.ts';

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
/** A PID namespace of its own: whatever the payload starts ends with it. */
const APART = ['--user', '--map-root-user', '--pid', '--fork', '--mount-proc', '--kill-child', '--'];

const folder = tempFolder();
let module: string;
beforeAll(() => {
  module = join(folder, 'payload.node');
  execFileSync('cc', ['-shared', '-fPIC', '-O1', '-pthread', '-o', module, here('payload.c')]);
});

interface Told {
  readonly deed: string;
  readonly when: string;
  readonly breaches: number;
  readonly code?: string;
  readonly message?: string;
  readonly cpuMs: number;
  readonly next: unknown;
}

const SAYS: Readonly<Record<string, RegExp>> = {
  tables: /it has \d+ bytes of page tables/,
  waits: /it has \d+ threads/,
  spins: /its other threads computed for \d+ ms/,
};

describe.each(['bubblewrap', 'unshare', 'none'])('a worker that runs native code of an attacker, under %s', (launcher) => {
  it('issue 44, findings 4 and 5: is ended for page tables and threads, running and at rest, and its neighbours go on', () => {
    const args = [...APART, process.execPath, '--no-warnings', here('payloadchild.ts'), launcher, module];
    const { stdout, stderr } = spawnSync('unshare', args, { encoding: 'utf8', timeout: 120_000 });
    expect(stderr).toBe('');
    const { report, neighbour }: { report: readonly Told[]; neighbour: number } = JSON.parse(stdout);
    expect(neighbour).toBe(0);
    expect(report).toHaveLength(6);
    for (const { deed, when, breaches, code, message, cpuMs, next } of report) {
      expect([deed, when, breaches, next]).toEqual([deed, when, 1, 8]);
      if (when === 'idle') continue;
      expect([code, message]).toEqual(['ERR_WORKER', expect.stringMatching(SAYS[deed] ?? /never/)]);
      // What its threads computed is paid.
      if (deed === 'spins') expect(cpuMs).toBeGreaterThan(400);
    }
  }, 150_000);
});
