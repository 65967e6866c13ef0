import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio as serveTransport } from '@modelcontextprotocol/server/stdio';
import { MESSAGE_BYTES, takeIn } from './intake.ts';

/**
 * Serves one client over the standard streams, in the version of the protocol that it speaks, until it closes them or the signal is
 * aborted. Stops reading from a client that does not read its answers.
 */
export async function serveStdio(servers: () => McpServer, signal: AbortSignal): Promise<void> {
  const { stdin, stdout } = process;
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  // The library's transport does not report the end of its streams.
  stdin.once('end', resolve);
  stdout.once('error', () => resolve());
  signal.addEventListener('abort', () => resolve(), { once: true });
  const writable = async (): Promise<void> => {
    if (stdout.writableNeedDrain) await once(stdout, 'drain', { signal });
  };
  const messages = Readable.from(
    takeIn(stdin, (line) => stdout.write(line), writable),
    { objectMode: false },
  );
  const transport = new StdioServerTransport(messages, stdout, { maxBufferSize: 2 * MESSAGE_BYTES });
  const connection = serveTransport(servers, { transport });
  await ended;
  await connection.close();
}
