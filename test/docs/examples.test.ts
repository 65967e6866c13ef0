import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRuntime, loadMockTools } from '../../src/entries/index.ts';
import { filesBelow, ROOT } from '../architecture/source.ts';

const blocksOf = (text: string, language: string): string[] =>
  [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, of, code = '']) => (of === language ? [code] : []));

const pages = filesBelow('docs/errors', '.md').flatMap((path) => {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const sources = blocksOf(text, 'neuroscript');
  const code = path.slice('docs/errors/'.length, -'.md'.length);
  return sources.length === 0 ? [] : [{ code, sources, tools: blocksOf(text, 'yaml') }];
});

describe('the programs on the pages of the error codes', () => {
  it('are there for the codes that a plain program can meet', () => {
    expect(pages.length).toBeGreaterThan(15);
  });

  it.each(pages)('$code is what its example ends with', async ({ code, sources, tools }) => {
    await using runtime = await createRuntime({
      tools: tools.flatMap((text) => loadMockTools(text, 'tools.yaml')),
      policy: { allow: ['*'] },
      limits: { fuel: 1_000_000 },
    });
    const named = sources.map((text, index) => ({ name: `example${index + 1}.ns`, text }));
    const { ok, error } = await runtime.interpreter().fork().runRequest({ sources: named });
    expect({ ok, code: error?.code }).toEqual({ ok: false, code });
  });
});
