import { connect, createServer, type Server, type Socket } from 'node:net';

/** What happens to the next statement that has a text. */
export interface Fault {
  readonly text: string;
  /** `request`: the server never sees it. `answer`: the server does it, and its answer is lost. */
  readonly lose: 'request' | 'answer';
  /** Called once, when the connection is cut. */
  readonly after?: () => void;
}

/** Stands between a client and a server, and breaks connections at a chosen moment. */
export class FaultyProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #fault: Fault | null = null;
  #isCut = false;
  #refused = 0;

  private constructor(url: URL) {
    this.#server = createServer((client) => {
      if (this.#isCut) {
        this.#refused += 1;
        client.destroy();
        return;
      }
      const upstream = connect(Number(url.port), url.hostname);
      let losing: Fault | null = null;
      const end = (): void => {
        client.destroy();
        upstream.destroy();
      };
      for (const socket of [client, upstream]) {
        this.#sockets.add(socket);
        socket.on('error', end).on('close', () => {
          this.#sockets.delete(socket);
          end();
        });
      }
      client.on('data', (data: Buffer) => {
        const fault = this.#fault;
        if (fault !== null && data.includes(fault.text)) {
          this.#fault = null;
          losing = fault;
        }
        if (losing?.lose === 'request') {
          end();
          losing.after?.();
        } else upstream.write(data);
      });
      upstream.on('data', (data: Buffer) => {
        if (losing === null) client.write(data);
        else {
          end();
          losing.after?.();
        }
      });
    });
  }

  /** Opens a proxy on a port of its own. */
  static async open(url: string): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(new URL(url));
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** The address of a server, through this proxy. */
  url(of: string): string {
    const address = this.#server.address();
    const url = new URL(of);
    if (typeof address === 'object' && address !== null) url.port = String(address.port);
    return url.href;
  }

  /** Breaks the connection of the next statement with a text. */
  break(fault: Fault): void {
    this.#fault = fault;
  }

  /** Breaks all connections, and refuses new ones until {@link mend}. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Connections that were refused while the proxy was cut. */
  get refused(): number {
    return this.#refused;
  }

  mend(): void {
    this.#isCut = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
