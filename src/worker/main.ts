import { parse } from '../../grammar/index.ts';
import { FramePipe } from '../wire/frames.ts';
import { PROTOCOL_VERSION, type WorkerFrame } from '../wire/protocol.ts';
import { disarm } from './disarm.ts';
import { filterSystemCalls, loadFilter } from './filter.ts';
import { GuestImage, type IsolatedVm } from './image.ts';
import { createRequire, readFileSync, v8 } from './node.ts';
import { Parser } from './parser.ts';
import { closePermissions } from './permissions.ts';
import { descriptorPipe, FRAMES_FD } from './pipe.ts';
import { Server } from './server.ts';
import { tidier } from './tidy.ts';
import { warmupFrames } from './warmup.ts';

/**
 * Stack of an isolate. The evaluation depth of 10,000 takes at most 5,500 KB of it, in frames of V8's interpreter, which are the
 * largest; `test/guest/stack.test.ts` measures that.
 */
const GUEST_STACK_KB = 6500;

/**
 * The worker process: `worker.js GUEST ISOLATED_VM MEMORY_BYTES FILTER LIBRARY`, with the frames on descriptor 3. It loads its files,
 * sets the filter of system calls (in base64, or by a library; both empty when a launcher sets one), drops the permissions that it needed
 * for that, prepares the first isolate and says hello. Then it answers the frames of the host one by one and never returns to the event
 * loop.
 */
function main([guestFile, ivmFile, memoryBytes, filter = '', library = '']: readonly string[]): void {
  if (guestFile === undefined || ivmFile === undefined)
    throw new Error('usage: worker GUEST ISOLATED_VM MEMORY_BYTES FILTER LIBRARY');
  const ivm: IsolatedVm = createRequire(ivmFile)(ivmFile);
  const guest = readFileSync(guestFile, 'utf8');
  if (filter !== '') filterSystemCalls(Buffer.from(filter, 'base64'));
  if (library !== '') loadFilter(library);
  const dropped = closePermissions(process.permission, process.allowedNodeEnvironmentFlags);

  // V8's code cache of a script has the functions that were compiled when the cache was made. By default V8 compiles a function at
  // its first call, so that every fresh isolate would compile the interpreter anew: 1.3 ms instead of 0.2 for a small program.
  // The flag is part of the cache's key and must not change later.
  v8.setFlagsFromString('--no-lazy');
  // V8's baseline compiler works in a thread. Waking the thread takes as long as a small program and may take the host's core. Without
  // this compiler a program of ten tool calls ends 0.6 ms sooner; the optimising compilers compile long programs.
  v8.setFlagsFromString('--no-sparkplug');
  // isolated-vm gives an isolate of our size a young generation of half a megabyte, which fills 60 times in a run of 30 ms. A collection
  // in several threads waits for the threads, which takes longer than the collection itself when the cores are busy.
  v8.setFlagsFromString('--max-semi-space-size=2');
  v8.setFlagsFromString('--no-parallel-scavenge');
  // V8 keeps free large pages for its next large object, so the old half of a list would stay after each doubling. The V8 of Node 24 has
  // no such pool and rejects the flag.
  if (Number(process.versions.node.split('.')[0]) >= 26) v8.setFlagsFromString('--no-large-page-pool');
  // An isolate uses the stack of this thread. This realm may use more of it (`launch.ts`), because it answers calls of the deepest
  // program.
  v8.setFlagsFromString(`--stack-size=${GUEST_STACK_KB}`);
  // This realm was started with the flag (`launch.ts`); isolates must not have it.
  v8.setFlagsFromString('--no-expose-gc');
  // The flag that limits the heap of this realm would override the limit of every later isolate.
  v8.setFlagsFromString('--max-old-space-size=0');

  disarm();

  const pipe = new FramePipe(descriptorPipe(FRAMES_FD));
  const { gc } = globalThis;
  const server = new Server(new Parser(parse), gc === undefined ? () => {} : tidier(gc));
  server.prepare(new GuestImage(ivm, guest, server), Number(memoryBytes));
  server.serve(warmupFrames(Number(memoryBytes)));
  const hello: WorkerFrame = { t: 'hello', version: PROTOCOL_VERSION, pid: process.pid, node: process.version, dropped };
  pipe.write(JSON.stringify(hello));
  server.serve(pipe);
}

try {
  main(process.argv.slice(2));
  process.exit(0);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(70);
}
