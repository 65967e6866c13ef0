import { v8 } from './node.ts';

/**
 * Stack of an isolate. The evaluation depth of 10,000 takes at most 5,500 KB of it, in frames of V8's interpreter, which are the
 * largest; `test/guest/stack.test.ts` measures that.
 */
const GUEST_STACK_KB = 6500;

/** Sets V8's flags for the isolates of programs. All but one of them also are part of the key of the worker's own code cache. */
export function setFlags(): void {
  const set = v8.setFlagsFromString;
  // V8's baseline compiler works in a thread. Waking the thread takes as long as a small program and may take the host's core. Without
  // this compiler a program of ten tool calls ends 0.6 ms sooner; the optimising compilers compile long programs.
  set('--no-sparkplug');
  // isolated-vm gives an isolate of our size a young generation of half a megabyte, which fills 60 times in a run of 30 ms. A collection
  // in several threads waits for the threads, which takes longer than the collection itself when the cores are busy.
  set('--max-semi-space-size=2');
  set('--no-parallel-scavenge');
  // V8 keeps free large pages for its next large object, by default 32 MB of them: the old halves of lists that have doubled. None at all would
  // cost 9 µs for each 4 KB on some machines, half of the time of a list that grows to 100,000 items. The V8 of Node 24 has no such pool and
  // rejects the flag.
  if (Number(process.versions.node.split('.')[0]) >= 26) set('--max-large-page-pool-size=4');
  // An isolate uses the stack of this thread. This realm may use more of it (`launch.ts`), because it answers calls of the deepest
  // program.
  set(`--stack-size=${GUEST_STACK_KB}`);
  // This realm was started with the flag (`launch.ts`); isolates must not have it.
  set('--no-expose-gc');
  // The flag that limits the heap of this realm would override the limit of every later isolate.
  set('--max-old-space-size=0');
}

/**
 * Whether V8 compiles all functions of a script at once. A code cache has the functions that were compiled when it was made. By default V8
 * compiles a function at its first call, so that every fresh isolate would compile the interpreter anew: 1.3 ms instead of 0.2 for a small
 * program. The flag is part of a cache's key.
 */
export function compileAll(all: boolean): void {
  v8.setFlagsFromString(all ? '--no-lazy' : '--lazy');
}
