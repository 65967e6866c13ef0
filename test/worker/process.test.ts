// @module-tag slow
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { launch, packageFiles, requiredScopes } from '../../src/sandbox/launch.ts';
import { limitResources } from '../../src/sandbox/systemtools.ts';
import { FrameReader } from '../../src/wire/frames.ts';
import { closePermissions, type PermissionPort } from '../../src/worker/permissions.ts';
import { tempFolder } from '../folder.ts';
import { closeSandboxes, HOLED, run, sandboxOf } from '../sandbox/kit.ts';
import { probed, probedBy, SIGNALS } from './realm.ts';

afterAll(closeSandboxes);

/** A worker as it stands after its hello, and what it said. */
async function greeted<T>(look: (pid: number, hello: Record<string, unknown>) => T | Promise<T>): Promise<T> {
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
    return await look(child.pid ?? 0, JSON.parse(hello));
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
      ...(process.allowedNodeEnvironmentFlags.has('--allow-ffi') ? ['--allow-ffi'] : []),
      `--allow-fs-read=${HOLED.worker}`,
      `--allow-fs-read=${HOLED.guest}`,
      expect.stringMatching(/^isolated-vm\/.*\.node$/),
    ]);
    expect(flags).toContain('--permission');
    expect(flags).toContain('--no-experimental-sqlite');
  });

  it('idles in at most 75 MB, a prepared isolate included', async () => {
    const status = await greeted((pid) => readFileSync(`/proc/${pid}/status`, 'utf8'));
    expect(Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1])).toBeLessThan(75 * 1024);
  });

  it.each(Object.entries(packageFiles()))('V8 keeps the text of the %s in one byte a character', (_, file) => {
    expect(/[^\x00-\x7f]/.exec(readFileSync(file, 'utf8'))).toBeNull();
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

describe('finding 5: hostile JavaScript in place of the worker, without an operating system sandbox', () => {
  it.each(['read a file', 'make V8 write a file'])('cannot %s once it has greeted', async (deed) => {
    const folder = tempFolder();
    const guest = join(folder, 'plan.json');
    writeFileSync(guest, JSON.stringify({ deed, traces: join(folder, 'traces') }));
    const worker = fileURLToPath(new URL('hostile.mjs', import.meta.url));
    const sandbox = await sandboxOf({ files: { worker, guest }, launcher: 'none' });
    const { result } = await run(sandbox, 'echo');
    expect(result.error).toMatchObject({ code: 'ERR_WORKER', message: expect.not.stringContaining('exit code 71') });
    expect(readdirSync(folder)).toEqual(['plan.json']);
  });

  it('the kernel lets an idle worker dump no core, fill no file and open no descriptor', async () => {
    const limits = await greeted(async (pid) => {
      await limitResources(pid);
      return readFileSync(`/proc/${pid}/limits`, 'utf8');
    });
    for (const limit of ['Max file size', 'Max core file size', 'Max open files'])
      expect(limits).toMatch(new RegExp(`^${limit} +0 +0 `, 'm'));
  });

  it('what a worker does not need is gone once it has loaded, for importers too', () => {
    const module = new URL('../../src/worker/removed.ts', import.meta.url);
    const program = `
      (await import(${JSON.stringify(module.href)})).removeFunctions();
      const [os, v8, inspector] = await Promise.all(['node:os', 'node:v8', 'node:inspector'].map((name) => import(name)));
      const left = [os.setPriority, os.default.setPriority, v8.setFlagsFromString, v8.default.writeHeapSnapshot,
        // Where the permission model closes the inspector, the module is not loaded.
        process.allowedNodeEnvironmentFlags.has('--allow-inspector') ? undefined : inspector.open,
        process.kill, process._kill, process._debugProcess, process.binding, process.dlopen, process.execve, process.setuid];
      process.stdout.write(String(left.filter((name) => name !== undefined).length));`;
    expect(execFileSync(process.execPath, ['--no-warnings', '--input-type=module', '-e', program], { encoding: 'utf8' })).toBe(
      '0',
    );
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
