import type { ServerResponse } from 'node:http';
import type { Changes } from './changes.ts';
import type { ChangeView } from './views.ts';

/** Streams that are open at a time: one for each page. */
export const STREAMS = 32;

/** Milliseconds after which a silent stream shows that it is alive. */
const ALIVE_MS = 15_000;

/**
 * Sends changes to a page until it is closed. A page that reads slowly costs nothing: while its connection is full nothing is kept for
 * it, and then it hears that everything may have changed.
 */
export function openStream(changes: Changes, sid: string | null, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  let full = false;
  let missed = false;
  const write = (text: string): void => {
    full = !response.write(text);
  };
  const tell = (change: ChangeView): void => {
    if (full) missed = true;
    else write(`data: ${JSON.stringify(change)}\n\n`);
  };
  response.on('drain', () => {
    full = false;
    if (!missed) return;
    missed = false;
    for (const kind of ['sessions', 'log'] as const) tell({ kind });
  });
  const alive = setInterval(() => {
    if (!full) write(': alive\n\n');
  }, ALIVE_MS).unref();
  const stop = changes.listen({ sid, tell });
  response.once('close', () => {
    clearInterval(alive);
    stop();
  });
  write(': listening\n\n');
}
