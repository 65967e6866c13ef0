import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { splitLines } from '../files/lines.ts';
import { errorOfPeer, RpcError, rpcErrorOf } from './error.ts';
import { MESSAGE_BYTES, type Message, type MessageId, RPC, readMessage } from './messages.ts';

/** A request of the client while it is served. */
export interface Serving {
  readonly id: MessageId;
  /** Aborted when the client cancels the request, and when it is gone. */
  readonly signal: AbortSignal;
}

/** Serves a request: resolves with its result as JSON text. A rejection becomes the error of the answer. */
export type Method = (params: unknown, serving: Serving) => Promise<string>;

/** The two directions of a connection. */
export interface Streams {
  readonly input: AsyncIterable<Uint8Array>;
  readonly output: Writable;
}

/** Most requests of a client that are served at once. */
export const MOST_REQUESTS = 256;

/** Most bytes that a client leaves unread. One that leaves more is hung up on: its programs would fill the host's memory. */
export const MOST_UNREAD = 128 * 1024 * 1024;

interface Question {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * One end of JSON-RPC 2.0, one message a line, that serves the requests of a client and asks it in turn. No line is read while the client
 * does not take what was written to it. A client has at most {@link MOST_REQUESTS} open requests, and {@link MOST_UNREAD} bytes to read.
 * When a direction ends, all that is
 * open is aborted.
 */
export class Peer {
  readonly #output: Writable;
  readonly #input: AsyncIterable<Uint8Array>;
  readonly #method: (name: string) => Method | undefined;
  readonly #served = new Map<MessageId, AbortController>();
  readonly #asked = new Map<MessageId, Question>();
  readonly #gone = new AbortController();
  #questions = 0;

  constructor({ input, output }: Streams, method: (name: string) => Method | undefined) {
    this.#input = input;
    this.#output = output;
    this.#method = method;
    output.on('error', () => this.#end());
    output.on('close', () => this.#end());
  }

  /** Serves until the client is gone or the signal ends it. Resolves when every request has ended. */
  async serve(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#end(), { once: true });
    if (signal.aborted) this.#end();
    const gone = once(this.#gone.signal, 'abort');
    const lines = splitLines(this.#input, MESSAGE_BYTES);
    const work = new Set<Promise<void>>();
    try {
      while (!this.#gone.signal.aborted) {
        const next = await Promise.race([lines.next(), gone]);
        if (Array.isArray(next) || next.done === true) break;
        const served = this.#take(readMessage(next.value));
        if (served !== null) work.add(served.finally(() => work.delete(served)));
        if (this.#output.writableNeedDrain) await Promise.race([once(this.#output, 'drain'), gone]);
      }
    } catch {
      // A connection that breaks has ended.
    }
    this.#end();
    await Promise.all(work);
  }

  /** Asks the client, and resolves with its result. Rejects with {@link RpcError}, also when the client is gone or `signal` aborts. */
  ask(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    const id = `host-${++this.#questions}`;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const give = (): void => {
      this.notify('cancel', { id });
      reject(new RpcError(RPC.refused, 'the call was cancelled', { code: 'ERR_CANCELLED' }));
    };
    this.#asked.set(id, { resolve, reject });
    signal.addEventListener('abort', give, { once: true });
    if (signal.aborted) give();
    else if (this.#gone.signal.aborted) reject(GONE);
    else this.#write({ jsonrpc: '2.0', id, method, params });
    return promise.finally(() => {
      this.#asked.delete(id);
      signal.removeEventListener('abort', give);
    });
  }

  /** Tells the client something that has no answer. */
  notify(method: string, params: unknown): void {
    this.notifyJson(method, JSON.stringify(params));
  }

  /** As {@link notify}, of parameters that are JSON text. */
  notifyJson(method: string, params: string): void {
    this.#line(`{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${params}}`);
  }

  /** Cancels an open request of the client. False when there is none with this id. */
  cancel(id: MessageId): boolean {
    const served = this.#served.get(id);
    served?.abort();
    return served !== undefined;
  }

  #take(message: Message): Promise<void> | null {
    const question = message.kind === 'call' || message.id === null ? undefined : this.#asked.get(message.id);
    if (message.kind === 'invalid') {
      const error = new RpcError(message.code, message.problem);
      // An answer has no answer: what was asked fails.
      if (question === undefined) this.#fail(message.id, error);
      else question.reject(new RpcError(RPC.invalid, `the client's answer cannot be read: ${message.problem}`));
      return null;
    }
    if (message.kind === 'answer') {
      if (message.error === undefined) question?.resolve(message.result);
      else question?.reject(errorOfPeer(message.error));
      return null;
    }
    const { id, method, params } = message;
    // Nothing can be said about a notification.
    if (id === null) return null;
    if (this.#served.has(id)) this.#fail(id, new RpcError(RPC.invalid, 'a request with this id is open'));
    else if (this.#served.size >= MOST_REQUESTS)
      this.#fail(id, new RpcError(RPC.refused, `${MOST_REQUESTS} requests are open; wait for one to end`, { code: 'ERR_BUSY' }));
    else return this.#serve(id, method, params);
    return null;
  }

  async #serve(id: MessageId, name: string, params: unknown): Promise<void> {
    const cancel = new AbortController();
    this.#served.set(id, cancel);
    try {
      const method = this.#method(name);
      if (method === undefined) throw new RpcError(RPC.unknownMethod, `there is no method '${name.slice(0, 60)}'`);
      const result = await method(params, { id, signal: cancel.signal });
      this.#line(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`);
    } catch (error) {
      this.#fail(id, rpcErrorOf(error));
    } finally {
      this.#served.delete(id);
    }
  }

  #fail(id: MessageId | null, error: RpcError): void {
    this.#line(errorLine(id, error));
  }

  #write(message: object): void {
    this.#line(JSON.stringify(message));
  }

  #line(text: string): void {
    if (this.#output.writable) this.#output.write(`${text}\n`);
    if (this.#output.writableLength > MOST_UNREAD) this.#output.destroy();
  }

  #end(): void {
    if (this.#gone.signal.aborted) return;
    this.#gone.abort();
    for (const served of this.#served.values()) served.abort();
    for (const { reject } of this.#asked.values()) reject(GONE);
  }
}

/** An answer that is an error. */
export function errorLine(id: MessageId | null, { rpcCode: code, message, data }: RpcError): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } });
}

const GONE = new RpcError(RPC.refused, 'the client is gone', { code: 'ERR_CANCELLED' });
