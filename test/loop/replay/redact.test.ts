import { describe, expect, it } from 'vitest';
import { Redaction } from '../../../src/loop/index.ts';

const GONE = '[redacted]';
const clean = (rules: ConstructorParameters<typeof Redaction>[0], value: unknown) => new Redaction(rules).clean(value);

describe('what redaction leaves of', () => {
  it('a value with quotes and line feeds is nothing, however often it stands as JSON within JSON', () => {
    const secret = 'a "quoted"\nsecret\\';
    const forms = [secret];
    for (let level = 0; level < 3; level++) forms.push(JSON.stringify({ k: forms.at(-1) }));
    for (const form of forms) expect(clean({ values: [secret] }, `x ${form} y`)).not.toContain('secret');
  });

  it('a value that is the key of a map is nothing; the fields of a record keep their names', () => {
    const entry = { kind: 'tool', args: [{ 'for Jane Doe': 1, kind: { 'Jane Doe': 2 } }] };
    expect(clean({ values: ['Jane Doe', 'args', 'kind'] }, entry)).toEqual({
      kind: 'tool',
      args: [{ [`for ${GONE}`]: 1, [GONE]: { [GONE]: 2 } }],
    });
  });

  it.each([
    ['{"password":{"a":["hunter}"]},"x":1}', '{"password":"[redacted]","x":1}'],
    ['{"password": ["hunter",\n "two"], "x":1}', '{"password": "[redacted]", "x":1}'],
    ['{"PassWord":"a\\"b","x":1}', '{"PassWord":"[redacted]","x":1}'],
    ['"password": -1.5e3, "password":true', '"password": "[redacted]", "password":"[redacted]"'],
    ['"password": "hunter\nnext', '"password": "[redacted]"\nnext'],
    ['"password": [1\n"password": [2\nnext', '"password": "[redacted]"\n"password": "[redacted]"\nnext'],
    ['{"password": name}', '{"password": name}'],
  ])('the values of a key in the text %j', (text, left) => {
    expect(clean({ keys: ['password'] }, text)).toBe(left);
  });

  it('the values of a key in JSON within JSON is JSON still', () => {
    const nested = (password: unknown) => JSON.stringify({ a: JSON.stringify({ b: JSON.stringify({ password, z: 1 }) }) });
    expect(clean({ keys: ['password'] }, nested(['hun"ter\\']))).toBe(nested(GONE));
    expect(clean({ keys: ['password'] }, nested('hun"ter\\'))).toBe(nested(GONE));
  });

  it('a long text that is made to take long: it does not', () => {
    for (const part of ['"password": [\n', '"password": "x\n', '"password":{"', '\\', '"password":'])
      expect(clean({ keys: ['password'] }, part.repeat(100_000))).toBeTypeOf('string');
  });
});
