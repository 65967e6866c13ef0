/** What a worker needs so that a server of Restate can call it. */
import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { SessionObject } from '../../../src/restate/index.ts';

/** Serves a virtual object on a free port of loopback, and resolves with the port. Needs `resolve.mjs`. */
export async function serveObject(object: SessionObject): Promise<number> {
  const name: string = '@restatedev/restate-sdk';
  const { createEndpointHandler } = await import(name);
  const server = createServer(createEndpointHandler({ services: [object], logger: () => {} }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
