import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { productFiles } from '../architecture/imports.ts';
import { ROOT } from '../architecture/source.ts';
import { typeErrors } from './typed.ts';

/** The names that applications use most, each with a complete example in its doc comment. */
const USED_MOST =
  'createRuntime run foresee defineTool ToolError loadPolicy LoopController stream SqliteStore askHandler functionAgent modelAgent openaiAgent PostgresStore ToolBench';

interface Example {
  /** The name that the comment belongs to. */
  readonly name: string;
  readonly code: string;
}

function examplesOf(text: string): Example[] {
  return [...text.matchAll(/\/\*\*(?:(?!\*\/)[\s\S])*@example(?:(?!\*\/)[\s\S])*\*\/\s*([^\n]*)/g)].flatMap(
    ([comment, line = '']) => {
      const [, declared] = /(?:class|function|async(?! function)) (\w+)/.exec(line) ?? [];
      const [name = ''] = declared === undefined ? (/^\w+/.exec(line) ?? []) : [declared];
      const [, code = ''] = /```ts\n([\s\S]*?)\n *\* ```/.exec(comment) ?? [];
      return [{ name, code: code.replace(/^ *\* ?/gm, '') }];
    },
  );
}

const examples = productFiles().flatMap(({ path }) => examplesOf(readFileSync(join(ROOT, path), 'utf8')));

describe('the examples in doc comments', () => {
  it('are there for the names that applications use most', () => {
    const there = new Set(examples.map(({ name }) => name));
    expect(USED_MOST.split(' ').filter((name) => !there.has(name))).toEqual([]);
  });

  it('are programs that compile against the declarations of the package', () => {
    expect(typeErrors(new Map(examples.map(({ name, code }) => [name, code])))).toEqual([]);
  });
});
