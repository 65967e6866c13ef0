import { rpcErrorOf } from './error.ts';
import { errorLine, Peer, type Streams } from './peer.ts';
import { Service, type ServiceHost } from './service.ts';

/**
 * Serves one client over a pair of streams until it closes them or the signal ends it. Everything that the client began ends with the
 * connection.
 */
export async function serveClient(streams: Streams, host: ServiceHost, signal: AbortSignal): Promise<void> {
  const peer: Peer = new Peer(streams, (name) => service.method(name));
  await using service = new Service(host, peer);
  await peer.serve(signal);
}

/** The line for a client that is not served, because of `error`. */
export function refusalOf(error: Error): string {
  return `${errorLine(null, rpcErrorOf(error))}\n`;
}
