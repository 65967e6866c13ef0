import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { LibraryError, type SignedUnit, signUnit, UnitError } from '../../src/entries/index.ts';
import { type FakeProgram, fakeRuntime } from './fake.ts';

const SEED = new Uint8Array(32).fill(7);
const OTHER = new Uint8Array(32).fill(8);
const SOURCE = { name: 'base.ns', text: 'func base\n' };
const unit = signUnit(SOURCE, SEED);
const nothing: FakeProgram = async () => undefined;

const root = (signers?: readonly string[]) => {
  const { runtime } = fakeRuntime(nothing);
  return runtime.interpreter({ signers });
};

describe('a signed unit', () => {
  it('is loaded when a trusted signer signed exactly this; it is plain JSON', async () => {
    const interpreter = root([unit.key]);
    await interpreter.load(JSON.parse(JSON.stringify(unit)));
    expect(interpreter.procedures).toEqual(['base']);
    await interpreter.append(signUnit({ name: 'more.ns', text: 'func more\n' }, SEED));
    expect(interpreter.procedures).toEqual(['base', 'more']);
  });

  it('is what any Ed25519 signs: the message is the JSON of format, name and text', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const key = publicKey.export({ format: 'jwk' }).x ?? '';
    const message = Buffer.from(JSON.stringify(['neuroscript-unit-1', SOURCE.name, SOURCE.text]));
    const signature = sign(null, message, privateKey).toString('base64url');
    const foreign: SignedUnit = { unit: 'neuroscript-unit-1', name: SOURCE.name, source: SOURCE.text, key, signature };
    await root([key]).load(foreign);
    await expect(root([unit.key]).load(foreign)).rejects.toThrow('not a trusted signer');
  });

  const flipped = (text: string): string => `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`;
  it.each<[string, object]>([
    ['another text', { ...unit, source: `${unit.source} ` }],
    ['another name', { ...unit, name: 'other.ns' }],
    ['a text moved into the name', { ...unit, name: `${unit.name}${unit.source[0]}`, source: unit.source.slice(1) }],
    ['another signature', { ...unit, signature: flipped(unit.signature) }],
    ['a short signature', { ...unit, signature: unit.signature.slice(0, -2) }],
    ['no signature', { ...unit, signature: '' }],
    ["somebody else's signature", { ...signUnit(SOURCE, OTHER), key: unit.key }],
    ["somebody else's key", signUnit(SOURCE, OTHER)],
    ['another format', { ...unit, unit: 'neuroscript-unit-2' }],
    ['a text that is none', { ...unit, source: 1 }],
    ['nothing', {}],
  ])('with %s is refused: NS99901, and nothing changes', async (_what, changed) => {
    const interpreter = root([unit.key]);
    await interpreter.load(unit);
    for (const load of [interpreter.load(changed as never), interpreter.append(changed as never)])
      await expect(load).rejects.toMatchObject({ name: 'UnitError', code: 'NS99901' });
    expect(interpreter.procedures).toEqual(['base']);
  });

  it('is the only thing that is loaded where signers are named, and nothing where none is', async () => {
    await expect(root([unit.key]).load(SOURCE.text)).rejects.toThrow('only signed units are loaded here');
    await expect(root([]).load(unit)).rejects.toThrow(UnitError);
    await expect(root().load(unit)).rejects.toThrow('trusts no signer');
    await root().load(SOURCE.text);
  });

  it('still has to be a library', async () => {
    await expect(root([unit.key]).load(signUnit({ name: 'bad.ns', text: 'oops' }, SEED))).rejects.toThrow(LibraryError);
  });

  it('cannot be trusted to a key with which anything verifies', () => {
    const small = Buffer.alloc(32);
    small[0] = 1;
    for (const [key, why] of [
      [small.toString('base64url'), 'small_order'],
      ['AAAA', '32 bytes'],
      ['', '32 bytes'],
      [`${unit.key}=`, '32 bytes'],
    ] as const)
      expect(() => root([key])).toThrow(why);
    expect(() => root('x' as never)).toThrow('signers must be a list');
    expect(() => signUnit(SOURCE, new Uint8Array(31))).toThrow('must have 32 bytes');
    expect(() => signUnit({ name: 1, text: '' } as never, SEED)).toThrow('name of a unit');
  });
});
