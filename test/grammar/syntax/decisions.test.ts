import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from '../../../grammar/index.ts';
import { decisionsOf } from '../../../grammar/syntax/lookahead.ts';
import { ProgramParser } from '../../../grammar/syntax/program.ts';
import { ROOT } from '../../architecture/source.ts';

describe('the decisions of the grammar, which the build works out', () => {
  const decisions = decisionsOf(new ProgramParser());

  it('are those of an analysed parser, for every token at every place', () => {
    expect(decisions.length).toBeGreaterThan(30);
    expect(decisionsOf(new ProgramParser(JSON.parse(JSON.stringify(decisions))))).toEqual(decisions);
  });

  it('are in what is built, and nothing built works them out', () => {
    const files = globSync('{worker.js,chunks/*.js}', { cwd: join(ROOT, 'dist') }).map((file) => join(ROOT, 'dist', file));
    const texts = files.map((file) => readFileSync(file, 'utf8')).filter((text) => text.includes('lookAheadFuncsCache'));
    expect(texts.length).toBeGreaterThan(1);
    for (const text of texts) expect(text).not.toContain('decisionsOf');
  });

  it('let what is built read and refuse every source as the sources do', async () => {
    const grammar: { readonly parse: typeof parse } = await import(pathToFileURL(join(ROOT, 'dist/src/entries/grammar.js')).href);
    const sources = globSync('{conformance,docs,examples}/**/*.{ns,md,yaml}', { cwd: ROOT }).map((file) =>
      readFileSync(join(ROOT, file), 'utf8'),
    );
    const lines = sources.flatMap((text) => text.split('\n')).map((line) => `command\n${line}\nendcommand\n`);
    const differ = [...sources, ...new Set(lines)].filter(
      (text) => JSON.stringify(grammar.parse(text)) !== JSON.stringify(parse(text)),
    );
    expect(differ).toEqual([]);
  });
});
