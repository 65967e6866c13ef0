import { parse } from '../../grammar/index.ts';
import { buildOf } from '../wire/codecache.ts';
import { FramePipe } from '../wire/frames.ts';
import { PROTOCOL_VERSION, type WorkerFrame } from '../wire/protocol.ts';
import { filterSystemCalls, loadFilter } from './filter.ts';
import { compileAll } from './flags.ts';
import { GuestImage, type IsolatedVm } from './image.ts';
import { readFileSync, type Script, v8 } from './node.ts';
import { Parser } from './parser.ts';
import { closePermissions } from './permissions.ts';
import { descriptorPipe, FRAMES_FD } from './pipe.ts';
import { removeFunctions } from './removed.ts';
import { Server, type WorkerPlace } from './server.ts';
import { Tidier } from './tidy.ts';
import { warmupFrames } from './warmup.ts';

/** What the worker was started from. */
interface Start {
  /** The build that its file is of. */
  readonly build: string;
  /** Whether the host has sent code caches. */
  readonly sent: boolean;
  /** Those caches, if they are of that build: of this program, of the interpreter, of its parts. */
  readonly caches: readonly Uint8Array<ArrayBuffer>[];
  /** Whether V8 has rejected the first of them. */
  readonly rejected: boolean;
  /** This program, if the host wants code caches. */
  readonly make: Pick<InstanceType<typeof Script>, 'createCachedData'> | null;
}

/**
 * The worker process: `worker.js GUEST NATIVE MEMORY_BYTES FILTER LIBRARY CACHES`, with the frames on descriptor 3. It loads its files,
 * sets the filter of system calls (in base64, or by a library; both empty when a launcher sets one), drops the permissions that it needed
 * for that, prepares the first isolate and says hello. Then it answers the frames of the host one by one and never returns to the event
 * loop.
 */
export function main([guestFile, native, memoryBytes, filter = '', library = '']: readonly string[], start: Start): void {
  if (guestFile === undefined || native === undefined)
    throw new Error('usage: worker GUEST NATIVE MEMORY_BYTES FILTER LIBRARY CACHES');
  const isolates: { readonly exports: { readonly ivm?: IsolatedVm } } = { exports: {} };
  process.dlopen(isolates, native);
  const { ivm } = isolates.exports;
  if (ivm === undefined) throw new Error(`${native} is not isolated-vm`);
  const guest = readFileSync(guestFile, 'utf8');
  if (filter !== '') filterSystemCalls(Buffer.from(filter, 'base64'));
  if (library !== '') loadFilter(library);
  const dropped = closePermissions(process.permission, process.allowedNodeEnvironmentFlags);

  compileAll(true);

  const pipe = new FramePipe(descriptorPipe(FRAMES_FD));
  const server = new Server(new Parser(parse), placeOf(process.ppid), tidierOf(globalThis.gc));
  const [, ...caches] = buildOf(guest) === start.build ? start.caches : [];
  const image = new GuestImage(ivm, guest, server, caches);
  server.prepare(image, Number(memoryBytes));
  server.serve(warmupFrames(Number(memoryBytes)));
  if (start.make !== null && start.build !== '' && buildOf(guest) === start.build) {
    // The program was compiled before that flag was set.
    const others = image.codeCaches();
    compileAll(false);
    const made = [start.make.createCachedData(), ...others].map((bytes) => Buffer.from(bytes).toString('base64'));
    compileAll(true);
    pipe.write(JSON.stringify({ t: 'compiled', build: start.build, caches: made } satisfies WorkerFrame));
  }
  removeFunctions();
  const greeting = { t: 'hello', version: PROTOCOL_VERSION, pid: process.pid, node: process.version, dropped } as const;
  const used = !start.sent ? {} : { cachesUsed: !start.rejected && caches.length > 0 && !image.rejected };
  const hello: WorkerFrame = { ...greeting, ...used };
  pipe.write(JSON.stringify(hello));
  server.serve(pipe);
}

/** This process, whose host has the id `hostPid`. */
function placeOf(hostPid: number): WorkerPlace {
  return {
    // When the host dies, the system gives the worker another parent. Asking for the parent costs 0.2 µs.
    isHostGone: () => process.ppid !== hostPid,
    // An isolate may be on the stack, so throwing is not possible.
    end: () => process.kill(process.pid, 'SIGKILL'),
  };
}

function tidierOf(gc: NodeJS.GCFunction | undefined): Tidier | null {
  return gc === undefined ? null : new Tidier(gc, () => v8.getHeapStatistics().used_heap_size);
}
