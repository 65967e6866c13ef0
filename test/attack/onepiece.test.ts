import { afterEach, expect, it, vi } from 'vitest';
import { userdataOf } from '../../src/loop/ask/handler.ts';
import { decodeJwt } from '../../stdlib-tools/jwt.ts';

afterEach(() => vi.restoreAllMocks());

const keys = Array.from({ length: 300_000 }, (_, index) => `"k${index}":0`).join(',');

it('finding 8: the host does not parse a prompt that is longer than any envelope', () => {
  const parse = vi.spyOn(JSON, 'parse');
  expect(() => userdataOf(`{${keys}}`)).toThrow('the prompt cannot be sent');
  expect(parse).not.toHaveBeenCalled();
});

it('finding 8: the host does not decode a token that no header of HTTP holds', () => {
  const parse = vi.spyOn(JSON, 'parse');
  const part = Buffer.from(`{${keys}}`).toString('base64url');
  expect(() => decodeJwt(`${part}.${part}.`)).toThrow('longer than 65536 characters');
  expect(parse).not.toHaveBeenCalled();
});
