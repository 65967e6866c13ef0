import {
  AuthorizationServerMismatchError,
  type AuthProvider,
  auth,
  ClientCredentialsProvider,
  extractWWWAuthenticateParams,
  type OAuthClientInformationContext,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  PrivateKeyJwtProvider,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { defined } from '../../wire/defined.ts';
import type { McpAuth } from './config.ts';
import { oauthFetch } from './fetch.ts';
import { Secrets } from './secrets.ts';
import type { LoginFile } from './state.ts';

/** A server wants a login that only a person can make. */
export class LoginNeeded extends Error {
  constructor() {
    super('it wants a login');
  }
}

/** The name that a person reads when the authorization server asks for consent. */
const CLIENT_NAME = 'NeuroScript';
/** A placeholder address for requests that no browser follows. */
const NOWHERE = 'http://127.0.0.1/callback';

/** The client's own tokens, for `grant: client_credentials`. They stay in memory; the next process fetches them again. */
export function ownCredentials(config: McpAuth = {}): OAuthClientProvider | undefined {
  const { grant, clientId = '', clientSecret, privateKey, issuer: expectedIssuer = '', scope } = config;
  if (grant !== 'client_credentials') return undefined;
  const client = { clientId, clientName: CLIENT_NAME, expectedIssuer, ...defined({ scope }) };
  if (privateKey === undefined) return new ClientCredentialsProvider({ ...client, clientSecret: clientSecret ?? '' });
  return new PrivateKeyJwtProvider({ ...client, privateKey, algorithm: config.algorithm ?? 'ES256' });
}

/** The parts of a login that are not in its file. */
export interface Interaction {
  readonly redirectUrl: string;
  readonly state: string;
  readonly open: (url: URL) => void;
}

/** The OAuth client of a login that is kept in a file. Without an interaction it uses only the file, and never registers. */
export class LoginProvider implements OAuthClientProvider {
  readonly #file: LoginFile;
  readonly #config: McpAuth;
  readonly #interaction: Interaction | null;
  readonly redirectUrl: string;
  readonly clientMetadata: OAuthClientMetadata;
  readonly clientMetadataUrl?: string;
  readonly saveClientInformation?: (client: StoredOAuthClientInformation, context?: OAuthClientInformationContext) => void;
  #verifier = '';
  #discovery: OAuthDiscoveryState | undefined;

  constructor(file: LoginFile, config: McpAuth, interaction: Interaction | null) {
    this.#file = file;
    this.#config = config;
    this.#interaction = interaction;
    this.redirectUrl = interaction?.redirectUrl ?? NOWHERE;
    this.clientMetadata = {
      client_name: CLIENT_NAME,
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      scope: config.scope,
    };
    if (config.clientMetadataUrl !== undefined) this.clientMetadataUrl = config.clientMetadataUrl;
    if (config.clientId === undefined && interaction !== null)
      this.saveClientInformation = ({ client_id, client_secret, issuer = '', ...more }) =>
        file.write({
          client: {
            ...{ issuer, client_id, client_secret, redirect: this.redirectUrl },
            ...('token_endpoint_auth_method' in more ? { token_endpoint_auth_method: more.token_endpoint_auth_method } : {}),
          },
        });
  }

  state(): string {
    return this.#interaction?.state ?? '';
  }

  clientInformation(context?: OAuthClientInformationContext): StoredOAuthClientInformation | undefined {
    const { clientId, clientSecret, issuer = context?.issuer ?? '' } = this.#config;
    if (context !== undefined && !isSame(issuer, context.issuer))
      throw new Error(`its authorization server is ${context.issuer}, and auth.issuer names another`);
    if (clientId !== undefined) return { client_id: clientId, issuer, ...(clientSecret ? { client_secret: clientSecret } : {}) };
    const { client } = this.#file.read();
    // A login cannot use a registration for another return address.
    if (client === undefined || (this.#interaction !== null && client.redirect !== this.redirectUrl)) return undefined;
    return client;
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.#file.read().tokens;
  }

  saveTokens({ issuer = '', ...tokens }: StoredOAuthTokens): void {
    this.#file.write({ tokens: { ...tokens, issuer }, wanted: undefined });
  }

  redirectToAuthorization(url: URL): void {
    this.#interaction?.open(url);
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }

  /** Kept for one login only, so that a server that moves to another authorization server is noticed. */
  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#interaction === null ? undefined : this.#discovery;
  }

  invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
    if (scope === 'all' || scope === 'tokens') this.#file.write({ tokens: undefined });
    if (scope === 'all' || scope === 'client') this.#file.write({ client: undefined });
  }
}

/**
 * The tokens of a stored login, for a connection. Refreshes them, and rejects with {@link LoginNeeded} when a person must log in; it then
 * stores the server's request for that login.
 */
export class LoginTokens implements AuthProvider {
  readonly #file: LoginFile;
  readonly #config: McpAuth;

  constructor(file: LoginFile, config: McpAuth) {
    this.#file = file;
    this.#config = config;
  }

  async token(): Promise<string | undefined> {
    return this.#file.read().tokens?.access_token;
  }

  async onUnauthorized({ response, serverUrl }: { readonly response: Response; readonly serverUrl: URL }): Promise<void> {
    const provider = new LoginProvider(this.#file, this.#config, null);
    if (provider.tokens()?.refresh_token !== undefined) {
      const { resourceMetadataUrl } = extractWWWAuthenticateParams(response);
      const options = { serverUrl, fetchFn: oauthFetch(serverUrl.href, new Secrets()) };
      try {
        const result = await auth(provider, { ...options, ...defined({ resourceMetadataUrl }) });
        if (result === 'AUTHORIZED') return;
      } catch (error) {
        // The registration or the tokens are no longer valid, or belong to another server.
        const isGone = provider.tokens()?.refresh_token === undefined || provider.clientInformation() === undefined;
        if (!isGone && !(error instanceof AuthorizationServerMismatchError)) throw error;
      }
    }
    this.challenged(response);
    throw new LoginNeeded();
  }

  /** Stores the scope and the metadata that a refusal of the server names. */
  challenged(response: Response): void {
    const { scope, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
    const wanted = defined({ scope, metadata: resourceMetadataUrl?.href });
    if (Object.keys(wanted).length > 0) this.#file.write({ wanted });
  }
}

function isSame(one: string, other: string): boolean {
  const bare = (issuer: string) => (issuer.endsWith('/') ? issuer.slice(0, -1) : issuer);
  return bare(one) === bare(other);
}
