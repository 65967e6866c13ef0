import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { cryptoTools } from '../../stdlib-tools/index.ts';
import { ALL, emitted, values } from './call.ts';

const TRUSTED = { ...ALL, context: 'config' } as const;
const tools = cryptoTools({ uuid: () => '3f8a3a1e-3c9d-4d4e-9f55-2f6d3a6b1c00' });

async function trusted(...calls: string[]): Promise<readonly unknown[]> {
  const [result] = await emitted(tools, calls, { policy: TRUSTED, clock: () => 2_000_000_000_000 });
  return [...(result?.values ?? []), ...(result?.error == null ? [] : [result.error.message])];
}

/** A token made by hand, not by the code under test. */
function token(header: object, claims: unknown, secret: string): string {
  return signed(part(JSON.stringify(header)), part(JSON.stringify(claims)), secret);
}
const part = (text: string): string => Buffer.from(text).toString('base64url');
const signed = (header: string, claims: string, secret = 's'): string =>
  `${header}.${claims}.${createHmac('sha256', secret).update(`${header}.${claims}`).digest('base64url')}`;
const HS256 = part('{"alg":"HS256"}');

describe('tool.crypto', () => {
  // The vectors of FIPS 180-4 and RFC 4231 (test case 2).
  it('digests and authenticates texts and bytes', async () => {
    expect(
      await values(
        tools,
        'tool.crypto.Hash("abc", "sha256")',
        'tool.crypto.Hash("abc")',
        'tool.crypto.Hash("", "MD5")',
        'tool.crypto.HMAC("what do ya want for nothing?", "Jefe", "sha256")',
        'tool.crypto.UUID()',
      ),
    ).toEqual([
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
      'd41d8cd98f00b204e9800998ecf8427e',
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
      '3f8a3a1e-3c9d-4d4e-9f55-2f6d3a6b1c00',
    ]);
  });

  it('gives a new random id at every call', async () => {
    const ids = await values(cryptoTools(), 'tool.crypto.UUID()', 'tool.crypto.UUID()');
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it.each([
    ['tool.crypto.Hash("a", "crc32")', 'NS41'],
    ['tool.crypto.HMAC("a", "k", "md5")', 'NS41'],
    ['tool.crypto.Hash([1], "sha256")', 'NS4'],
    ['tool.crypto.HMAC("a", nil)', 'NS4'],
    ['tool.crypto.DecodeJWT("a.b")', 'NS41'],
    ['tool.crypto.DecodeJWT("!.!.!")', 'NS41'],
    ['tool.crypto.DecodeJWT("W10.W10.")', 'NS41'],
  ])('%s is refused', async (call, code) => {
    expect(await values(tools, call)).toEqual([code]);
  });

  it('signs tokens only in a trusted context that was granted it, and verifies its own', async () => {
    const sign = 'tool.crypto.SignJWT({"sub": "u", "n": [1, nil]}, "s")';
    const [normal] = await emitted(tools, [sign]);
    const [ungranted] = await emitted(tools, [sign], { policy: { ...TRUSTED, grants: ['crypto:use:hash'] } });
    expect([normal?.error?.code, ungranted?.error?.code]).toEqual(['NS1003', 'NS1003']);
    expect(await trusted(sign)).toEqual([token({ alg: 'HS256', typ: 'JWT' }, { sub: 'u', n: [1, null] }, 's')]);
    for (const algorithm of ['HS256', 'HS384', 'HS512'])
      expect(await trusted(`tool.crypto.VerifyJWT(tool.crypto.SignJWT({"__proto__": 1}, "s", "${algorithm}"), "s")`)).toEqual([
        JSON.parse('{"__proto__":1}'),
      ]);
    expect(await trusted('tool.crypto.SignJWT({}, "s", "none")')).toEqual([expect.stringContaining("'none' is not supported")]);
  });

  it.each([
    ['a wrong secret', token({ alg: 'HS256' }, {}, 'other'), 'the signature is wrong'],
    ['no signature', token({ alg: 'HS256' }, {}, 's').replace(/[^.]*$/, ''), 'the signature is wrong'],
    ['a signature that is written in another way', `${token({ alg: 'HS256' }, {}, 's')}!`, 'the signature is not base64url'],
    ['the algorithm none', token({ alg: 'none' }, {}, 's'), 'its algorithm is not one of'],
    ['an algorithm of another kind', token({ alg: 'RS256' }, {}, 's'), 'its algorithm is not one of'],
    ['an end in the past', token({ alg: 'HS256' }, { exp: 2e9 }, 's'), 'it has expired'],
    ['an end that is no number', token({ alg: 'HS256' }, { exp: '9e9' }, 's'), 'its exp is not a number'],
    ['an end that is null', token({ alg: 'HS256' }, { exp: null }, 's'), 'its exp is not a number'],
    ['a begin that is a boolean', token({ alg: 'HS256' }, { nbf: false }, 's'), 'its nbf is not a number'],
    ['a time of issue that is a text', token({ alg: 'HS256' }, { iat: '1' }, 's'), 'its iat is not a number'],
    ['an end beyond all numbers', signed(HS256, part('{"exp":1e400}')), 'a number is too large'],
    ['a claim beyond all numbers', signed(HS256, part('{"a":[{"b":-1e999}]}')), 'a number is too large'],
    ['an unknown extension', token({ alg: 'HS256', crit: ['x'], x: 1 }, {}, 's'), 'its header demands extensions'],
    ['no extension in the list', token({ alg: 'HS256', crit: [] }, {}, 's'), 'its header demands extensions'],
    ['a list of extensions that is none', token({ alg: 'HS256', crit: 'exp' }, {}, 's'), 'its header demands extensions'],
    ['no list of extensions', token({ alg: 'HS256', crit: null }, {}, 's'), 'its header demands extensions'],
    ['claims that are not encoded', token({ alg: 'HS256', crit: ['b64'], b64: false }, {}, 's'), 'its header demands extensions'],
    ['claims that say so without need', token({ alg: 'HS256', b64: false }, {}, 's'), 'its claims are not encoded'],
    ['an odd encoding', token({ alg: 'HS256', b64: 'yes' }, {}, 's'), 'its claims are not encoded'],
    ['a blank before it', ` ${token({ alg: 'HS256' }, {}, 's')}`, 'a part is not base64url'],
    ['a blank behind it', `${token({ alg: 'HS256' }, {}, 's')} `, 'the signature is not base64url'],
    ['bits left over in the claims', signed(HS256, 'e31'), 'a part is not base64url'],
    ['padding', signed(`${HS256}=`, part('{}')), 'a part is not base64url'],
    ['a mark of byte order', signed(HS256, part('\ufeff{}')), 'a part is not JSON'],
    ['an algorithm in other letters', token({ alg: 'hs256' }, {}, 's'), 'its algorithm is not one of'],
    ['no algorithm', token({}, {}, 's'), 'its algorithm is not one of'],
    ['a begin in the future', token({ alg: 'HS256' }, { nbf: 2e9 + 1 }, 's'), 'it is not valid yet'],
    ['claims that are no object', token({ alg: 'HS256' }, [1], 's'), 'a part is not a JSON object'],
  ])('VerifyJWT refuses a token with %s', async (_, given, problem) => {
    expect(await trusted(`tool.crypto.VerifyJWT("${given}", "s")`)).toEqual([expect.stringContaining(problem)]);
  });

  it('an empty secret signs and verifies nothing', async () => {
    const empty = [expect.stringContaining('the secret is empty')];
    expect(await trusted(`tool.crypto.VerifyJWT("${token({ alg: 'HS256' }, {}, '')}", "")`)).toEqual(empty);
    expect(await trusted('tool.crypto.SignJWT({}, "")')).toEqual(empty);
  });

  it('VerifyJWT accepts a token that is valid now, and DecodeJWT reads any', async () => {
    const good = token({ alg: 'HS256' }, { exp: 2e9 + 1, nbf: 2e9, sub: 'ü' }, 's');
    expect(await trusted(`tool.crypto.VerifyJWT("${good}", "s")`)).toEqual([{ exp: 2e9 + 1, nbf: 2e9, sub: 'ü' }]);
    expect(await trusted(`tool.crypto.DecodeJWT("${good}")`)).toEqual([{ exp: 2e9 + 1, nbf: 2e9, sub: 'ü' }]);
  });
});
