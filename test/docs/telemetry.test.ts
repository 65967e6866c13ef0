import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { INSTRUMENTS } from '../../src/loop/metrics.ts';
import { ATTR, HISTOGRAMS, OWN } from '../../src/telemetry/index.ts';
import { ROOT } from '../architecture/source.ts';

/** The rows of the table whose first column has this head, each as its cells. */
function rows(head: string): readonly (readonly string[])[] {
  const lines = readFileSync(join(ROOT, 'docs/telemetry.md'), 'utf8').split('\n');
  const cells = (line: string): readonly string[] =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', ''));
  return lines.flatMap((line, index) => {
    if (!line.startsWith(`| ${head} `) || !lines[index + 1]?.startsWith('| ---')) return [];
    const end = lines.findIndex((each, at) => at > index && !each.startsWith('|'));
    return lines.slice(index + 2, end).map(cells);
  });
}

describe('docs/telemetry.md', () => {
  it('lists every attribute of a span once', () => {
    // The type of tokens is an attribute of a metric alone.
    const { tokenType: _, ...attributes } = ATTR;
    expect(
      rows('attribute')
        .map(([name]) => name)
        .sort(),
    ).toEqual([...Object.values(attributes), ...Object.values(OWN)].sort());
  });

  it('lists every histogram with its unit', () => {
    expect(rows('histogram').map(([name, unit]) => [name, unit])).toEqual(
      Object.entries(HISTOGRAMS).map(([name, { unit }]) => [name, unit]),
    );
  });

  it('lists every counter with its names, its unit and its attribute', () => {
    expect(rows('Prometheus and snapshot').map((cells) => cells.slice(0, 4))).toEqual(
      Object.entries(INSTRUMENTS).map(([name, { otel }]) => [name, otel.name, otel.unit, otel.attribute ?? '']),
    );
  });
});
