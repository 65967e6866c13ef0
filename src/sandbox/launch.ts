import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { type Readable, Writable } from 'node:stream';
import { ConfigError } from '../wire/errors.ts';
import { type Bind, type Bubblewrap, bubblewrapArguments } from './bubblewrap.ts';
import { withoutInherited } from './descriptors.ts';

/** The two bundles a worker is made of, as absolute paths. */
export interface WorkerFiles {
  readonly worker: string;
  readonly guest: string;
}

/** A worker process that has just been started. */
export interface Launched {
  /** The process itself, or the launcher's, which ends with it and takes it along when it is killed. */
  readonly child: ChildProcess;
  /** Processes between `child` and the one that runs scripts. */
  readonly generations: number;
  /** Both directions of descriptor 3 of the worker. */
  readonly frames: Socket;
  readonly stderr: Readable;
}

/** What a worker needs to find, as it sees it. */
interface Places extends WorkerFiles {
  readonly node: string;
  readonly ivm: string;
  /** Files and folders that it may read while it loads. */
  readonly readable: readonly string[];
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
 * `memoryBytes` tells for which limit the first isolate is prepared. With `bubblewrap` all of that stands in a cage of the
 * system, where nothing else exists.
 */
export function launch(files: WorkerFiles, memoryBytes: number, bubblewrap: Bubblewrap | null = null): Launched {
  return bubblewrap === null ? launchDirectly(files, memoryBytes) : launchCaged(files, memoryBytes, bubblewrap);
}

function launchDirectly(files: WorkerFiles, memoryBytes: number): Launched {
  const { ivm, loader } = nativeModule();
  // Musl or glibc is told by that file's existence.
  const readable = [files.worker, files.guest, `${dirname(ivm)}/*`, `${loader}/*`, '/etc/alpine-release'];
  const places: Places = { ...files, node: process.execPath, ivm, readable };
  const child = spawn(places.node, commandLine(places, memoryBytes), {
    env: {},
    cwd: '/',
    stdio: withoutInherited(['ignore', 'ignore', 'pipe', 'pipe']),
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  return { child, generations: 0, ...pipesOf(child) };
}

/** The worker's folder in the cage. */
const HOME = '/worker';

function launchCaged(files: WorkerFiles, memoryBytes: number, bubblewrap: Bubblewrap): Launched {
  const { ivm, loader } = nativeModule();
  const modules = join(HOME, 'node_modules');
  const ivmHome = join(modules, 'isolated-vm');
  const places: Places = {
    node: join(HOME, 'node'),
    // Without a package.json beside it only the ending says what kind of module it is.
    worker: join(HOME, 'worker.mjs'),
    guest: join(HOME, 'guest.js'),
    ivm: join(ivmHome, 'isolated-vm.js'),
    readable: [`${HOME}/*`, '/etc/alpine-release'],
  };
  // Of isolated-vm only what is loaded: the package holds its sources and an archive of itself too.
  const native = ['package.json', 'isolated-vm.js', 'prebuilds', 'build'].map(
    (name): Bind => ({ from: join(dirname(ivm), name), to: join(ivmHome, name) }),
  );
  const binds: readonly Bind[] = [
    { from: process.execPath, to: places.node },
    { from: files.worker, to: places.worker },
    { from: files.guest, to: places.guest },
    { from: loader, to: join(modules, 'node-gyp-build') },
    ...native.filter(({ from }) => existsSync(from)),
  ];
  const args = [...bubblewrapArguments(bubblewrap, binds), places.node, ...commandLine(places, memoryBytes)];
  const child = spawn(bubblewrap.path, args, {
    env: {},
    cwd: '/',
    stdio: withoutInherited(['ignore', 'ignore', 'pipe', 'pipe', 'pipe']),
    // In a group of its own: a terminal's Ctrl-C is for the host, which then ends what it started in good order.
    detached: true,
  });
  const pipes = pipesOf(child);
  const filter = child.stdio[4];
  if (filter instanceof Writable) filter.on('error', () => {}).end(bubblewrap.filter);
  // Bubblewrap itself, then the first process of the namespace, which waits for the worker.
  return { child, generations: 2, ...pipes };
}

function commandLine({ worker, guest, ivm, readable }: Places, memoryBytes: number): string[] {
  return [
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
    worker,
    guest,
    ivm,
    String(memoryBytes),
  ];
}

function nativeModule(): { readonly ivm: string; readonly loader: string } {
  const ivm = realpathSync(require.resolve('isolated-vm'));
  return { ivm, loader: dirname(realpathSync(createRequire(ivm).resolve('node-gyp-build/package.json'))) };
}

/** Throws when the system gave no process. */
function pipesOf(child: ChildProcess): Pick<Launched, 'frames' | 'stderr'> {
  // Where the system has no descriptors left there are no pipes either, and an `error` event comes later.
  const frames = child.stdio?.[3];
  if (!(frames instanceof Socket) || child.stderr === null) {
    child.on('error', () => {});
    throw new Error('the system gives no process: too many open files');
  }
  return { frames, stderr: child.stderr };
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
