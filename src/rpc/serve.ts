import { Peer, type Streams } from './peer.ts';
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
