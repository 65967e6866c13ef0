import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { systemClock } from '../../src/loop/index.ts';
import { type ServiceHost, serveClient } from '../../src/rpc/index.ts';
import { createRuntime } from '../../src/runtime/index.ts';
import { Policy } from '../../src/tools/index.ts';
import { newKeyring } from '../loop/fake.ts';

export interface Message {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Readonly<Record<string, unknown>> };
}

/** A client that speaks line by line to a host in this process. */
export class Client implements AsyncDisposable {
  readonly #in = new PassThrough();
  readonly #out = new PassThrough();
  readonly #messages: AsyncIterator<string>;
  readonly #end = new AbortController();
  readonly served: Promise<void>;

  constructor(host: Partial<ServiceHost> = {}) {
    this.#messages = createInterface({ input: this.#out })[Symbol.asyncIterator]();
    const clock = systemClock;
    const open: ServiceHost['open'] = ({ tools, policy }) =>
      createRuntime({
        tools,
        policy: policy ?? new Policy({ allow: ['*'] }),
        concurrency: 2,
        limits: { fuel: 1_000_000_000_000 },
      });
    const service = { open, keyring: newKeyring('rpc', clock), clock, ...host };
    this.served = serveClient({ input: this.#in, output: this.#out }, service, this.#end.signal);
  }

  /** Sends a line as it is. */
  line(text: string | Uint8Array): void {
    this.#in.write(text);
    this.#in.write('\n');
  }

  send(message: object): void {
    this.line(JSON.stringify({ jsonrpc: '2.0', ...message }));
  }

  async next(): Promise<Message> {
    return JSON.parse((await this.#messages.next()).value);
  }

  /** Sends a request and resolves with the next message that answers it; what comes before goes to `other`. */
  async ask(
    id: string | number,
    method: string,
    params?: object,
    other: (message: Message) => void = () => {},
  ): Promise<Message> {
    this.send({ id, method, params });
    for (;;) {
      const message = await this.next();
      if (message.id === id && message.method === undefined) return message;
      other(message);
    }
  }

  /** Reads no more, and hangs up. */
  async hangUp(): Promise<void> {
    this.#in.end();
    await this.served;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#in.end();
    if (!this.#out.readableEnded) this.#out.resume();
    await this.served;
    this.#out.end();
    await once(this.#out, 'close');
  }
}
