import { parseAst } from 'rolldown/parseAst';
import { describe, expect, it } from 'vitest';
import { isNode } from '../architecture/source.ts';
import { idsIn, isSection, mentions, planned, plannedSeal, programTitles, requirements, seal, titlesOf } from './ids.ts';

const required = new Set(requirements());
const due = planned();
const named = mentions();
const proved = new Set(named.map(({ id }) => id).filter((id) => required.has(id)));

describe('requirements and tests', () => {
  it('A3-0-1: every requirement is proved by a named test or stands in planned.txt', () => {
    expect([...required].filter((id) => !proved.has(id) && !due.includes(id))).toEqual([]);
  });

  it('no requirement is both proved and planned (run scripts/traceability.mjs --prune)', () => {
    expect(due.filter((id) => proved.has(id))).toEqual([]);
  });

  it('planned.txt only shrinks: its seal fits, and every line of it is a requirement', () => {
    expect(plannedSeal()).toBe(seal(due));
    expect(due.filter((id) => !required.has(id))).toEqual([]);
    expect(due.filter((id, index) => due.indexOf(id) !== index)).toEqual([]);
  });

  it('test titles name no requirement that does not exist', () => {
    expect(named.filter(({ id }) => !required.has(id) && !isSection(id, required))).toEqual([]);
  });

  it('the requirement list has every part of the requirement page and no id twice', () => {
    const ids = requirements();
    const count = (prefix: string): number => ids.filter((id) => id.startsWith(prefix)).length;
    expect(ids.length).toBe(required.size);
    expect({ a3: count('A3-'), al3: count('AL3-'), al1: count('AL1-'), argo: count('ARGO-'), ctx: count('CTX-') }).toEqual(
      COUNTS,
    );
    expect(ids.filter((id) => /^P\d/.test(id))).toEqual(Array.from({ length: 35 }, (_, index) => `P${index + 1}`));
  });
});

/** Counted on the requirement page. */
const COUNTS = { a3: 174, al3: 80, al1: 60, argo: 80, ctx: 36 };

describe('reading titles', () => {
  const titles = (text: string): string[] => {
    const program: unknown = parseAst(text, { lang: 'ts' });
    return isNode(program) ? titlesOf(program) : [];
  };

  it('finds ids of every form, and none in ordinary words', () => {
    expect(idsIn('A3-3.2-6, AL3-5.2-3 and ARGO-3-3a, ARGO-R4; CTX-2B-5. A3-13-E7: P3 P12/P35')).toEqual([
      'A3-3.2-6',
      'AL3-5.2-3',
      'ARGO-3-3a',
      'ARGO-R4',
      'CTX-2B-5',
      'A3-13-E7',
      'P3',
      'P12',
      'P35',
    ]);
    expect(idsIn('P-256, P256, p12, MP3, XA3-1, sha-256, P2x')).toEqual([]);
  });

  it('reads plain, grouped and tabled titles', () => {
    expect(titles("describe('a', () => { it('b', () => {}); it.each([1])('c', () => {}); test.for([1])('d', f) })")).toEqual([
      'a',
      'b',
      'c',
      'd',
    ]);
    expect(titles("it.concurrent('a', f); other('b', f); it(`c`, f)")).toEqual(['a', 'c']);
  });

  it('reads the titles of programs, and no other directive', () => {
    expect(programTitles('#: P1 a\n#: raw\nemit 1\n---\n#: row 2 (P3)\nemit 2\n')).toEqual(['P1 a', 'row 2 (P3)']);
  });

  it('reads the table where a title is computed, and only there', () => {
    expect(titles("for (const [id] of [['CTX-1-1: x']]) it(id, f)")).toContain('CTX-1-1: x');
    expect(titles("it.each([{ id: 'CTX-1-1' }])('$id works', f)")).toContain('CTX-1-1');
    expect(titles("const a = 'CTX-1-1'; it('b', f)")).toEqual(['b']);
  });
});
