import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  DEFAULT_LIFETIMES,
  DEFAULT_NO_PROGRESS_N,
  MARKERS,
  MAX_ENVELOPE_BYTES,
  MAX_LINE_BYTES,
  MAX_NO_PROGRESS_N,
  MAX_SECTION_BYTES,
  MAX_TOKEN_BYTES,
} from '../../src/aeiou/index.ts';
import { Metrics } from '../../src/loop/index.ts';
import { grouped } from '../../src/wire/text/grouped.ts';
import { ROOT } from '../architecture/source.ts';

const page = readFileSync(join(ROOT, 'docs/aeiou.md'), 'utf8');

describe('docs/aeiou.md', () => {
  it('its numbers are those of the code', () => {
    const size = (label: string): string => new RegExp(`^\\| ${label} +\\| +([^|]+?) \\|$`, 'm').exec(page)?.[1] ?? '';
    expect([size('envelope, first to last byte'), MAX_ENVELOPE_BYTES]).toEqual(['1 MiB', 1024 * 1024]);
    expect([size('body of a section'), MAX_SECTION_BYTES]).toEqual(['512 KiB', 512 * 1024]);
    expect(size('line of OUTPUT')).toBe(`${grouped(MAX_LINE_BYTES)} B`);
    expect(size('token')).toBe(`${grouped(MAX_TOKEN_BYTES)} B`);
    expect(page).toContain(`${DEFAULT_LIFETIMES.defaultTtl} s unless the program asks for 1 to ${DEFAULT_LIFETIMES.maxTtl}`);
    expect(page).toContain(`(2 to ${MAX_NO_PROGRESS_N}, \`noProgressN\`)`);
    expect([page.includes('The third turn in a row'), DEFAULT_NO_PROGRESS_N]).toEqual([true, 3]);
    for (const name of Object.keys(new Metrics().snapshot())) expect(page).toContain(`\`${name}\``);
  });

  it('its envelope has the six markers in their order', () => {
    const shown = [...page.matchAll(/<<<NSENV:V3:[A-Z]+>>>/g)].map(([marker]) => marker);
    const { START, USERDATA, SCRATCHPAD, OUTPUT, ACTIONS, END } = MARKERS;
    expect(shown).toEqual([START, USERDATA, SCRATCHPAD, OUTPUT, ACTIONS, END]);
  });

  it('it decides every ambiguity of the protocol, AMB-01 to AMB-41, AMB-51 and AMB-52', () => {
    const rows = [...page.matchAll(/^\| (\d[\d, –b]*) \|/gm)].flatMap(([, list = '']) => list.split(', ').flatMap(numbers));
    expect([...new Set(rows)].sort((a, b) => a - b)).toEqual([...Array.from({ length: 41 }, (_, n) => n + 1), 51, 52]);
  });
});

/** `21–23` → 21, 22, 23; `27b` → 27. */
function numbers(text: string): number[] {
  const [first = Number.NaN, last = first] = text.split('–').map((part) => Number.parseInt(part, 10));
  return Array.from({ length: last - first + 1 }, (_, n) => first + n);
}
