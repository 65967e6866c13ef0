import type { Client } from '@modelcontextprotocol/client';
import type { McpCaller } from './exchange.ts';

/** The requests of programs that are under way on the connections to one server. */
export class Underway {
  readonly #requests = new Map<McpCaller, Client>();
  /** Connections on which no request begins any more. */
  readonly #retired = new Set<Client>();

  /** The programs that wait for the server. */
  get callers(): readonly McpCaller[] {
    return [...this.#requests.keys()];
  }

  /** A request of a program is sent over a connection; a later one of the same program may take another. */
  begin(caller: McpCaller, client: Client): void {
    this.#requests.set(caller, client);
  }

  /** A request has ended. The last one on a retired connection closes it. */
  async end(caller: McpCaller, client: Client): Promise<void> {
    if (this.#requests.get(caller) === client) this.#requests.delete(caller);
    if (!this.#retired.has(client) || [...this.#requests.values()].includes(client)) return;
    this.#retired.delete(client);
    await client.close().catch(() => {});
  }

  /** No request begins on a connection any more. Those under way go on: to break them off would leave open what became of them. */
  retire(client: Client): void {
    this.#retired.add(client);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#retired].map((client) => client.close()));
  }
}
