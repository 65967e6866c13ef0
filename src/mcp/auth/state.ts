import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { FIRST_ISSUE } from '../../files/check.ts';
import { parsedJson } from '../../files/json.ts';
import { readPrivate, writePrivate } from '../../files/private.ts';
import { ConfigError } from '../../wire/errors.ts';
import { STORED_VERSION } from '../../wire/forms.ts';
import { messageOf } from '../../wire/unknown.ts';

/** Maximum bytes of the file of one login. */
const MAX_BYTES = 256 * 1024;

const text = z.string();
const ISSUED = { issuer: text };

const LOGIN = z.object({
  version: z.literal(STORED_VERSION),
  server: text,
  /** The registration of this client, with its return address. */
  client: z
    .object({
      ...ISSUED,
      redirect: text,
      client_id: text,
      client_secret: text.optional(),
      token_endpoint_auth_method: text.optional(),
    })
    .optional(),
  tokens: z
    .object({
      ...ISSUED,
      access_token: text,
      token_type: text,
      expires_in: z.number().optional(),
      scope: text.optional(),
      refresh_token: text.optional(),
      id_token: text.optional(),
    })
    .optional(),
  /** The server's requests since the login. */
  wanted: z.object({ scope: text.optional(), metadata: text.optional() }).optional(),
});

export type Login = Readonly<z.infer<typeof LOGIN>>;

/** The file of the login to one server. Only this user can read it. */
export class LoginFile {
  readonly path: string;
  readonly #server: string;

  /** `server` is the address; a server of the same name at another address has another file. */
  constructor(folder: string, name: string, server: string) {
    const mark = createHash('sha256').update(server).digest('hex').slice(0, 16);
    this.path = join(folder, `${name}-${mark}.json`);
    this.#server = server;
  }

  /** The login, empty if there is none. Throws {@link ConfigError} (`ERR_CONFIG`) for a file that cannot be used. */
  read(): Login {
    const nothing: Login = { version: STORED_VERSION, server: this.#server };
    let bytes: Buffer;
    try {
      bytes = readPrivate(this.path, MAX_BYTES);
    } catch (error) {
      if (isMissing(error)) return nothing;
      throw new ConfigError(messageOf(error), { cause: error });
    }
    const login = LOGIN.safeParse(parsedJson(bytes.toString()), FIRST_ISSUE);
    if (!login.success || login.data.server !== this.#server)
      throw new ConfigError(`${this.path} is not a login of this release; delete it and log in again`);
    return login.data;
  }

  /** Replaces parts of the login. A part that is undefined is removed. */
  write(parts: Partial<Pick<Login, 'client' | 'tokens' | 'wanted'>>): void {
    const login: Login = { ...this.read(), ...parts };
    const json = `${JSON.stringify(login, null, 2)}\n`;
    if (Buffer.byteLength(json) > MAX_BYTES)
      throw new ConfigError('the answers of the authorization server are too large to be stored');
    writePrivate(this.path, json);
  }

  /** Forgets the login. Says whether there was one. */
  remove(): boolean {
    try {
      rmSync(this.path);
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
