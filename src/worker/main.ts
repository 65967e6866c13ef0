import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { parse } from '../../grammar/index.ts';
import { FramePipe } from '../wire/frames.ts';
import { PROTOCOL_VERSION, type WorkerFrame } from '../wire/protocol.ts';
import { GuestImage, type IsolatedVm } from './image.ts';
import { Parser } from './parser.ts';
import { closePermissions } from './permissions.ts';
import { descriptorPipe, FRAMES_FD } from './pipe.ts';
import { Server } from './server.ts';
import { rehearsal } from './warmup.ts';

/**
 * The worker process: `worker.js GUEST ISOLATED_VM MEMORY_BYTES`, with the frames on descriptor 3. It loads, gives up what
 * it needed for that, prepares the first isolate, says hello, and then does what the host's frames ask, one at a time,
 * without ever returning to the event loop.
 */
function main([guestFile, ivmFile, memoryBytes]: readonly string[]): void {
  if (guestFile === undefined || ivmFile === undefined) throw new Error('usage: worker GUEST ISOLATED_VM MEMORY_BYTES');
  const ivm: IsolatedVm = createRequire(ivmFile)(ivmFile);
  const guest = readFileSync(guestFile, 'utf8');
  const dropped = closePermissions(process.permission, process.allowedNodeEnvironmentFlags);

  // V8's cache of a script holds the functions that were compiled when it was made. Left to itself V8 compiles a function at
  // its first call, so every fresh isolate would compile the interpreter anew: 1.3 ms instead of 0.2 for a small program.
  // The flag is part of the cache's key, so it stays.
  setFlagsFromString('--no-lazy');
  // The first compiler's work is done by a thread, and to wake that takes as long as a small program; it may get the host's core
  // besides. A program of ten tool calls is over 0.6 ms sooner without; one that computes for long has the other compilers.
  setFlagsFromString('--no-sparkplug');
  // V8 keeps large pages that became free for its next large object: each doubling of a list would leave half of it behind.
  setFlagsFromString('--no-large-page-pool');
  // The flag that bounds this realm's own heap would stand above the limit of every isolate made from now on.
  setFlagsFromString('--max-old-space-size=0');

  const pipe = new FramePipe(descriptorPipe(FRAMES_FD));
  const server = new Server(new Parser(parse));
  server.prepare(new GuestImage(ivm, guest, server), Number(memoryBytes));
  server.serve(rehearsal(Number(memoryBytes)));
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
