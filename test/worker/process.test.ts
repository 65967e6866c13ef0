import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { launch, requiredScopes } from '../../src/sandbox/launch.ts';
import { FrameReader } from '../../src/wire/frames.ts';
import { closePermissions, type PermissionPort } from '../../src/worker/permissions.ts';
import { HOLED } from '../sandbox/kit.ts';
import { probed, probedBy, SIGNALS } from './realm.ts';

/** A worker as it stands after its hello, and what it said. */
async function greeted<T>(look: (pid: number, hello: Record<string, unknown>) => T): Promise<T> {
  const { child, frames } = launch(HOLED, 64 * 1024 * 1024);
  try {
    const reader = new FrameReader(65536);
    const hello = await new Promise<string>((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`the worker exited with ${code}`)));
      frames.on('data', (chunk: Buffer) => {
        reader.push(chunk);
        const text = reader.next();
        if (text !== null) resolve(text);
      });
    });
    return look(child.pid ?? 0, JSON.parse(hello));
  } finally {
    child.kill('SIGKILL');
  }
}

describe('the worker process', () => {
  it('A3-11.1-3: has an empty environment, whatever the host has', async () => {
    process.env['NS_SECRET'] = 'x';
    expect(await greeted((pid) => readFileSync(`/proc/${pid}/environ`, 'utf8'))).toBe('');
    delete process.env['NS_SECRET'];
  });

  it('A3-11.1-4: has dropped every permission before it takes the first request, and says so', async () => {
    const hello = await greeted((_, frame) => frame);
    expect(hello['dropped']).toEqual(['fs.read', 'fs.write', 'child', 'worker', 'addon', 'wasi', 'inspector', 'net', 'ffi']);
    expect(requiredScopes()).toEqual(expect.arrayContaining(['fs.read', 'fs.write', 'child', 'net']));
  });

  it('inherits no descriptor of the host but its pipe, its standard error and two nulls', async () => {
    const open = await greeted((pid) => readdirSync(`/proc/${pid}/fd`).map((fd) => [fd, readlinkSync(`/proc/${pid}/fd/${fd}`)]));
    const own = /^anon_inode:|^pipe:|^socket:|^\/dev\/null$/;
    expect(open.filter(([, target]) => !own.test(String(target)))).toEqual([]);
  });

  it('may read nothing but its own files while loading', async () => {
    const flags = await greeted((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0'));
    const readable = flags.filter((flag) => flag.startsWith('--allow-')).map((flag) => flag.replace(/.*\/node_modules\//, ''));
    expect(readable).toEqual([
      '--allow-addons',
      `--allow-fs-read=${HOLED.worker}`,
      `--allow-fs-read=${HOLED.guest}`,
      'isolated-vm/*',
      'node-gyp-build/*',
      '--allow-fs-read=/etc/alpine-release',
    ]);
    expect(flags).toContain('--permission');
    expect(flags).toContain('--no-experimental-sqlite');
  });

  it('idles in at most 75 MB, a prepared isolate included', async () => {
    const status = await greeted((pid) => readFileSync(`/proc/${pid}/status`, 'utf8'));
    expect(Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1])).toBeLessThan(75 * 1024);
  });
});

describe("hostile code in the worker's own realm", () => {
  it('A3-11.1-1 A3-11.1-2 A3-11.1-4: reaches no network, no file, no native code; without the operating system sandbox, signals alone', async () => {
    const { worked, ...harm } = await probed(false);
    expect(worked).toEqual(SIGNALS);
    expect(harm).toEqual({ victimLives: false, fileUntouched: true, left: [], heard: 0 });
  });

  it('finds no descriptor that the host was started with, however far above the others', async () => {
    expect((await probedBy(process.execPath, false)).worked).toEqual(SIGNALS);
  });
});

describe('giving up permissions', () => {
  const flags = new Set(['--permission', '--allow-net', '--allow-inspector', '--allow-ffi']);
  const port = (open: string[], droppable: string[]): PermissionPort => ({
    has: (scope) => open.includes(scope),
    drop: (scope) => {
      if (droppable.includes(scope)) open.splice(open.indexOf(scope), 1);
    },
  });

  it('drops what loading needed and reports what it finds closed', () => {
    const closed = closePermissions(port(['fs.read', 'addon'], ['fs.read', 'addon']), flags);
    expect(closed).toEqual(['fs.read', 'fs.write', 'child', 'worker', 'addon', 'wasi', 'inspector', 'net', 'ffi']);
  });

  it('a drop that silently does nothing is noticed', () => {
    expect(() => closePermissions(port(['fs.read', 'addon'], ['fs.read']), flags)).toThrow('permissions addon');
    expect(() => closePermissions(port(['child'], []), flags)).toThrow('permissions child');
  });

  it('claims nothing for a scope that this Node line does not know', () => {
    expect(closePermissions(port([], []), new Set(['--permission']))).not.toContain('net');
    expect(closePermissions(undefined, flags)).toEqual([]);
  });

  it('where nothing can be dropped, what loading needed is not reported as closed', () => {
    expect(closePermissions({ has: (scope) => scope === 'addon' || scope === 'fs.read' }, flags)).not.toContain('addon');
  });
});
