// @module-tag slow
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { filterLibrary } from '../../src/sandbox/filterlibrary.ts';
import { seccompFilter } from '../../src/sandbox/seccomp.ts';

/** How a process gets the filter of a worker that has loaded. */
const WAYS = {
  'native functions': 'filterSystemCalls(seccompFilter(process.arch, false))',
  'its library': `loadFilter(${JSON.stringify(new URL('../../dist/filter-x64.so', import.meta.url).pathname)})`,
  nothing: '',
} as const;

/** Names of the deeds that work in a process of its own. */
function worked(way: keyof typeof WAYS): unknown {
  const at = (path: string): string => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href);
  const program = `
    import fs from 'node:fs';
    import { spawnSync } from 'node:child_process';
    import { filterSystemCalls, loadFilter } from ${at('worker/filter.ts')};
    import { seccompFilter } from ${at('sandbox/seccomp.ts')};
    ${WAYS[way]};
    const deeds = {
      'signal its parent': () => process.kill(process.ppid, 0),
      'start a process': () => { const { error } = spawnSync('/bin/true'); if (error) throw error; },
      'start a process in a session of its own': () => { const { error } = spawnSync('/bin/true', { detached: true }); if (error) throw error; },
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

describe('finding 4: the filter that a worker sets itself', () => {
  it.each(['native functions', 'its library'] as const)(
    'through %s leaves it no signal and no file; it can still compute',
    (way) => {
      expect(worked(way)).toEqual(['read the name of a link', 'compute']);
    },
  );

  it('is what keeps them from it', () => {
    expect(worked('nothing')).toEqual(
      expect.arrayContaining(['signal its parent', 'start a process', 'start a process in a session of its own', 'open a file']),
    );
  });

  it('18: the library of the build has the filter of this source', () => {
    const filter = seccompFilter('x64', false) ?? new Uint8Array();
    expect(readFileSync(new URL('../../dist/filter-x64.so', import.meta.url))).toEqual(Buffer.from(filterLibrary(filter)));
  });
});
