import { describe, expect, it } from 'vitest';
import { fieldAt } from '../../src/guest/fields.ts';
import { Random } from '../fuzz/random.ts';

/** The definition of a field, as a pattern. */
const FIELD = /\{\{\s*([A-Za-z_]\w*(?:\s*(?:\.\s*[A-Za-z_]\w*|\[\s*\d+\s*\])){0,10000})\s*\}\}/y;
const STEP = /[A-Za-z_]\w*|\d+/g;

function byPattern(text: string): ReturnType<typeof fieldAt> {
  FIELD.lastIndex = 0;
  const path = FIELD.exec(text)?.[1];
  return path === undefined ? undefined : { path: path.match(STEP) ?? [], end: FIELD.lastIndex };
}

const PIECES = '{{ }} } { a _b9 é . [ ] 0 12 . [ ]'
  .split(' ')
  .concat([' ', '\n', '\u0085', '\ufeff', '\u2003', '\u180e', '\ud800']);

describe('a field of eval', () => {
  it('is what the pattern says, whatever the text (issue 21, 6)', () => {
    const random = new Random(21);
    let fields = 0;
    for (let round = 0; round < 50_000; round++) {
      const length = random.int(10);
      const inner = Array.from({ length }, () => PIECES[random.int(PIECES.length)] ?? '').join('');
      const text = `{{${round % 2 === 0 ? 'a' : ''}${inner}}}`;
      const expected = byPattern(text);
      if (expected !== undefined) fields++;
      expect({ text, field: fieldAt(text, 0) }).toEqual({ text, field: expected });
    }
    expect(fields).toBeGreaterThan(1000);
  });

  it.each(['{{', '{{a', '{{a}', '{{a.', '{{a[', '{{a[1', '{{a[1]', '{{a[1]}'])('that the text cuts off is none: %s', (text) => {
    expect(fieldAt(text, 0)).toBeUndefined();
  });

  it('has 10,000 keys at most', () => {
    expect(fieldAt(`{{a${'.a'.repeat(10_000)}}}`, 0)?.path).toHaveLength(10_001);
    expect(fieldAt(`{{a${'.a'.repeat(10_001)}}}`, 0)).toBeUndefined();
  });
});
