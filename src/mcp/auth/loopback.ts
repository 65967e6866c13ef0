import { ConfigError } from '../../wire/errors.ts';

// An import would load Node's client of HTTP too: 0.08 s of CPU time.
const { createServer } = process.getBuiltinModule('node:http');

/** Maximum bytes of the head of a request. */
const MAX_HEAD = 16 * 1024;
const PATH = '/callback';

/** A server on this machine to which the browser returns after a login. It takes one answer. */
export interface Loopback extends AsyncDisposable {
  readonly url: string;
  /** The parameters of the answer to the login with this `state`. Other requests are refused and do not end the wait. */
  readonly answer: Promise<URLSearchParams>;
}

/**
 * Listens on 127.0.0.1. `port` 0 takes any free port. Resolves with null if the port is taken, and rejects with
 * {@link ConfigError} (`ERR_CONFIG`) if it cannot be used for another reason.
 */
export async function listen(port: number, state: string): Promise<Loopback | null> {
  const { promise: answer, resolve: answered } = Promise.withResolvers<URLSearchParams>();
  const server = createServer({ maxHeaderSize: MAX_HEAD, requestTimeout: 10_000 }, (request, response) => {
    const url = URL.parse(request.url ?? '/', 'http://127.0.0.1');
    const isAnswer = request.method === 'GET' && url?.pathname === PATH && url.searchParams.get('state') === state;
    const said = isAnswer ? 'You can close this page and go back to the terminal.' : 'This is not the login that is under way.';
    response.writeHead(isAnswer ? 200 : 400, {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      connection: 'close',
    });
    response.end(`${said}\n`);
    if (url !== null && isAnswer) answered(url.searchParams);
  });
  server.maxConnections = 16;
  const failed = await new Promise<NodeJS.ErrnoException | null>((resolve) => {
    server.once('error', resolve);
    server.listen(port, '127.0.0.1', () => resolve(null));
  });
  if (failed?.code === 'EADDRINUSE') return null;
  const address = server.address();
  if (failed !== null || address === null || typeof address === 'string')
    throw new ConfigError(`no browser can return to port ${port}: ${failed?.message ?? 'it has no address'}`);
  return {
    url: `http://127.0.0.1:${address.port}${PATH}`,
    answer,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
