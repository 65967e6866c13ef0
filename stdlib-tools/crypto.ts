import { createHash, createHmac, randomUUID } from 'node:crypto';
import { defineStandard, type ToolDefinition, ToolError } from '../src/tools/index.ts';
import { NS_CODES } from '../src/wire/codes.ts';
import { checker, checkFunction } from '../src/wire/options.ts';
import type { Value } from '../src/wire/values.ts';
import { decodeJwt, isJwtAlgorithm, JWT_ALGORITHMS, signJwt, verifyJwt } from './jwt.ts';

/** Options of {@link cryptoTools}. */
export interface CryptoToolsOptions {
  /** Makes the ids of `tool.crypto.UUID`; random UUIDs of version 4 if absent. */
  readonly uuid?: () => string;
}

const checkCryptoOptions = checker<CryptoToolsOptions>({ uuid: checkFunction });

/** SHA-1 and MD5 are broken; they are only for checksums of existing files. */
const HASHES = ['sha256', 'sha384', 'sha512', 'sha1', 'md5'];
const HMACS = ['sha256', 'sha384', 'sha512'];

/**
 * `tool.crypto`: digests, message authentication codes, ids, and JSON Web Tokens with a shared secret. Digests need the grant
 * `crypto:use:hash`; signing a token needs `crypto:sign:jwt` and a trusted context. Throws `ConfigError` (`ERR_CONFIG`).
 */
export function cryptoTools(options: CryptoToolsOptions = {}): readonly ToolDefinition[] {
  checkCryptoOptions('the options of the crypto tools', options);
  const uuid = options.uuid ?? randomUUID;
  return [
    defineStandard({
      name: 'tool.crypto.Hash',
      description: `Computes a hash of a string or bytes, as lower-case hexadecimal. Algorithms: ${HASHES.join(', ')}.`,
      example: 'tool.crypto.Hash("hello", "sha256")',
      args: [
        { name: 'input_string', description: 'bytes, or a string, which counts as its UTF-8 bytes' },
        { name: 'algorithm', type: 'string', default: 'sha256', description: 'one of the algorithms named above' },
      ],
      returns: 'string',
      effects: 'none',
      capabilities: ['crypto:use:hash'],
      run: ({ input_string: input, algorithm }) =>
        createHash(known(algorithm, HASHES)).update(bytesOf('input_string', input)).digest('hex'),
    }),
    defineStandard({
      name: 'tool.crypto.HMAC',
      description: `Computes an HMAC of a string or bytes with a secret key, as lower-case hexadecimal. Algorithms: ${HMACS.join(', ')}.`,
      example: 'tool.crypto.HMAC("msg", "key", "sha256")',
      args: [
        { name: 'input_string', description: 'bytes, or a string, which counts as its UTF-8 bytes' },
        { name: 'secret_key', description: 'the key: a string or bytes' },
        { name: 'algorithm', type: 'string', default: 'sha256', description: 'one of the algorithms named above' },
      ],
      returns: 'string',
      effects: 'none',
      capabilities: ['crypto:use:hash'],
      run: ({ input_string: input, secret_key: key, algorithm }) =>
        createHmac(known(algorithm, HMACS), bytesOf('secret_key', key)).update(bytesOf('input_string', input)).digest('hex'),
    }),
    defineStandard({
      name: 'tool.crypto.UUID',
      description: 'Returns a new random UUID (version 4).',
      example: 'tool.crypto.UUID()',
      returns: 'string',
      effects: 'read',
      run: () => uuid(),
    }),
    defineStandard({
      name: 'tool.crypto.SignJWT',
      description: `Signs claims with a shared secret and returns the JSON Web Token. Algorithms: ${JWT_ALGORITHMS.join(', ')}.`,
      example: 'tool.crypto.SignJWT({"sub": "user123"}, "your-secret", "HS256")',
      args: [
        { name: 'claims_map', type: 'map', description: 'the claims, such as {"sub": "ann", "exp": 1760515200}' },
        { name: 'secret', type: 'string', description: 'the shared secret' },
        { name: 'algorithm', type: 'string', default: 'HS256', description: 'one of the algorithms named above' },
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
    defineStandard({
      name: 'tool.crypto.VerifyJWT',
      description:
        'Verifies a JSON Web Token and returns its claims. Fails with code 41 if the signature is wrong or the token is not valid now.',
      example: 'tool.crypto.VerifyJWT(token, "your-secret")',
      args: [
        { name: 'token_string', type: 'string', description: 'the token: three parts, separated by dots' },
        { name: 'secret', type: 'string', description: 'the secret that signed the token' },
      ],
      returns: 'map',
      effects: 'read',
      run: ({ token_string: token, secret }, { turn }) => verifyJwt(token, secret, turn.now() / 1000),
    }),
    defineStandard({
      name: 'tool.crypto.DecodeJWT',
      description: 'Returns the claims of a JSON Web Token without verifying it. Do not trust them.',
      example: 'tool.crypto.DecodeJWT(token)',
      args: [{ name: 'token_string', type: 'string', description: 'the token: three parts, separated by dots' }],
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
