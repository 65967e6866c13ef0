import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBase64Url, encodeBase64Url } from '../../src/aeiou/index.ts';

describe('base64url', () => {
  it('A3-7-5: only the one canonical text of some bytes is decoded', () => {
    expect(decodeBase64Url('AAECAwQFBgcICQoLDA0ODw')).toEqual(Uint8Array.from({ length: 16 }, (_, i) => i));
    const refused = [
      'AAECAwQFBgcICQoLDA0ODx',
      'AAECAwQFBgcICQoLDA0ODw==',
      'AAECAwQFBgc\nICQoLDA0ODw',
      'AAECAwQFBgc*ICQoLDA0ODw',
      '+/+/',
      'A',
      'AAAAA',
      'AB',
      'AAB',
      ' AAA',
      'AAA\u0141',
      'AA\u0000A',
    ];
    expect(refused.map(decodeBase64Url)).toEqual(refused.map(() => null));
  });

  it('agrees with the platform on every byte string, both ways', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const text = Buffer.from(bytes).toString('base64url');
        expect(encodeBase64Url(bytes)).toBe(text);
        expect(decodeBase64Url(text)).toEqual(bytes);
      }),
    );
  });

  it('gives back no text that would not come out the same (threat 32)', () => {
    const letters = fc.constantFrom(...'ABwxyz019-_+/= \n');
    fc.assert(
      fc.property(fc.string({ unit: letters, maxLength: 12 }), (text) => {
        const bytes = decodeBase64Url(text);
        if (bytes !== null) expect(Buffer.from(bytes).toString('base64url')).toBe(text);
        else expect(Buffer.from(Buffer.from(text, 'base64url')).toString('base64url')).not.toBe(text);
      }),
    );
  });
});
