import { createHash, createHmac, randomUUID } from 'node:crypto';
import { defineTool, type ToolDefinition, ToolError } from '../src/tools/index.ts';
import { NS_CODES } from '../src/wire/codes.ts';
import { checkCallback, checkOptions, type KeysOf } from '../src/wire/options.ts';
import type { Value } from '../src/wire/values.ts';
import { decodeJwt, isJwtAlgorithm, JWT_ALGORITHMS, signJwt, verifyJwt } from './jwt.ts';

/** What {@link cryptoTools} use. */
export interface CryptoToolsOptions {
  /** Makes the ids of `tool.crypto.UUID`; random ones of version 4 when absent. */
  readonly uuid?: () => string;
}

const OPTION_KEYS: KeysOf<CryptoToolsOptions> = { uuid: true };

/** For checksums; the two broken ones are there because files in the world are named by them. */
const HASHES = ['sha256', 'sha384', 'sha512', 'sha1', 'md5'];
const HMACS = ['sha256', 'sha384', 'sha512'];

/**
 * `tool.crypto`: digests, message authentication codes, ids, and JSON Web Tokens with a shared secret. Digests need the grant
 * `crypto:use:hash`; signing a token needs `crypto:sign:jwt` and a trusted context. Throws `ConfigError` (`ERR_CONFIG`).
 */
export function cryptoTools(options: CryptoToolsOptions = {}): readonly ToolDefinition[] {
  checkOptions('the options of the crypto tools', options, OPTION_KEYS);
  checkCallback('uuid', options.uuid);
  const uuid = options.uuid ?? randomUUID;
  return [
    defineTool({
      name: 'tool.crypto.Hash',
      description: `The digest of a text or bytes, as lower-case hexadecimal. Algorithms: ${HASHES.join(', ')}.`,
      example: 'tool.crypto.Hash("hello", "sha256")',
      args: [
        { name: 'input_string', description: 'a text, of which the UTF-8 bytes count, or bytes' },
        { name: 'algorithm', type: 'string', default: 'sha256', description: 'one of those named' },
      ],
      returns: 'string',
      effects: 'none',
      capabilities: ['crypto:use:hash'],
      run: ({ input_string: input, algorithm }) =>
        createHash(known(algorithm, HASHES)).update(bytesOf('input_string', input)).digest('hex'),
    }),
    defineTool({
      name: 'tool.crypto.HMAC',
      description: `The message authentication code of a text or bytes under a key, as hexadecimal. Algorithms: ${HMACS.join(', ')}.`,
      example: 'tool.crypto.HMAC("msg", "key", "sha256")',
      args: [
        { name: 'input_string', description: 'a text, of which the UTF-8 bytes count, or bytes' },
        { name: 'secret_key', description: 'a text or bytes' },
        { name: 'algorithm', type: 'string', default: 'sha256', description: 'one of those named' },
      ],
      returns: 'string',
      effects: 'none',
      capabilities: ['crypto:use:hash'],
      run: ({ input_string: input, secret_key: key, algorithm }) =>
        createHmac(known(algorithm, HMACS), bytesOf('secret_key', key)).update(bytesOf('input_string', input)).digest('hex'),
    }),
    defineTool({
      name: 'tool.crypto.UUID',
      description: 'A new random id, a UUID of version 4.',
      example: 'tool.crypto.UUID()',
      returns: 'string',
      effects: 'read',
      run: () => uuid(),
    }),
    defineTool({
      name: 'tool.crypto.SignJWT',
      description: `A JSON Web Token of the claims, signed with a shared secret. Algorithms: ${JWT_ALGORITHMS.join(', ')}.`,
      example: 'tool.crypto.SignJWT({"sub": "user123"}, "your-secret", "HS256")',
      args: [
        { name: 'claims_map', type: 'map', description: 'what the token says, such as {"sub": "ann", "exp": 1760515200}' },
        { name: 'secret', type: 'string', description: 'the shared secret' },
        { name: 'algorithm', type: 'string', default: 'HS256', description: 'one of those named' },
      ],
      returns: 'string',
      effects: 'none',
      capabilities: ['crypto:sign:jwt'],
      requiresTrust: true,
      run({ claims_map: claims, secret, algorithm }) {
        if (isJwtAlgorithm(algorithm)) return signJwt(claims, secret, algorithm);
        throw unknown(algorithm, JWT_ALGORITHMS);
      },
    }),
    defineTool({
      name: 'tool.crypto.VerifyJWT',
      description:
        'The claims of a JSON Web Token whose signature fits the shared secret and which is valid now; an error otherwise.',
      example: 'tool.crypto.VerifyJWT(token, "your-secret")',
      args: [
        { name: 'token_string', type: 'string', description: 'the token: three parts with dots between' },
        { name: 'secret', type: 'string', description: 'the secret it was signed with' },
      ],
      returns: 'map',
      effects: 'read',
      run: ({ token_string: token, secret }, { turn }) => verifyJwt(token, secret, turn.now() / 1000),
    }),
    defineTool({
      name: 'tool.crypto.DecodeJWT',
      description: 'The claims of a JSON Web Token, not verified: never trust them.',
      example: 'tool.crypto.DecodeJWT(token)',
      args: [{ name: 'token_string', type: 'string', description: 'the token: three parts with dots between' }],
      returns: 'map',
      effects: 'none',
      run: ({ token_string: token }) => decodeJwt(token),
    }),
  ];
}

function bytesOf(name: string, value: Value): string | Uint8Array {
  if (typeof value === 'string' || value instanceof Uint8Array) return value;
  throw new ToolError(NS_CODES.ArgMismatch, `${name} must be a text or bytes`);
}

function known(algorithm: string, all: readonly string[]): string {
  const name = algorithm.toLowerCase();
  if (all.includes(name)) return name;
  throw unknown(algorithm, all);
}

function unknown(algorithm: string, all: readonly string[]): ToolError {
  return new ToolError(NS_CODES.InvalidValue, `the algorithm '${algorithm}' is not supported; use one of ${all.join(', ')}`);
}
