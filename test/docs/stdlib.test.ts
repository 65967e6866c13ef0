import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { canonicalName, toolCatalogue } from '../../src/tools/index.ts';
import { pureTools } from '../../stdlib-tools/index.ts';
import { ROOT } from '../architecture/source.ts';
import { REFERENCE } from './reference.ts';
import { hostTools, STDLIB_PAGE, stdlibPage } from './stdlibpage.ts';

describe('docs/stdlib.md', () => {
  it('is made from the definitions; `npx node scripts/stdlib.mjs` makes it anew', () => {
    expect(readFileSync(join(ROOT, STDLIB_PAGE), 'utf8')).toBe(stdlibPage());
  });

  it('says what every argument means', () => {
    const silent = toolCatalogue([...pureTools(), ...hostTools()]).flatMap(({ name, args }) =>
      args.filter(({ description }) => description === '').map((arg) => `${name}: ${arg.name}`),
    );
    expect(silent).toEqual([]);
  });

  it('says of each tool of the reference what is true of ours', () => {
    // Every turn of the loop has this one.
    const known = new Set([...pureTools(), ...hostTools()].map((tool) => tool.canonicalName).concat('tool.aeiou.magic'));
    for (const { tool, verdict, why } of REFERENCE) {
      const group = tool.endsWith('.*') ? [...known].filter((name) => name.startsWith(canonicalName(tool.slice(0, -1)))) : null;
      const there = group === null ? known.has(canonicalName(tool)) : group.length > 0;
      expect([tool, there]).toEqual([tool, verdict !== 'declined']);
      if (verdict !== 'same') expect([tool, why]).not.toEqual([tool, '']);
    }
    expect(new Set(REFERENCE.map(({ tool }) => tool.toLowerCase())).size).toBe(REFERENCE.length);
  });
});
