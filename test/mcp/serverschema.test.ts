import { describe, expect, it } from 'vitest';
import { boundedCheck, boundedSchema, plainWords } from '../../src/mcp/serverschema.ts';
import type { JsonSchema } from '../../src/tools/index.ts';

/** A schema of one map with this many properties. */
function wide(properties: number): unknown {
  return {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: properties }, (_, index) => [`p${index}`, { type: 'string' }])),
  };
}

/** A schema of lists within lists, the innermost of which is at this depth. */
function deep(depth: number): unknown {
  return depth === 0 ? { type: 'string' } : { type: 'array', items: deep(depth - 1) };
}

describe('the schema of a server is bounded', () => {
  it('to 1000 parts: a part beyond accepts anything', () => {
    // The map itself is a part.
    expect(boundedSchema(wide(998))).toEqual(wide(998));
    expect(boundedSchema(wide(999))).toEqual(wide(999));
    const { properties } = boundedSchema(wide(1000)) as { properties: Record<string, unknown> };
    expect([properties['p998'], properties['p999']]).toEqual([{ type: 'string' }, {}]);
  });

  it('to 1000 keys of a map and choices of a part; any further one accepts anything', () => {
    const { properties } = boundedSchema(wide(5000)) as { properties: object };
    expect(Object.keys(properties)).toHaveLength(1000);
    const { anyOf } = boundedSchema({ anyOf: Array.from({ length: 5000 }, () => ({ type: 'string' })) });
    expect([anyOf?.length, anyOf?.at(-2), anyOf?.at(-1)]).toEqual([1000, { type: 'string' }, {}]);
  });

  it('to different types', () => {
    expect(boundedSchema({ type: ['string', 'object', 'string', 'object'] })).toEqual({ type: ['string', 'object'] });
  });

  it('to 24 levels: a part below accepts anything', () => {
    expect(boundedSchema(deep(24))).toEqual(deep(24));
    expect(JSON.stringify(boundedSchema(deep(25)))).toBe(JSON.stringify(deep(25)).replace('{"type":"string"}', '{}'));
  });

  it('and a size of a list is kept in the form that is enforced', () => {
    expect(boundedSchema({ type: 'array', maxItems: 2, prefixItems: [{}] })).toEqual({ type: 'array', maxItems: 2, items: {} });
  });

  it('to 10,000 characters of JSON a keyword', () => {
    const kept = { const: 'x'.repeat(9998) };
    expect(boundedSchema(kept)).toEqual(kept);
    expect(boundedSchema({ const: 'x'.repeat(9999), type: 'string' })).toEqual({ type: 'string' });
  });

  it('to keywords that are checked in linear time: no pattern, no address; oneOf becomes anyOf', () => {
    expect(
      boundedSchema({
        type: 'string',
        pattern: '(a+)+$',
        $ref: 'https://example.test/x',
        patternProperties: {},
        format: 'email',
      }),
    ).toEqual({
      type: 'string',
    });
    expect(boundedSchema({ oneOf: [{ type: 'number', minimum: 1 }, { pattern: 'a' }] })).toEqual({
      anyOf: [{ type: 'number', minimum: 1 }, {}],
    });
  });

  it('to constraints that are enforced: without a type none is', () => {
    expect(boundedSchema({ minLength: 1, properties: { a: {} }, items: {} })).toEqual({});
  });

  describe('issue 44, finding 11: a reference', () => {
    const $defs = {
      Point: { type: 'object', description: 'a point', properties: { x: { type: 'number' } }, required: ['x'] },
      'a/b': { type: 'string' },
      Alias: { $ref: '#/$defs/Point' },
      Loop: { $ref: '#/$defs/Loop' },
      Tree: { type: 'object', properties: { value: { type: 'string' }, left: { $ref: '#/$defs/Tree' } } },
    };
    const kept = (schema: object) => boundedSchema({ $defs, ...schema });

    it('is replaced by what it names, with the keywords beside it', () => {
      expect(kept({ $ref: '#/$defs/Point' })).toEqual($defs.Point);
      expect(kept({ $ref: '#/$defs/Alias', description: 'another' })).toEqual({ ...$defs.Point, description: 'another' });
      expect(kept({ type: 'array', items: { $ref: '#/$defs/a~1b' } })).toEqual({ type: 'array', items: { type: 'string' } });
      expect(kept({ allOf: [{ $ref: '#/$defs/Point' }], default: null })).toMatchObject({ type: 'object', required: ['x'] });
    });

    it('within itself, to nothing, or to elsewhere accepts anything', () => {
      expect(kept({ $ref: '#/$defs/Tree' })).toEqual({ type: 'object', properties: { value: { type: 'string' }, left: {} } });
      for (const $ref of ['#/$defs/Loop', '#/$defs/None', '#', 'other.json#/x', '#/$defs/constructor'])
        expect(kept({ $ref })).toEqual({});
    });

    it('is checked: an argument of a wrong type is refused', async () => {
      const check = boundedCheck(kept({ type: 'object', properties: { p: { $ref: '#/$defs/Point' } } }), 'the arguments');
      expect((await check.validate({ p: { x: 'one' } })).issues).toHaveLength(1);
      expect((await check.validate({ p: { x: 1 } })).issues).toBeUndefined();
    });

    it('costs no more than 1000 parts, whatever the parts hold', () => {
      const doubled = Object.fromEntries(
        Array.from({ length: 40 }, (_, level) => [
          `L${level}`,
          { type: 'object', properties: { a: { $ref: `#/$defs/L${level + 1}` }, b: { $ref: `#/$defs/L${level + 1}` } } },
        ]),
      );
      const count = (schema: JsonSchema): number =>
        1 + Object.values(schema.properties ?? {}).reduce((sum, each) => sum + count(each), 0);
      expect(count(boundedSchema({ $defs: doubled, $ref: '#/$defs/L0' }))).toBeLessThan(1100);
      const words = 'x'.repeat(1_000_000);
      const junk = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`junk${index}`, index]));
      const big = { type: 'object', ...junk, description: words, default: [words], enum: [words] };
      const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`p${index}`, { $ref: '#/$defs/Big' }]));
      const { properties = {} } = boundedSchema({ $defs: { Big: big }, type: 'object', properties: many });
      expect([Object.keys(properties).length, properties['p5']?.description?.length]).toEqual([1000, 1001]);
    });
  });

  it('in its words to one line of 1000 characters without control characters', () => {
    expect(plainWords(' a\u0007\n\tb\u200b ')).toBe('a b');
    expect(plainWords(`${'x'.repeat(999)}\u{1f600}y`)).toBe(`${'x'.repeat(999)}…`);
    expect([plainWords('x'.repeat(1000)), plainWords('x'.repeat(1001))]).toEqual(['x'.repeat(1000), `${'x'.repeat(1000)}…`]);
    expect(boundedSchema({ description: 'a\nb' })).toEqual({ description: 'a b' });
  });
});

describe('finding 1: the check of a value', () => {
  const items = (schema: JsonSchema) => boundedCheck({ type: 'array', items: schema }, 'an answer');
  const list = (length: number) => Array.from({ length }, () => 'x');

  it('accepts a value that it would take too long, and one that fits', async () => {
    const check = items({ type: 'integer' });
    expect((await check.validate(list(3))).issues).toHaveLength(3);
    expect((await check.validate(list(200_000))).issues).toHaveLength(1);
    expect((await check.validate(list(300_000))).issues).toBeUndefined();
  });

  it('counts the choices that each part of a value meets, and no others', async () => {
    const choices = { anyOf: Array.from({ length: 200 }, (_, index) => ({ const: index })) };
    expect((await items(choices).validate(list(100))).issues).toHaveLength(100);
    expect((await items(choices).validate(list(1000))).issues).toBeUndefined();
    const apart = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`k${index}`, { type: ['string', 'null'] }]));
    const check = boundedCheck(
      { type: 'object', properties: { ...apart, list: { type: 'array', items: { type: 'null' } } } },
      'a',
    );
    expect((await check.validate({ list: list(1000) })).issues).toHaveLength(1000);
  });
});
