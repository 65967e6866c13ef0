import type { Transport } from '@modelcontextprotocol/client';
import type { Logger } from '../context/index.ts';
import { DEFAULT_MESSAGE_BYTES, type McpServerConfig } from './config.ts';
import { type Access, overHttp } from './http.ts';
import { plainWords } from './serverschema.ts';
import { StdioTransport } from './stdio.ts';
import { carryTask } from './tasks.ts';
import type { Excess } from './values.ts';

/** Maximum number of messages, and of what is no message, that a server may send without a request of a program, per hour. */
const MAX_UNASKED = 1000;
const HOUR_MS = 3_600_000;

/** The requests of programs. Each resets the count of messages. */
const ASKING = ['tools/call', 'resources/list', 'resources/read', 'prompts/list', 'prompts/get'];

/** Maximum bytes of a server's error stream that reach the log. */
const MAX_STDERR = 64 * 1024;

/** A server has exceeded a bound, so its connection was closed. */
export class BoundError extends Error {}

/** What a transport tells of its server. */
interface Guard {
  /** Closes the connection; `problem` says which bound was exceeded. */
  breach(problem: string): void;
  /** Counts a message, or what is none; false when the connection is closed because it is too many. */
  counts(): boolean;
}

/** An unopened transport to a server, with bounds against a hostile server. Reports a {@link BoundError} when it closes for one. */
export function transportTo(name: string, server: McpServerConfig, logger: Logger, access: Access): Transport {
  const most = server.messageBytes ?? DEFAULT_MESSAGE_BYTES;
  return guarded(({ breach, counts }) => {
    const excess: Excess = {
      bytes: () => breach(`a message of the server is larger than messageBytes, which is ${most} bytes`),
      values: () => breach('a message of the server nests too deep, or has too many values'),
    };
    if ('url' in server) return overHttp(server, most, excess, access);
    return new StdioTransport(server, most, { stderr: errorStream(name, logger), noise: counts }, excess);
  });
}

/** Writes the error stream of a server to the log. */
function errorStream(name: string, logger: Logger): (chunk: Buffer) => void {
  let left = MAX_STDERR;
  // Reads everything, even beyond the bound, because a full pipe would block the server.
  return (chunk) => {
    if (left <= 0) return;
    logger.debug({ server: name }, plainWords(chunk.subarray(0, left).toString()));
    left -= chunk.length;
  };
}

/**
 * Closes a connection if the server sends too many messages, because each costs this process time. Everything counts, also
 * announcements of a changed list, and what is no message. A request of a program resets the count.
 */
function guarded(open: (guard: Guard) => Transport): Transport {
  let unasked = 0;
  let since = performance.now();
  const inner = open({ breach, counts });
  function breach(problem: string): void {
    transport.onerror?.(new BoundError(problem));
    void inner.close();
  }
  function counts(): boolean {
    if (performance.now() - since > HOUR_MS) [unasked, since] = [0, performance.now()];
    unasked += 1;
    if (unasked === MAX_UNASKED + 1) breach(`the server sent ${MAX_UNASKED} messages without being asked`);
    return unasked <= MAX_UNASKED;
  }
  const transport: Transport = {
    async start() {
      inner.onmessage = (message, extra) => {
        if (counts()) transport.onmessage?.(carryTask(message), extra);
      };
      inner.onclose = () => transport.onclose?.();
      inner.onerror = (error) => {
        if (counts()) transport.onerror?.(error);
      };
      await inner.start();
    },
    async send(message, options) {
      // Other requests, such as a poll of a task, allow one more message, their answer.
      if ('method' in message && 'id' in message) unasked = ASKING.includes(message.method) ? 0 : Math.max(0, unasked - 1);
      await inner.send(message, options);
    },
    close: () => inner.close(),
    setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
    // The library knows standard streams by these names. There, a server that is silent about versions is one of the previous version.
    ...(inner instanceof StdioTransport ? { pid: null, stderr: null } : {}),
    ...(inner.hasPerRequestStream === true ? { hasPerRequestStream: true } : {}),
    get sessionId() {
      return inner.sessionId;
    },
  };
  return transport;
}
