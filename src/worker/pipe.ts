import type { BytePipe } from '../wire/frames.ts';
import { readSync, writeSync } from './node.ts';

/** The connection to a host, in texts of frames; `read` returns null when the host is gone. */
export interface FramePort {
  read(): string | null;
  write(text: string): void;
  /** Holds a text until the next one is written, or until `flush`. */
  hold(text: string): void;
  flush(): void;
}

/** The descriptor for frames, which the host opens. */
export const FRAMES_FD = 3;

/** A descriptor as a blocking pipe, even when the system has set it to non-blocking. */
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
