import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { RequestError } from './request.ts';

/**
 * Who may use the server: the browser that opened the address with the one-time token. The first request with the token gets a cookie, and
 * the token is dead. A page of another origin, a name that was pointed at this machine, and another user have neither.
 */
export class Access {
  readonly #token = secret();
  readonly #cookie = secret();
  readonly #port: number;
  #used = false;

  constructor(port: number) {
    this.#port = port;
  }

  /** The address to open, once. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}/?token=${this.#token}`;
  }

  /** The cookie for a request that has the token; null for another request. The token is good for one request. */
  exchange(token: string | null): string | null {
    if (token === null || this.#used || !same(token, this.#token)) return null;
    this.#used = true;
    return `${this.#name}=${this.#cookie}; Path=/; HttpOnly; SameSite=Strict`;
  }

  /** Throws {@link RequestError} for a request that does not come from the server's own page. */
  check({ headers }: IncomingMessage): void {
    const hosts = [`127.0.0.1:${this.#port}`, `localhost:${this.#port}`];
    const { host, origin } = headers;
    if (host === undefined || !hosts.includes(host))
      throw new RequestError(403, 'this server answers to 127.0.0.1 and localhost alone');
    if (origin !== undefined && !hosts.some((each) => origin === `http://${each}`))
      throw new RequestError(403, 'this server answers to its own page alone');
    const site = headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin' && site !== 'none')
      throw new RequestError(403, 'this server answers to its own page alone');
  }

  /** Throws {@link RequestError} for a request without the cookie. */
  checkCookie({ headers }: IncomingMessage): void {
    const name = `${this.#name}=`;
    const values = (headers.cookie ?? '').split(';').flatMap((each) => {
      const pair = each.trim();
      return pair.startsWith(name) ? [pair.slice(name.length)] : [];
    });
    if (!values.some((value) => same(value, this.#cookie)))
      throw new RequestError(401, 'open the address that "neuroscript ui" printed; it is good for one browser');
  }

  /** Browsers send a cookie to every port of a host, so each server has a name of its own. */
  get #name(): string {
    return `neuroscript-${this.#port}`;
  }
}

function secret(): string {
  return randomBytes(32).toString('base64url');
}

function same(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}
