import { z } from 'zod';
import { readPrivate } from '../../files/private.ts';
import { fields, later, type Path } from '../../files/problem.ts';
import type { YamlFile } from '../../tools/index.ts';
import { defined } from '../../wire/defined.ts';
import { anything, checker, checkText, oneOf } from '../../wire/options.ts';
import { messageOf } from '../../wire/unknown.ts';

/**
 * Settings of the tokens for a server over HTTP (OAuth 2.1). Without any of these keys the client registers itself with the authorization
 * server, and a person logs in.
 */
export interface McpAuth {
  /** The issuer of the authorization server. Required with a secret or a key, which only this issuer gets. */
  readonly issuer?: string;
  /** The client's name at the authorization server, if it was registered by hand. */
  readonly clientId?: string;
  /** Secret of a registered client. A configuration file has `{ env: NAME }` or `{ file: path }` in its place. */
  readonly clientSecret?: string | undefined;
  /** PEM (PKCS #8) of the key that signs for the client (`private_key_jwt`), in place of a secret. */
  readonly privateKey?: string;
  /** The algorithm of `privateKey`; `ES256` if absent. */
  readonly algorithm?: string;
  /** Address of a client ID metadata document, which some servers accept instead of a registration. */
  readonly clientMetadataUrl?: string;
  /** The scopes to ask for, separated by spaces; those that the server names if absent. */
  readonly scope?: string;
  /** `client_credentials`: the client gets tokens without a login. */
  readonly grant?: 'authorization_code' | 'client_credentials';
  /** The port of the address to which the browser returns; any free port if absent. */
  readonly redirectPort?: number;
}

/** The check of {@link McpAuth} as an application writes it. What the values mean is checked with the server. */
export const checkAuth = checker<McpAuth>({
  ...{ issuer: checkText, clientId: checkText, clientSecret: checkText, privateKey: checkText, algorithm: checkText },
  ...{
    clientMetadataUrl: checkText,
    scope: checkText,
    grant: oneOf('authorization_code', 'client_credentials'),
    redirectPort: anything,
  },
});

const ALGORITHMS = ['ES256', 'ES384', 'ES512', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'EdDSA'];
/** `auth` of a server in a configuration file. */
export const authForm = later(() => {
  const text = z.string().exactOptional();
  const secret = fields({ env: text, file: text }).exactOptional();
  return fields({
    issuer: text,
    clientId: text,
    clientSecret: secret,
    privateKey: secret,
    algorithm: text,
    clientMetadataUrl: text,
    scope: text,
    grant: z.enum(['authorization_code', 'client_credentials']).exactOptional(),
    redirectPort: z.number().exactOptional(),
  });
});

type Auth = z.infer<ReturnType<typeof authForm>>;
type Secret = NonNullable<Auth['clientSecret']>;

/** Maximum bytes of a file with a secret. */
const SECRET_BYTES = 64 * 1024;

/** `auth` of a server with its secrets, which come from the environment or from private files. Throws `ConfigError`. */
export function readAuth(
  file: YamlFile,
  path: Path,
  { clientSecret, privateKey, ...rest }: Auth,
  environment: Readonly<NodeJS.ProcessEnv>,
): McpAuth {
  const secret = (key: string, from: Secret): string => readSecret(file, [...path, key], from, environment);
  return {
    ...rest,
    ...defined({
      clientSecret: clientSecret && secret('clientSecret', clientSecret),
      privateKey: privateKey && secret('privateKey', privateKey),
    }),
  };
}

function readSecret(file: YamlFile, path: Path, { env, file: name }: Secret, environment: Readonly<NodeJS.ProcessEnv>): string {
  if (env !== undefined && name === undefined) return variable(file, path, env, environment);
  if (env !== undefined || name === undefined) return file.fail(path, "must have either 'env' or 'file'");
  try {
    return readPrivate(name, SECRET_BYTES).toString().trim();
  } catch (error) {
    return file.fail(path, messageOf(error));
  }
}

/** The value of an environment variable that a file names. Throws `ConfigError` when it is not set. */
export function variable(file: YamlFile, path: Path, name: string, environment: Readonly<NodeJS.ProcessEnv>): string {
  return environment[name] ?? file.fail(path, `the environment variable ${name} is not set`);
}

/** What is wrong with the `auth` of a server at `url`; null if nothing is. Never quotes a secret. */
export function problemOfAuth(auth: McpAuth, url: string, headers: Readonly<Record<string, string>>): string | null {
  const { issuer, clientId, clientSecret, privateKey, algorithm, clientMetadataUrl, grant, redirectPort } = auth;
  const secret = clientSecret !== undefined || privateKey !== undefined;
  if (!isSecure(url)) return 'auth needs an https url, because tokens must not be read on the way';
  if (Object.keys(headers).some((name) => name.toLowerCase() === 'authorization'))
    return 'headers has an Authorization, and auth would give another';
  if (issuer !== undefined && !isSecure(issuer)) return 'auth.issuer must be an https address';
  if (secret && issuer === undefined) return 'auth.issuer is missing: it says which server may get the secret of the client';
  if (secret && clientId === undefined) return 'auth.clientId is missing';
  if (clientSecret !== undefined && privateKey !== undefined) return 'auth has both clientSecret and privateKey';
  if (grant === 'client_credentials' && !secret) return 'auth.grant needs clientSecret or privateKey';
  if (privateKey !== undefined && grant !== 'client_credentials') return 'auth.privateKey needs grant: client_credentials';
  if (algorithm !== undefined && !ALGORITHMS.includes(algorithm)) return `auth.algorithm must be one of ${ALGORITHMS.join(', ')}`;
  if (clientMetadataUrl !== undefined) {
    if (clientId !== undefined) return 'auth has both clientId and clientMetadataUrl';
    if (
      !clientMetadataUrl.startsWith('https://') ||
      !URL.canParse(clientMetadataUrl) ||
      new URL(clientMetadataUrl).pathname === '/'
    )
      return 'auth.clientMetadataUrl must be an https address with a path';
  }
  if (redirectPort !== undefined && !(Number.isSafeInteger(redirectPort) && redirectPort >= 1 && redirectPort <= 65_535))
    return 'auth.redirectPort must be a port, 1 to 65535';
  return null;
}

/** Whether a connection is private: https, or a server on this machine. */
export function isSecure(url: string): boolean {
  return URL.canParse(url) && (new URL(url).protocol === 'https:' || (new URL(url).protocol === 'http:' && isLoopback(url)));
}

/** Whether an address names this machine. */
export function isLoopback(url: string): boolean {
  return ['127.0.0.1', '[::1]', 'localhost'].includes(new URL(url).hostname);
}
