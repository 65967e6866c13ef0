import { randomUUID } from 'node:crypto';
import { type McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';

/** The header that names a session. */
const SESSION = 'mcp-session-id';

/** Maximum number of sessions; a new one ends the one that was used least recently. */
const MOST_SESSIONS = 64;

/**
 * The sessions of clients that speak a version of the protocol before 2026-07-28 over HTTP. Each has a server of its own, which can ask
 * its client. A session ends when its client ends it, when too many newer ones exist, and with this object.
 */
export class HttpSessions {
  readonly #servers: () => McpServer;
  /** The least recently used session comes first. */
  readonly #open = new Map<string, WebStandardStreamableHTTPServerTransport>();

  constructor(servers: () => McpServer) {
    this.#servers = servers;
  }

  /** Answers a request that begins or continues a session; null for one that does neither. */
  async answer(request: Request, message: unknown): Promise<Response | null> {
    const id = request.headers.get(SESSION);
    if (id === null) return begins(message) ? this.#begin(request, message) : null;
    const transport = this.#open.get(id);
    if (transport === undefined) return sessionUnknown();
    this.#open.delete(id);
    this.#open.set(id, transport);
    return transport.handleRequest(request, { parsedBody: message });
  }

  /** Ends all sessions. */
  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((transport) => transport.close()));
  }

  async #begin(request: Request, message: unknown): Promise<Response> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => this.#add(id, transport),
    });
    await this.#servers().connect(transport);
    const onclose = transport.onclose;
    transport.onclose = () => {
      if (transport.sessionId !== undefined) this.#open.delete(transport.sessionId);
      onclose?.();
    };
    return transport.handleRequest(request, { parsedBody: message });
  }

  async #add(id: string, transport: WebStandardStreamableHTTPServerTransport): Promise<void> {
    this.#open.set(id, transport);
    const [oldest] = this.#open.values();
    if (this.#open.size > MOST_SESSIONS) await oldest?.close();
  }
}

function begins(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'method' in message && message.method === 'initialize';
}

/** The answer that makes a client begin a new session. */
function sessionUnknown(): Response {
  const error = { code: -32001, message: 'there is no such session' };
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 404 });
}
