import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeToken } from '../../../src/aeiou/token/format.ts';
import { prepareToken } from '../../../src/aeiou/token/sign.ts';
import { utf8Length } from '../../../src/aeiou/utf8.ts';
import { encodeBase64Url } from '../../../src/crypto/index.ts';
import { codePoint } from '../../codepoint.ts';

describe('UTF-8', () => {
  it('the length of a text is that of its bytes', () => {
    for (const text of ['', 'a', 'é', '€é', '€a', '\u{10000}é', '\u{1f600}\u{10ffff}', '\ud7ff\ue000é'])
      expect(utf8Length(text)).toBe(Buffer.byteLength(text));
    fc.assert(
      fc.property(fc.string({ unit: codePoint }), (text) => utf8Length(text) === Buffer.byteLength(text)),
      { seed: 1 },
    );
  });

  it('a token whose payload is not UTF-8 is malformed', () => {
    const line = `<<<NSMAG:V3:LOOP:${encodeBase64Url(Uint8Array.of(0xff))}.${encodeBase64Url(new Uint8Array(16))}>>>`;
    expect(decodeToken(line)).toMatchObject({ ok: false, message: expect.stringContaining('not valid UTF-8') });
  });
});

describe('a tag', () => {
  it('is bytes, of the length that the algorithm has; a signer that gives another one fails', () => {
    const input = {
      sessionId: 's',
      turnIndex: 1,
      turnNonce: 'n',
      jti: 'j',
      issuedAt: 1,
      ttl: 1,
      payload: { action: 'done' },
    } as const;
    const { seal, tagBytes } = prepareToken(input, 'k', 'Ed25519');
    expect(decodeToken(seal(new Uint8Array(tagBytes)))).toMatchObject({ ok: true });
    for (const tag of [new Uint8Array(tagBytes - 1), new Uint8Array(tagBytes + 1), Array(tagBytes).fill(0) as never])
      expect(() => seal(tag)).toThrow(expect.objectContaining({ code: 'ERR_MAGIC_TOOL_INTERNAL', detail: 'signers' }));
  });
});
