import { describe, expect, it } from 'vitest';
import { boundedSchema, plainWords } from '../../src/mcp/serverschema.ts';

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

  it('to keywords that are checked in linear time: no pattern, no reference; oneOf becomes anyOf', () => {
    expect(boundedSchema({ type: 'string', pattern: '(a+)+$', $ref: '#/x', patternProperties: {}, format: 'email' })).toEqual({
      type: 'string',
    });
    expect(boundedSchema({ oneOf: [{ type: 'number', minimum: 1 }, { pattern: 'a' }] })).toEqual({
      anyOf: [{ type: 'number', minimum: 1 }, {}],
    });
  });

  it('to constraints that are enforced: without a type none is', () => {
    expect(boundedSchema({ minLength: 1, properties: { a: {} }, items: {} })).toEqual({});
  });

  it('in its words to one line of 1000 characters without control characters', () => {
    expect(plainWords(' a\u0007\n\tb\u200b ')).toBe('a b');
    expect([plainWords('x'.repeat(1000)), plainWords('x'.repeat(1001))]).toEqual(['x'.repeat(1000), `${'x'.repeat(1000)}…`]);
    expect(boundedSchema({ description: 'a\nb' })).toEqual({ description: 'a b' });
  });
});
