import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NS_CODES } from '../../src/wire/codes.ts';
import { filesBelow, isNode, literalText, ROOT, sourceOf, walk } from '../architecture/source.ts';

/** Codes of Node.js itself, which the product meets but does not own. */
const NODE_CODES = new Set([
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_INVALID_ARG_VALUE',
  'ERR_INVALID_STATE',
  'ERR_MODULE_NOT_FOUND',
  'ERR_OUT_OF_RANGE',
]);

const pages = filesBelow('docs/errors', '.md').map((path) => ({
  code: path.slice('docs/errors/'.length, -'.md'.length),
  text: readFileSync(join(ROOT, path), 'utf8'),
}));
/** What `check` says stands on one page, a section for each code; test/grammar/lint/docs.test.ts reads it. */
const lints = [...readFileSync(join(ROOT, 'docs/lints.md'), 'utf8').matchAll(/^## (LINT_\w+)/gm)].map(([, code = '']) => code);
const documented = [...pages.map(({ code }) => code), ...lints];

const used = codesInSource();

describe('one page for every stable code', () => {
  it('every numeric code of the language has its page, under its name', () => {
    const titles = new Map(pages.map(({ code, text }) => [code, text.split('\n')[0]]));
    for (const [name, code] of Object.entries(NS_CODES)) expect(titles.get(`NS${code}`)).toBe(`# NS${code}: ${name}`);
  });

  it('every code in the source has a page', () => {
    expect(used.size).toBeGreaterThan(20);
    expect([...used].filter((code) => !documented.includes(code))).toEqual([]);
  });

  it('no page is left over from a code that is gone', () => {
    const known = new Set([...Object.values(NS_CODES).map((code) => `NS${code}`), ...used]);
    expect(documented.filter((code) => !known.has(code))).toEqual([]);
  });

  it.each(pages)('$code: says what, when and what to do, in at most 25 lines', ({ code, text }) => {
    expect(text.startsWith(`# ${code}: `)).toBe(true);
    expect(text).toMatch(/^\*\*When\.\*\* /m);
    expect(text).toMatch(/^\*\*What to do\.\*\* /m);
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(25);
    expect(
      [...text.matchAll(/\b(?:ERR|LINT)_[A-Z_]+[A-Z]|\bNS\d+\b/g)]
        .map(([named]) => named)
        .filter((named) => !documented.includes(named)),
    ).toEqual([]);
  });
});

/** Every `ERR_…` and `LINT_…` that stands in the source as a whole string or as the name of a property. */
function codesInSource(): Set<string> {
  const found = new Set<string>();
  for (const path of ['grammar', 'src', 'stdlib-tools'].flatMap((folder) => filesBelow(folder, '.ts'))) {
    walk(sourceOf(path).program, (node) => {
      for (const text of [literalText(node), isNode(node.key) ? String(node.key.name) : null]) {
        if (text !== null && /^(?:ERR|LINT)_[A-Z0-9_]*[A-Z0-9]$/.test(text) && !NODE_CODES.has(text)) found.add(text);
      }
      return undefined;
    });
  }
  return found;
}
