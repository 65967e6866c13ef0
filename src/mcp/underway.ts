import type { Client } from '@modelcontextprotocol/client';
import type { HostContext } from '../context/index.ts';

/** The program on whose behalf a request is made. */
export interface McpCaller {
  readonly signal: AbortSignal;
  /** The host that asks its user. */
  readonly host: HostContext;
}

/** Most questions that a server may put after a request of a program began: as many as one call of the later version allows. */
const MAX_QUESTIONS = 100;

/** The requests of programs that are under way on the connections to one server. */
export class Underway {
  readonly #requests = new Map<McpCaller, Client>();
  /** Connections on which no request begins any more. */
  readonly #retired = new Set<Client>();
  /** Aborted when the last request ends. */
  #over = new AbortController();
  #questions = 0;

  /** A request of a program is sent over a connection; a later one of the same program may take another. */
  begin(caller: McpCaller, client: Client): void {
    if (this.#requests.size === 0) this.#over = new AbortController();
    this.#requests.set(caller, client);
    this.#questions = 0;
  }

  /** A request has ended. The last one on a retired connection closes it. */
  async end(caller: McpCaller, client: Client): Promise<void> {
    if (this.#requests.get(caller) === client) this.#requests.delete(caller);
    if (this.#requests.size === 0) this.#over.abort();
    if (!this.#retired.has(client) || [...this.#requests.values()].includes(client)) return;
    this.#retired.delete(client);
    await client.close().catch(() => {});
  }

  /**
   * Whom a question may be put to that does not say to which request it belongs, until the last request ends. Null if that could be several
   * users, and for a server that has asked too often.
   */
  user(): McpCaller | null {
    const [caller, ...others] = this.#requests.keys();
    if (caller === undefined || others.some(({ host }) => host.stdin !== caller.host.stdin)) return null;
    this.#questions += 1;
    return this.#questions > MAX_QUESTIONS ? null : { host: caller.host, signal: this.#over.signal };
  }

  /** No request begins on a connection any more. Those under way go on: to break them off would leave open what became of them. */
  retire(client: Client): void {
    this.#retired.add(client);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#retired].map((client) => client.close()));
  }
}
