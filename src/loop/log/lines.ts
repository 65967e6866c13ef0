import { createReadStream } from 'node:fs';
import { LineSplitter } from '../../files/lines.ts';
import { openOrdinary } from '../../files/ordinary.ts';

/** Most bytes of one line. Lines contain only ids, codes and numbers. */
export const LINE_BYTES = 64 * 1024;

export interface LogLine {
  /** Null for a line that is longer than {@link LINE_BYTES}. */
  readonly text: string | null;
  /** False for a last line without a line feed. */
  readonly finished: boolean;
}

/** Observes and ends a reading. */
interface Reading {
  readonly signal?: AbortSignal | undefined;
  readonly onRead?: ((bytes: number) => void) | undefined;
}

/** The lines of a log's file. Throws the file system's error, also for a path that is not an ordinary file. */
export async function* logLines(path: string, { signal, onRead }: Reading = {}): AsyncGenerator<LogLine> {
  const lines = new LineSplitter(LINE_BYTES);
  const file: AsyncIterable<Buffer> = createReadStream(path, { fd: openOrdinary(path) });
  for await (const chunk of file) {
    signal?.throwIfAborted();
    onRead?.(chunk.length);
    for (const line of lines.push(chunk)) yield { text: line?.toString() ?? null, finished: true };
  }
  const rest = lines.end();
  if (rest !== null) yield { text: rest.toString(), finished: false };
}
