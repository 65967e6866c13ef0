import { readSync, writeSync } from 'node:fs';
import type { BytePipe } from '../wire/frames.ts';

/** The descriptor that the host leaves open for frames. */
export const FRAMES_FD = 3;

/** A descriptor as a blocking pipe, also where the system has set it to non-blocking. */
export function descriptorPipe(fd: number): BytePipe {
  return {
    read: (into) => untilReady(() => readSync(fd, into)),
    write: (bytes) => untilReady(() => writeSync(fd, bytes)),
  };
}

const sleeper = new Int32Array(new SharedArrayBuffer(4));

function untilReady(operation: () => number): number {
  for (;;) {
    try {
      return operation();
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
      Atomics.wait(sleeper, 0, 0, 1);
    }
  }
}
