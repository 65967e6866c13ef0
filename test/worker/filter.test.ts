import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

/** Names of the deeds that work in a process of its own, with the filter of a worker that has loaded or without one. */
function worked(filtered: boolean): unknown {
  const at = (path: string): string => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href);
  const program = `
    import fs from 'node:fs';
    import { filterSystemCalls } from ${at('worker/filter.ts')};
    import { seccompFilter } from ${at('sandbox/seccomp.ts')};
    if (${filtered}) filterSystemCalls(seccompFilter(process.arch, false));
    const deeds = {
      'signal its parent': () => process.kill(process.ppid, 0),
      'open a file': () => fs.openSync('/etc/passwd', 'r'),
      'read the name of a link': () => fs.readlinkSync('/proc/self/cwd'),
      'rename a file': () => fs.renameSync('/no/file', '/no/other'),
      'compute': () => Buffer.alloc(1 << 24, 1),
    };
    const said = Object.entries(deeds).filter(([name, deed]) => {
      try { deed(); return true; } catch (error) { return error.code !== 'ENOSYS'; }
    }).map(([name]) => name);
    fs.writeSync(1, JSON.stringify(said));
  `;
  const args = ['--no-warnings', '--input-type=module', '-e', program];
  // At its end, libuv misses the io_uring that it set up before. A worker never returns to its event loop.
  return JSON.parse(spawnSync(process.execPath, args, { encoding: 'utf8', env: {} }).stdout);
}

describe('18-4: the filter that a worker sets itself', () => {
  it('leaves it no signal and no file; it can still compute', () => {
    expect(worked(true)).toEqual(['read the name of a link', 'compute']);
  });

  it('is what keeps them from it', () => {
    expect(worked(false)).toContain('signal its parent');
    expect(worked(false)).toContain('open a file');
  });
});
