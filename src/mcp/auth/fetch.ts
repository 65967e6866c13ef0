import { parsedJson } from '../../files/json.ts';
import { isRecord } from '../../wire/unknown.ts';
import { isLoopback, isSecure } from './config.ts';
import type { Secrets } from './secrets.ts';

/** Maximum bytes of one answer of an authorization server. */
const MAX_BYTES = 256 * 1024;
/** Time limit in milliseconds of one request to an authorization server. */
const TIMEOUT_MS = 15_000;

/** The secret fields of requests and answers. */
const SECRET_FIELDS = [
  'access_token',
  'refresh_token',
  'client_secret',
  'registration_access_token',
  'code',
  'code_verifier',
  'client_assertion',
  'assertion',
  'subject_token',
];

/** As `fetch`. The type of the protocol's library. */
export type Fetch = (address: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * A `fetch` for the requests of OAuth: to the metadata that a server names and to its authorization server. It refuses addresses that are
 * not https; only for a server on this machine, it allows this machine. It bounds the size and the time of an answer. It adds secrets
 * that it sends or receives to `secrets`, and removes them from descriptions of errors. The library follows at most five redirects within
 * one origin.
 */
export function oauthFetch(server: string, secrets: Secrets): Fetch {
  return async (address, init) => {
    const url = String(address);
    if (!isSecure(url) || (isLoopback(url) && !isLoopback(server)))
      throw new Error(`a request to ${new URL(url).origin} is refused: a login must use https and a remote address`);
    remember(secrets, init);
    const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(init?.signal ? [init.signal] : [])]);
    const response = await fetch(url, { ...init, redirect: 'manual', signal });
    const text = await boundedText(response);
    const answer = parsedJson(text);
    const json = isRecord(answer) ? answer : null;
    for (const field of SECRET_FIELDS) if (typeof json?.[field] === 'string') secrets.add(json[field]);
    const { status, statusText, headers } = response;
    const body = response.ok ? text : explained(json, status, secrets);
    return new Response(status === 204 || status === 304 ? null : body, { status, statusText, headers });
  };
}

async function boundedText(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.byteLength;
    if (bytes > MAX_BYTES) throw new Error(`an answer of the authorization server has more than ${MAX_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/** An OAuth error in one bounded line, which the library prints and throws. */
function explained(json: Readonly<Record<string, unknown>> | null, status: number, secrets: Secrets): string {
  const { error, error_description: words } = json ?? {};
  return JSON.stringify({
    error: typeof error === 'string' ? secrets.clean(error) : 'server_error',
    error_description: typeof words === 'string' ? secrets.clean(words) : `the server answered with status ${status}`,
  });
}

function remember(secrets: Secrets, init: RequestInit | undefined): void {
  const authorization = new Headers(init?.headers).get('authorization');
  if (authorization !== null) secrets.add(authorization);
  if (!(init?.body instanceof URLSearchParams)) return;
  for (const field of SECRET_FIELDS) for (const value of init.body.getAll(field)) secrets.add(value);
}
