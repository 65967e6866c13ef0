import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** An address that stays the same while the worker behind it changes, as that of a load balancer does. */
export class Relay implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #target: number | null = null;

  private constructor() {
    this.#server = createServer((client) => {
      if (this.#target === null) {
        client.destroy();
        return;
      }
      const upstream = connect(this.#target, '127.0.0.1');
      for (const [socket, other] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        this.#sockets.add(socket);
        socket
          .on('error', () => other.destroy())
          .on('close', () => {
            this.#sockets.delete(socket);
            other.destroy();
          });
        socket.pipe(other);
      }
    });
  }

  static async open(): Promise<Relay> {
    const relay = new Relay();
    relay.#server.listen(0, '127.0.0.1');
    await once(relay.#server, 'listening');
    return relay;
  }

  get url(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  }

  /** Leads to another worker from now on, and breaks the connections to the one before. */
  to(port: number): void {
    this.#target = port;
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#target = null;
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
