// @module-tag slow
import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { tempFolder } from '../folder.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Where every user can read the repository, which may stand in a folder of its owner alone. */
const OPEN = '/mnt';
const COMMAND = [process.execPath, join(ROOT, 'bin/neuroscript.js')].map((path) => path.replace(ROOT, `${OPEN}/`));
const BIND = `mount --bind ${ROOT} ${OPEN}`;

/** Runs a shell in the restriction; it replaces itself by the command that follows as its arguments. */
const inside = (setUp: string): readonly string[] => ['sh', '-c', `${setUp} && exec "$@"`, 'sh'];

const READ_ONLY = 'mount -o remount,bind,ro / && cd /';
const OPENED = ['unshare', '--mount', ...inside(BIND)];
const NOBODY = ['--reuid', '65534', '--regid', '65534', '--clear-groups'];
const CAPLESS = ['--inh-caps=-all', '--bounding-set=-all'];

/** The restrictions of containers, made with the tools of this machine: a prefix of the command, and whether a launcher works in it. */
const RESTRICTIONS: Readonly<Record<string, { readonly prefix: readonly string[]; readonly cage: boolean }>> = {
  'a read-only root': { prefix: ['unshare', '--mount', ...inside(`${BIND} && ${READ_ONLY}`)], cage: true },
  'no new privileges': { prefix: [...OPENED, 'setpriv', '--no-new-privs'], cage: true },
  'a user without rights': { prefix: [...OPENED, 'setpriv', ...NOBODY, ...CAPLESS], cage: true },
  'the restricted standard of Kubernetes': {
    prefix: [
      ...['unshare', '--mount', ...inside(`${BIND} && ${READ_ONLY}`)],
      ...['setpriv', '--no-new-privs', ...NOBODY, ...CAPLESS],
    ],
    cage: true,
  },
  'no user namespaces': {
    prefix: [...OPENED, 'unshare', '--user', '--map-root-user', ...inside('echo 0 > /proc/sys/user/max_user_namespaces')],
    cage: false,
  },
};

const folder = tempFolder();
beforeAll(() => {
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, 'honest.ns'), 'command\n  emit 6 * 7\nendcommand\n');
  writeFileSync(join(folder, 'hostile.ns'), 'command\n  set n = [1]\n  while true\n    set n = n + n\n  endwhile\nendcommand\n');
});

/** Runs the command in a restriction. */
function restricted(
  prefix: readonly string[],
  ...args: string[]
): { readonly code: number; readonly stdout: string; readonly stderr: string } {
  const [file = '', ...rest] = [...prefix, ...COMMAND, ...args];
  const { status, stdout, stderr } = spawnSync(file, rest, { encoding: 'utf8', timeout: 60_000 });
  return { code: status ?? -1, stdout, stderr };
}

describe.each(Object.entries(RESTRICTIONS))('18: with %s', (_name, { prefix, cage }) => {
  it('doctor shows which launcher works, and what to do where none does', () => {
    const { stdout } = restricted(prefix, 'doctor', '--json');
    const [, , ring] = JSON.parse(stdout).rings;
    const words = JSON.stringify(ring);
    if (cage) {
      expect(words).toMatch(/(?:bubblewrap|unshare): own namespaces/);
    } else {
      expect(ring.missing[0].what).toMatch(/bubblewrap does not work: .*; unshare does not work: .*No space left on device/);
      expect(ring.missing[0].todo).toContain('user.max_user_namespaces');
    }
    expect(words).toContain('resource limits: no new files');
    if (process.allowedNodeEnvironmentFlags.has('--allow-ffi')) expect(words).toContain('a filter of system calls');
  });

  it.each(['bubblewrap', 'unshare', 'required'])('--launcher %s runs a program, or refuses to start and says why', (launcher) => {
    const run = restricted(prefix, 'run', join(folder, 'honest.ns'), '--launcher', launcher);
    if (cage) expect(run).toMatchObject({ code: 0, stdout: '42\n' });
    else expect(run).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('cannot be used') });
  });

  it('a program ends right under a limit for which isolated-vm starts a thread of its own', () => {
    const { stderr, stdout } = restricted(prefix, 'run', join(folder, 'honest.ns'), '--cpu', '1s');
    expect([stderr.includes('ERR_WORKER'), stdout]).toEqual([false, '42\n']);
  });

  it('an honest program ends right, and so does the next one after a hostile one', () => {
    expect(restricted(prefix, 'run', join(folder, 'honest.ns'))).toMatchObject({ code: 0, stdout: '42\n' });
    const hostile = restricted(prefix, 'run', join(folder, 'hostile.ns'));
    expect(hostile.code).not.toBe(0);
    expect(hostile.stderr, hostile.stderr).toMatch(/memory|fuel|list/);
    expect(restricted(prefix, 'run', join(folder, 'honest.ns'))).toMatchObject({ code: 0, stdout: '42\n' });
  });
});
