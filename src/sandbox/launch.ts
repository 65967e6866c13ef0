import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { ConfigError } from '../wire/errors.ts';

/** The two bundles a worker is made of, as absolute paths. */
export interface WorkerFiles {
  readonly worker: string;
  readonly guest: string;
}

/** A worker process that has just been started. */
export interface Launched {
  readonly child: ChildProcess;
  /** Both directions of descriptor 3 of the worker. */
  readonly frames: Socket;
  readonly stderr: Readable;
}

const require = createRequire(import.meta.url);

/** Heap of the worker's own realm: the parser and what it makes of the largest source; scripts have heaps of their own. */
const OWN_HEAP_MB = 512;

/** The bundles of this package. Throws {@link ConfigError} when they were not built. */
export function packageFiles(): WorkerFiles {
  return { worker: fileOf('#worker'), guest: fileOf('#guest') };
}

/**
 * Starts a worker with an empty environment, no standard input or output, and the permission model with the least that
 * loading needs: its own two files and the native module. What Node calls descriptor 3 is the only way in or out.
 * `memoryBytes` tells for which limit the first isolate is prepared.
 */
export function launch(files: WorkerFiles, memoryBytes: number): Launched {
  const ivm = realpathSync(require.resolve('isolated-vm'));
  const loader = realpathSync(createRequire(ivm).resolve('node-gyp-build/package.json'));
  // Musl or glibc is told by that file's existence.
  const readable = [files.worker, files.guest, `${dirname(ivm)}/*`, `${dirname(loader)}/*`, '/etc/alpine-release'];
  const flags = [
    '--no-node-snapshot', // isolated-vm demands it
    '--stack-size=3900', // 500 frames of a script stand on many more of the interpreter's
    '--permission',
    '--allow-addons',
    ...readable.map((path) => `--allow-fs-read=${path}`),
    '--no-experimental-sqlite', // the permission model does not cover it
    '--no-experimental-webstorage',
    '--disable-sigusr1', // no inspector on a signal
    '--disable-proto=delete',
    '--no-warnings',
    `--max-old-space-size=${OWN_HEAP_MB}`,
  ];
  const child = spawn(process.execPath, [...flags, files.worker, files.guest, ivm, String(memoryBytes)], {
    env: {},
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    windowsHide: true,
  });
  // Where the system has no descriptors left there are no pipes either, and an `error` event comes later.
  const frames = child.stdio?.[3];
  if (!(frames instanceof Socket) || child.stderr === null) {
    child.on('error', () => {});
    throw new Error('the system gives no process: too many open files');
  }
  return { child, frames, stderr: child.stderr };
}

function fileOf(name: string): string {
  const path = require.resolve(name);
  if (!existsSync(path)) throw new ConfigError(`${path} is missing; run 'npm run build'`);
  return realpathSync(path);
}

/** Scopes of the permission model that a worker must report as closed, on the Node line that runs this process. */
export function requiredScopes(): readonly string[] {
  const flags = process.allowedNodeEnvironmentFlags;
  const always = ['fs.write', 'child', 'worker', 'wasi'];
  const droppable = Number(process.versions.node.split('.')[0]) >= 26 ? ['fs.read', 'addon'] : [];
  const newer = ['inspector', 'net', 'ffi'].filter((scope) => flags.has(`--allow-${scope}`));
  return [...always, ...droppable, ...newer];
}
