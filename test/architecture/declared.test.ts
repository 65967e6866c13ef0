import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PURE_TOOLS } from '../../src/wire/pure/tools.ts';
import { productFiles } from './imports.ts';
import { ESCAPED, literalText, ROOT, walk } from './source.ts';

const declared = Object.entries(PURE_TOOLS).flatMap(([group, tools]) =>
  Object.entries(tools).map(([name, tool]) => ({ group, name, ...tool })),
);

describe('a pure tool stands in two places', () => {
  it('its name is written once in its declaration and once at its implementation, nowhere else', () => {
    const names = new Set(declared.map(({ name }) => name.toLowerCase()));
    const places = new Map<string, string[]>();
    const files = productFiles().filter(({ text }) => /tool\./i.test(text) || ESCAPED.test(text));
    for (const { path, program } of files)
      walk(program, (node) => {
        const name = literalText(node)?.toLowerCase();
        if (name !== undefined && names.has(name)) places.set(name, [...(places.get(name) ?? []), path]);
        return undefined;
      });
    const expected = declared.map(({ group, name }) => [
      name.toLowerCase(),
      [`src/guest/pure/${group}.ts`, `src/wire/pure/${group}.ts`],
    ]);
    expect(Object.fromEntries([...places].map(([name, paths]) => [name, paths.sort()]))).toEqual(Object.fromEntries(expected));
  });

  it('the script of the guest has the signature, and none of the words', () => {
    const guest = readFileSync(join(ROOT, 'dist/guest.js'), 'utf8');
    for (const { name, args, description, example } of declared) {
      expect(guest).toContain(`"${name}":\`${args.map(([signature]) => signature).join(',')}\``);
      for (const words of [description, example]) expect(guest).not.toContain(words);
    }
  });
});
