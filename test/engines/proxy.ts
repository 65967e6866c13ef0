import { connect, createServer, type Server, type Socket } from 'node:net';

/** What happens to the next statement that has a text. */
export interface Fault {
  readonly text: string;
  /** `request`: the server never sees it. `answer`: the server does it, and its answer is lost. */
  readonly lose: 'request' | 'answer';
  /** Bytes of it that arrive before the connection is cut; 0 when absent. */
  readonly bytes?: number;
  /** Milliseconds after which it arrives; the connection is not cut then. */
  readonly late?: number;
  /** Called once, when the connection is cut. */
  readonly after?: () => void;
}

/** ReadyForQuery outside of a transaction: with these bytes, a connection is handed out. */
const READY = Buffer.from('Z\0\0\0\x05I', 'latin1');
/** What a server or a pooler says when an operator ends a connection. */
const ENDED = fatal('57P01', 'terminating connection due to administrator command');

function fatal(code: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
  const head = Buffer.alloc(5, 'E');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

/** Stands between a client and a server, and breaks connections at a chosen moment. */
export class FaultyProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #fault: Fault | null = null;
  #isCut = false;
  #isHushed = false;
  #refused = 0;
  #endings = 0;

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
        if (this.#isHushed) socket.pause();
        socket.on('error', end).on('close', () => {
          this.#sockets.delete(socket);
          // What was written to the client before arrives first.
          if (!client.writableEnded) end();
        });
      }
      /** Passes on what the fault leaves of the data. */
      const fail = ({ bytes = 0, late, after }: Fault, from: Socket, to: Socket, data: Buffer): void => {
        losing = null;
        if (late !== undefined) {
          from.pause();
          setTimeout(() => {
            if (!to.destroyed) to.write(data);
            from.resume();
          }, late);
          return;
        }
        to.end(data.subarray(0, bytes));
        from.destroy();
        after?.();
      };
      client.on('data', (data: Buffer) => {
        const fault = this.#fault;
        if (fault !== null && data.includes(fault.text)) {
          this.#fault = null;
          losing = fault;
        }
        if (losing?.lose === 'request') fail(losing, client, upstream, data);
        else upstream.write(data);
      });
      upstream.on('data', (data: Buffer) => {
        if (losing !== null) fail(losing, upstream, client, data);
        else if (this.#endings > 0 && data.subarray(-READY.length).equals(READY)) {
          this.#endings -= 1;
          client.end(Buffer.concat([data, ENDED]));
          upstream.destroy();
        } else client.write(data);
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

  /** Ends the next connections that become ready, in the write in which they do, as an operator or a pooler may. */
  endReady(count: number): void {
    this.#endings = count;
  }

  /** Connections that {@link endReady} has still to end. */
  get endings(): number {
    return this.#endings;
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

  /** Passes nothing on until {@link mend}, as a network that loses packets or a server that is stopped. */
  hush(): void {
    this.#isHushed = true;
    for (const socket of this.#sockets) socket.pause();
  }

  mend(): void {
    this.#isCut = false;
    this.#isHushed = false;
    for (const socket of this.#sockets) socket.resume();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
