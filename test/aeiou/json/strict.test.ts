import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonError, type JsonValue, parseStrict } from '../../../src/aeiou/index.ts';
import { thrownBy } from '../kit.ts';

const INTEGERS = { numbers: 'integers', padding: false } as const;
const DOCUMENT = { numbers: 'doubles', padding: true } as const;

function fault(text: string | Uint8Array, options: typeof INTEGERS | typeof DOCUMENT = INTEGERS): string {
  const error = thrownBy(() => parseStrict(text, options));
  expect(error).toBeInstanceOf(JsonError);
  return error instanceof JsonError ? error.detail : '';
}

/** A copy with ordinary prototypes, for comparison: objects of the parser have none. */
function plain(value: JsonValue): unknown {
  return JSON.parse(JSON.stringify(value));
}

describe('strict JSON', () => {
  it('says at which offset of the text it stopped, and shows the number that it refused', () => {
    const options = { numbers: 'integers', padding: false } as const;
    expect(thrownBy(() => parseStrict('[1,}', options))).toMatchObject({ offset: 3 });
    expect(thrownBy(() => parseStrict('[9007199254740993]', options))).toMatchObject({
      message: expect.stringContaining('the number 9007199254740993 is'),
    });
  });

  it('takes fractions and surrounding white space when no options are given, as in USERDATA', () => {
    expect(plain(parseStrict(' {"a":1.5}\n'))).toEqual({ a: 1.5 });
    expect(plain(parseStrict(' 1.5', { numbers: 'doubles' }))).toBe(1.5);
    expect(thrownBy(() => parseStrict(' 1', { padding: false }))).toMatchObject({ detail: 'syntax' });
    expect(thrownBy(() => parseStrict(' 1.5', { numbers: 'integers' }))).toMatchObject({ detail: 'number' });
  });

  it('refuses duplicate names at any depth, also when one is escaped (threat 33)', () => {
    expect(
      ['{"a":1,"a":1}', '{"a":1,"\\u0061":2}', '[{"x":{"b":[],"b":[]}}]', '{"__proto__":1,"__proto__":2}'].map((t) => fault(t)),
    ).toEqual(['duplicate', 'duplicate', 'duplicate', 'duplicate']);
  });

  it.each([
    '',
    ' ',
    '{"a":1,}',
    '[1,]',
    '[,1]',
    '{a:1}',
    "{'a':1}",
    '{"a" 1}',
    '// x\n1',
    '/**/1',
    ' 1',
    '1 ',
    '\n1',
    '\uFEFF1',
    '1\u0000',
    '"a\u0000b"',
    '"a\nb"',
    '"\\x41"',
    '"\\u12"',
    '"\\u12G4"',
    '"abc',
    '"abc\\',
    '{}{}',
    '1 2',
    '[1]]',
    '{"a":1',
    '[1',
    'tru',
    'True',
    'nul',
    'undefined',
    'NaN',
    'Infinity',
    '+1',
    '01',
    '-01',
    '-',
    '0x1',
    '1_000',
    '.5',
    '--1',
  ])('refuses %j as no JSON', (text) => {
    expect(fault(text)).toBe('syntax');
  });

  it('A3-6.3-3: where integers are wanted, no literal with fraction or exponent passes, whatever its value', () => {
    expect(['1.5', '1.0', '1e2', '1E2', '-0.0', '1e-1', '[1.0]'].map((text) => fault(text))).toEqual(Array(7).fill('number'));
    expect(['1.', '1.e2', '1e'].map((text) => fault(text))).toEqual(['syntax', 'syntax', 'syntax']);
  });

  it('A3-13-J3: integers beyond 2^53-1 are refused, not rounded; those up to it pass', () => {
    for (const text of ['0', '1', '-1', '9007199254740991', '-9007199254740991'])
      expect(parseStrict(text, INTEGERS)).toBe(Number(text));
    const beyond = [
      '9007199254740993',
      '-9007199254740993',
      '9223372036854775807',
      '1000000000000000000000',
      `1${'0'.repeat(400)}`,
    ];
    for (const text of beyond) expect([fault(text), fault(text, DOCUMENT)]).toEqual(['number', 'number']);
    for (const text of ['9007199254740992', '-9007199254740992', '295147905179352830000']) {
      expect(fault(text)).toBe('number');
      expect(parseStrict(text, DOCUMENT)).toBe(Number(text));
    }
  });

  it('lets a document have fractions, exponents and space around it', () => {
    expect(plain(parseStrict(' \r\n\t{ "a" : [ 1.5 , 1e3, -2E-1 ] }\n', DOCUMENT))).toEqual({ a: [1.5, 1000, -0.2] });
    expect(fault('1e400', DOCUMENT)).toBe('number');
  });

  it('refuses what is no UTF-8 and lone surrogates, in any spelling', () => {
    for (const bytes of [
      [0x22, 0xc3, 0x28, 0x22],
      [0x22, 0xc0, 0xaf, 0x22],
      [0x22, 0xed, 0xa0, 0x80, 0x22],
    ])
      expect(fault(Uint8Array.from(bytes))).toBe('encoding');
    expect(['"\ud800"', '"\\ud800"', '"\\udc00x"', '{"\\ud800":1}', '"\\udc00\\ud800"'].map((text) => fault(text))).toEqual(
      Array(5).fill('surrogate'),
    );
    expect(parseStrict('"\\ud83d\\ude00 \\u00e9\\/\\b\\f\\n\\r\\t\\"\\\\"', INTEGERS)).toBe('😀 é/\b\f\n\r\t"\\');
  });

  it('refuses more than 32 containers within each other, long before the stack ends (threat 35)', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(plain(parseStrict(nested(32), INTEGERS))).toEqual(JSON.parse(nested(32)));
    expect(fault(nested(33))).toBe('depth');
    expect(fault('{"a":'.repeat(10_000))).toBe('depth');
  });

  it('keeps __proto__, constructor and toString as names like any other, and pollutes nothing', () => {
    const value = parseStrict('{"__proto__":{"polluted":1},"constructor":2,"toString":3}', INTEGERS);
    expect(Object.keys(value ?? {})).toEqual(['__proto__', 'constructor', 'toString']);
    expect(Object.getPrototypeOf(value)).toBeNull();
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  it('gives frozen values', () => {
    const list = parseStrict('[{"b":1}]', INTEGERS);
    expect(Object.isFrozen(list)).toBe(true);
    expect(Array.isArray(list) && list.every((item) => Object.isFrozen(item))).toBe(true);
  });

  it('reads whatever JSON.stringify writes of plain data', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6, stringUnit: 'grapheme' }), (value) => {
        const text = JSON.stringify(value);
        expect(plain(parseStrict(text, DOCUMENT))).toEqual(JSON.parse(text));
      }),
    );
  });

  it('answers any bytes with a value or a JsonError', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc
        .string({ unit: fc.constantFrom(...'{}[]",:\\u0019.eE+-truefalsn "'), maxLength: 40 })
        .map((text) => new TextEncoder().encode(text)),
    );
    fc.assert(
      fc.property(bytes, (input) => {
        let ours: JsonValue;
        try {
          ours = parseStrict(input, DOCUMENT);
        } catch (error) {
          expect(error).toBeInstanceOf(JsonError);
          return;
        }
        expect(plain(ours)).toEqual(plain(JSON.parse(new TextDecoder().decode(input))));
      }),
      { numRuns: 2000 },
    );
  });
});
