// @module-tag slow
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { bubblewrap } from '../../src/sandbox/bubblewrap.ts';
import type { Cage } from '../../src/sandbox/cage.ts';
import { confinementOf } from '../../src/sandbox/confinement.ts';
import { Sandbox } from '../../src/sandbox/index.ts';
import { launch } from '../../src/sandbox/launch.ts';
import type { LauncherChoice } from '../../src/sandbox/launcher.ts';
import { systemTool } from '../../src/sandbox/systemtools.ts';
import { tempFolder } from '../folder.ts';
import { closeSandboxes, HOLED, run, sandboxOf } from './kit.ts';

afterAll(closeSandboxes);

let folder: string;
beforeEach(() => {
  folder = tempFolder();
});

/** Writes a program called `bwrap` and returns its path. */
function bwrap(script: string, mode = 0o755): string {
  const path = join(folder, 'bwrap');
  writeFileSync(path, script);
  chmodSync(path, mode);
  return path;
}

/** What a new process that finds `found` and no `unshare` says of two sandboxes in succession with this choice. */
async function tried(choice: LauncherChoice, found: Cage | string): Promise<unknown> {
  vi.resetModules();
  vi.doMock('../../src/sandbox/bubblewrap.ts', () => ({ findBubblewrap: () => found }));
  vi.doMock('../../src/sandbox/unshare.ts', () => ({ findUnshare: () => 'there is no unshare' }));
  const fresh = await import('../../src/sandbox/index.ts');
  vi.doUnmock('../../src/sandbox/bubblewrap.ts');
  vi.doUnmock('../../src/sandbox/unshare.ts');
  try {
    const first = await fresh.Sandbox.create({ files: HOLED, concurrency: 1, launcher: choice });
    await first.close();
    await using sandbox = await fresh.Sandbox.create({ files: HOLED, concurrency: 1, launcher: choice });
    const { result } = await run(sandbox, 'echo', { value: 1 });
    return { reason: sandbox.launcher.reason, ok: result.ok };
  } catch (error) {
    return error;
  }
}

/** A launcher that starts its program two generations below itself, as bubblewrap does, and confines nothing. */
const LIAR = `#!${process.execPath}
const { spawn } = require('node:child_process');
const args = process.argv.slice(2);
const end = args.indexOf('--');
const places = new Map();
args.forEach((arg, i) => arg === '--ro-bind' && i < end && places.set(args[i + 2], args[i + 1]));
const real = (text) => text.replace(/\\/worker\\/\\*$/, '*').replace(/^\\/worker.*$/, (path) => places.get(path) ?? path);
const child = args[0] === 'inner'
  ? spawn(real(args[end + 1]), args.slice(end + 2).map(real), { stdio: [0, 1, 2, 3] })
  : spawn(process.execPath, [__filename, 'inner', ...args], { stdio: [0, 1, 2, 3] });
child.on('exit', (code) => process.exit(code ?? 1));
`;

describe('the choice of a launcher', () => {
  it('none is taken at its word', async () => {
    const sandbox = await sandboxOf({ launcher: 'none' });
    expect(sandbox.launcher).toMatchObject({ cage: null, reason: 'it was switched off' });
    expect((await run(sandbox, 'echo', { value: 1 })).result.result).toBe(1);
  });

  it('finding 4: without a launcher a worker filters its own system calls, where Node can; the kernel says so', async () => {
    const { confinement } = await sandboxOf({ launcher: 'none' });
    expect(confinement.has('calls')).toBe(!process.allowedNodeEnvironmentFlags.has('--allow-ffi'));
    expect(confinement.get('namespaces')).toBe("it is in the host's namespaces: pid, net, user, mnt, ipc, uts");
  });

  it('the kernel says of a process like this one that it is in these namespaces, filters no calls and can open files', () => {
    const { namespaces, calls, resources } = Object.fromEntries(confinementOf(process.pid));
    expect(namespaces).toBe("it is in the host's namespaces: pid, net, user, mnt, ipc, uts");
    expect(calls).toBe('it has no filter of system calls of its own');
    expect(resources).toBe('it can open files');
  });

  it('what is no choice is refused', async () => {
    const choice: string = 'yes';
    await expect(Sandbox.create({ files: HOLED, launcher: choice as 'auto' })).rejects.toThrow('launcher must be one of');
  });

  it('auto without bubblewrap runs and says what is missing; required refuses to start', async () => {
    const none = 'bubblewrap is not installed';
    expect(await tried('auto', none)).toEqual({ reason: `${none}; there is no unshare`, ok: true });
    expect(await tried('required', none)).toMatchObject({ code: 'ERR_CONFIG', message: expect.stringContaining(none) });
  });

  it('auto with a bubblewrap that does not work here runs and says why; required refuses to start', async () => {
    const path = bwrap('#!/bin/sh\necho "bwrap: no namespaces for you" >&2\nexit 1\n');
    const broken = bubblewrap(path, [], new Uint8Array());
    const reason = expect.stringContaining('no namespaces for you');
    expect(await tried('auto', broken)).toEqual({ reason, ok: true });
    expect(await tried('required', broken)).toMatchObject({ code: 'ERR_CONFIG', message: reason });
  });

  it('finding 16: auto with a bubblewrap that confines nothing runs and says so; required refuses to start', async () => {
    const liar = bubblewrap(bwrap(LIAR), [], new Uint8Array());
    const reason = expect.stringContaining("it is in the host's namespaces: pid, net, user, mnt, ipc, uts");
    expect(await tried('required', liar)).toMatchObject({ code: 'ERR_CONFIG', message: reason });
    expect(await tried('auto', liar)).toEqual({ reason, ok: true });
  });

  it('finding 16: a bwrap in a folder of the search path is not found', async () => {
    vi.stubEnv('PATH', `${folder}:${process.env['PATH']}`);
    const path = bwrap('#!/bin/sh\n');
    vi.resetModules();
    const { findBubblewrap } = await import('../../src/sandbox/bubblewrap.ts');
    expect(findBubblewrap()).not.toMatchObject({ path });
    vi.unstubAllEnvs();
  });
});

it('a worker and a launcher have process groups of their own, which Ctrl-C for the host does not reach', () => {
  const cage: Cage = {
    ...{ name: 'bubblewrap', holds: [], generations: 0 },
    command: () => ({ path: '/bin/sleep', args: ['60'], input: null }),
  };
  for (const given of [null, cage]) {
    const { child } = launch(HOLED, 1, given);
    const stat = readFileSync(`/proc/${child.pid}/stat`, 'latin1');
    child.kill('SIGKILL');
    expect(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]).toBe(String(child.pid));
  }
});

describe('finding 16: a program of the system', () => {
  it('is one that only root can change', () => {
    expect(systemTool('env')).toMatch(/^\/.*\/\w*(env|coreutils|busybox)\w*$/);
    expect(systemTool('no-such-program')).toBeNull();
    // Only root changes it, and nobody executes it.
    expect(systemTool('passwd', ['/etc'])).toBeNull();
  });

  it('is not one in a folder that others can write to, nor a link to such a file, nor a folder', () => {
    const path = bwrap('#!/bin/sh\n');
    expect(systemTool('bwrap', [folder])).toBeNull();
    symlinkSync(path, join(folder, 'link'));
    mkdirSync(join(folder, 'made'));
    expect(systemTool('link', [folder])).toBeNull();
    expect(systemTool('made', [folder])).toBeNull();
  });
});
