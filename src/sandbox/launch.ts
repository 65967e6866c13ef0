import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, openSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { devNull } from 'node:os';
import { dirname, join } from 'node:path';
import { type Duplex, type Readable, Writable } from 'node:stream';
import { ConfigError } from '../wire/errors.ts';
import { PROTOCOL_VERSION, type WorkerFrame } from '../wire/protocol.ts';
import { messageOf } from '../wire/unknown.ts';
import type { Bind, Cage } from './cage.ts';
import type { Cgroups } from './cgroup.ts';
import { type CacheRole, NO_ROLE } from './codecache.ts';
import { namesIn, textIn } from './proc.ts';
import { seccompFilter } from './seccomp.ts';

/** The two bundles of a worker, as paths. */
export interface WorkerFiles {
  /** The program of the worker process. */
  readonly worker: string;
  /** The interpreter, which the worker loads into isolates. */
  readonly guest: string;
}

/** What the host needs of a worker process, or of a thread in its place. */
export interface WorkerChild {
  /** Undefined for a thread, and for a process that could not be started. */
  readonly pid?: number | undefined;
  /** Null until it has ended. */
  readonly exitCode: number | null;
  readonly signalCode: NodeJS.Signals | null;
  kill(signal: 'SIGKILL'): boolean;
  unref(): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** It has ended, and everything that it wrote was read. */
  on(event: 'close', listener: (code: number | null, signal: NodeJS.Signals | null) => void): unknown;
}

/** A worker after its start. */
export interface StartedWorker {
  /** The worker, or the launcher: it ends when the worker ends, and killing it kills the worker. */
  readonly child: WorkerChild;
  /** The launcher behind `child`; null without one. */
  readonly cage: Cage | null;
  /** The connection to the worker, in both directions. */
  readonly frames: Duplex & { unref(): unknown };
  readonly stderr: Readable;
  readonly caches: CacheRole;
  /** The scopes of the permission model that it must report as closed. */
  readonly scopes: readonly string[];
  /** Where it gets a cgroup of its own; absent where there are none. */
  readonly cgroups?: Cgroups | undefined;
}

/** A worker process after its start. */
export interface Launched extends StartedWorker {
  readonly child: ChildProcess;
  /** Descriptor 3 of the worker. */
  readonly frames: Socket;
}

/** The paths that a worker uses, as the worker sees them. */
interface Places extends WorkerFiles {
  readonly node: string;
  /** The native module of isolated-vm. */
  readonly native: string;
  /** The library that sets the filter of system calls; empty where it is missing or not needed. */
  readonly library: string;
  /** Files and folders that the worker may read while it loads. */
  readonly readable: readonly string[];
}

const require = createRequire(import.meta.url);

/** Heap of the worker's own realm, for the parser and the tree of the largest source. Scripts have separate heaps. */
const OWN_HEAP_MB = 512;

/** The bundles of this package. Throws {@link ConfigError} when they are not built, or this file is part of a host's bundle. */
export function packageFiles(): WorkerFiles {
  return checkFiles({ worker: located('#worker'), guest: located('#guest') }, "run 'npm run build'");
}

/** The same bundles by their real paths. Throws {@link ConfigError} with the advice when one is missing. */
export function checkFiles({ worker, guest }: WorkerFiles, advice = 'copy it from dist/ of neuroscript-runtime'): WorkerFiles {
  for (const path of [worker, guest]) if (!existsSync(path)) throw new ConfigError(`${path} is missing; ${advice}`);
  return { worker: realpathSync(worker), guest: realpathSync(guest) };
}

/**
 * Starts a worker with an empty environment, no standard input or output, and Node's permission model, which lets it read its two
 * files and the native module. Descriptor 3 is its only connection. `memoryBytes` is the limit for which the first isolate is
 * prepared. With `cage` the worker also runs in a sandbox of the operating system that contains nothing else. `caches` is its role with
 * the code caches.
 */
export function launch(files: WorkerFiles, memoryBytes: number, cage: Cage | null = null, caches: CacheRole = NO_ROLE): Launched {
  const order = JSON.stringify(caches.order);
  const launched = cage === null ? launchDirectly(files, memoryBytes, order) : launchConfined(files, memoryBytes, cage, order);
  launched.child.once('close', () => caches.settle(undefined));
  caches.send(launched.frames);
  return { ...launched, caches, scopes: requiredScopes() };
}

function launchDirectly(files: WorkerFiles, memoryBytes: number, order: string): Omit<Launched, 'caches' | 'scopes'> {
  const native = nativeModule();
  const readable = [files.worker, files.guest, native];
  const places: Places = { ...files, node: process.execPath, native, library: libraryBeside(files), readable };
  const child = spawn(places.node, commandLine(places, memoryBytes, true, order), {
    env: {},
    cwd: '/',
    stdio: withoutInherited(['ignore', 'ignore', 'pipe', 'pipe']),
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  return { child, cage: null, ...pipesOf(child) };
}

/** The folder of the worker in a sandbox of the operating system. */
const HOME = '/worker';

function launchConfined(files: WorkerFiles, memoryBytes: number, cage: Cage, order: string): Omit<Launched, 'caches' | 'scopes'> {
  const library = cage.holds.includes('calls') ? '' : libraryBeside(files);
  const places: Places = {
    node: join(HOME, 'node'),
    // Node's loader of ECMAScript modules would take a tenth of the time of its start; the file is a script, too.
    worker: join(HOME, 'worker.cjs'),
    guest: join(HOME, 'guest.js'),
    native: join(HOME, 'isolated-vm.node'),
    library: library === '' ? '' : join(HOME, FILTER_LIBRARY),
    readable: [`${HOME}/*`],
  };
  const binds: readonly Bind[] = [
    { from: process.execPath, to: places.node },
    { from: files.worker, to: places.worker },
    { from: files.guest, to: places.guest },
    { from: nativeModule(), to: places.native },
    ...(library === '' ? [] : [{ from: library, to: places.library }]),
  ];
  const { path, args, input } = cage.command(binds, [
    places.node,
    ...commandLine(places, memoryBytes, !cage.holds.includes('calls'), order),
  ]);
  const child = spawn(path, args, {
    env: {},
    cwd: '/',
    stdio: withoutInherited(['ignore', 'ignore', 'pipe', 'pipe', ...(input === null ? [] : (['pipe'] as const))]),
    // A process group of its own, so that Ctrl-C in a terminal reaches only the host, which then ends its workers.
    detached: true,
  });
  const pipes = pipesOf(child);
  const reader = child.stdio[4];
  if (input !== null && reader instanceof Writable) reader.on('error', () => {}).end(input);
  return { child, cage, ...pipes };
}

/** With `filters` the worker sets the filter of system calls itself, if this Node can. */
function commandLine(
  { worker, guest, native, library, readable }: Places,
  memoryBytes: number,
  filters: boolean,
  order: string,
): string[] {
  // The worker calls a native function to set it.
  const filter = filters && process.platform === 'linux' && HAS_FFI ? seccompFilter(process.arch, false) : null;
  return [
    '--no-node-snapshot', // isolated-vm demands it
    '--stack-size=7200', // KB, of the 8 MB that systems give: isolates get less (`worker/flags.ts`), native code the rest
    '--permission',
    '--allow-addons',
    ...(filter === null ? [] : ['--allow-ffi']),
    ...readable.map((path) => `--allow-fs-read=${path}`),
    '--no-experimental-sqlite', // the permission model does not cover it
    '--no-experimental-webstorage',
    '--disable-sigusr1', // no inspector on a signal
    '--disable-proto=delete',
    '--no-warnings',
    '--expose-gc', // the worker collects at rest
    `--max-old-space-size=${OWN_HEAP_MB}`,
    worker,
    guest,
    native,
    String(memoryBytes),
    Buffer.from(filter ?? []).toString('base64'),
    library,
    order,
  ];
}

/** Whether Node has an interface to native functions, through which a worker sets its filter. */
const HAS_FFI = process.allowedNodeEnvironmentFlags.has('--allow-ffi');
/** Beside the worker in `dist/`, see `filterLibrary`. */
const FILTER_LIBRARY = 'filter-x64.so';

/** The path of the library that sets the filter. Empty if Node has the interface, and on machines without a library. */
function libraryBeside({ worker }: WorkerFiles): string {
  const library = join(dirname(worker), FILTER_LIBRARY);
  return !HAS_FFI && process.platform === 'linux' && process.arch === 'x64' && existsSync(library) ? library : '';
}

let native: string | undefined;

/**
 * The real path of isolated-vm's module for this platform. The host looks for it as isolated-vm itself does, once, so that no worker has to.
 * Throws {@link ConfigError} when there is none.
 */
function nativeModule(): string {
  if (native !== undefined) return native;
  try {
    const ivm = realpathSync(require.resolve('isolated-vm'));
    native = realpathSync(createRequire(ivm)('node-gyp-build').path(dirname(ivm)));
  } catch (cause) {
    const [reason] = messageOf(cause).split('\n');
    const elsewhere = 'createThreadRuntime of neuroscript-runtime/browser needs none, and has no isolation';
    throw new ConfigError(`isolated-vm has no module for this platform: ${reason}; ${elsewhere}`, { cause });
  }
  return native;
}

/** Throws when the system could not start the process. */
function pipesOf(child: ChildProcess): Pick<Launched, 'frames' | 'stderr'> {
  // When the system has no free descriptors, there are no pipes and an `error` event follows.
  const frames = child.stdio?.[3];
  if (!(frames instanceof Socket) || child.stderr === null) {
    child.on('error', () => {});
    throw new Error('the system gives no process (EMFILE): too many open files');
  }
  return { frames, stderr: child.stderr };
}

function located(name: string): string {
  try {
    return require.resolve(name);
  } catch (cause) {
    // This import name resolves only inside this package.
    throw new ConfigError("a bundle does not contain the files of the worker; pass the option 'files'", { cause });
  }
}

/** Scopes of the permission model that a worker must report as closed, for the Node version of this process. */
export function requiredScopes(): readonly string[] {
  const flags = process.allowedNodeEnvironmentFlags;
  const always = ['fs.write', 'child', 'worker', 'wasi'];
  const droppable = Number(process.versions.node.split('.')[0]) >= 26 ? ['fs.read', 'addon'] : [];
  const newer = ['inspector', 'net', 'ffi'].filter((scope) => flags.has(`--allow-${scope}`));
  return [...always, ...droppable, ...newer];
}

/** Why a worker with this first frame cannot be used; null when it can. It must have closed `scopes`. */
export function refusal(frame: WorkerFrame, scopes: readonly string[]): string | null {
  if (frame.t !== 'hello') return `its first frame is '${frame.t}'`;
  if (frame.version !== PROTOCOL_VERSION) return `it speaks version ${frame.version} of the protocol, not ${PROTOCOL_VERSION}`;
  const open = scopes.filter((scope) => !frame.dropped.includes(scope));
  return open.length === 0 ? null : `it still has the permissions ${open.join(', ')}`;
}

/** `O_CLOEXEC` in the octal flags of `fdinfo` (Linux). */
const CLOSED_BY_EXEC = 0o2000000;
/** Standard input, output and error are always replaced. */
const FIRST_OTHER = 3;

/** The descriptors of a child: a number is a descriptor of this process, `ignore` sets nothing up. */
type Stdio = ('ignore' | 'pipe' | number)[];

let nowhere: number | undefined;

/**
 * Keeps a child from inheriting the descriptors that this process inherited from its own parent. Descriptors that Node opens are closed
 * in a child; those that were open before Node started are not, and Node closes them only up to the first gap. The child gets the null
 * device under each of these numbers. Only Linux needs this; other systems close them.
 */
function withoutInherited(stdio: Stdio): Stdio {
  const all = [...stdio];
  for (const fd of inheritable()) {
    if (fd < stdio.length) continue;
    while (all.length < fd) all.push('ignore');
    nowhere ??= openSync(devNull, 'r');
    all[fd] = nowhere;
  }
  return all;
}

/** The descriptors above standard error that a child would inherit now, in ascending order. */
function inheritable(): number[] {
  if (process.platform !== 'linux') return [];
  return (namesIn('/proc/self/fd') ?? [])
    .map(Number)
    .filter((fd) => fd >= FIRST_OTHER && isInheritable(fd))
    .sort((a, b) => a - b);
}

function isInheritable(fd: number): boolean {
  const flags = /^flags:\s*([0-7]+)$/m.exec(textIn(`/proc/self/fdinfo/${fd}`))?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & CLOSED_BY_EXEC) === 0;
}
