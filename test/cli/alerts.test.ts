import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { gauges } from '../../src/cli/serve/gauges.ts';
import { Histogram, MemoryStore, Metrics } from '../../src/loop/index.ts';
import { ROOT } from '../architecture/source.ts';
import { FAULTS, holds } from '../engines/matrix/faults.ts';

const STATE = { status: 'ready', driving: 0, concurrency: 8, claimed: 0, away: [], errors: 0 } as const;

/** The names of the series that a host has, as a scrape sees them, and that of Prometheus itself. */
async function seriesOf(): Promise<ReadonlySet<string>> {
  const store = new Histogram('neuroscript_store_seconds', 'Time of a request to the store.', 'request');
  store.observe(1, 'commit');
  const parts = [{ name: 'store', problem: null }];
  const census = await new MemoryStore().census();
  const host = gauges({ state: STATE, leasesLost: 0, runtimes: [], toolServersAway: 0, census, parts, now: 0 });
  const text = `${new Metrics().prometheus()}${store.prometheus()}${host}`;
  return new Set(['up', ...text.split('\n').flatMap((line) => /^neuroscript_\w+/.exec(line)?.[0] ?? [])]);
}

const namesIn = (text: string): readonly string[] => [...text.matchAll(/neuroscript_\w+|\bup\b/g)].map(([name]) => name);

it('issue 48: every alert rule and every row of the table of faults is about a metric that a host has', async () => {
  const series = await seriesOf();
  const file: { groups: { rules: Record<string, unknown>[] }[] } = parse(
    readFileSync(join(ROOT, 'examples/containers/alerts.yaml'), 'utf8'),
  );
  const rules = file.groups.flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(10);
  for (const rule of rules) {
    const { alert, expr, for: lasts = '1m', labels, annotations } = rule;
    expect(alert).toMatch(/^Neuroscript[A-Z]\w+$/);
    expect(lasts).toMatch(/^\d+[mh]$/);
    expect(labels).toEqual({ severity: expect.stringMatching(/^(critical|warning|info)$/) });
    expect(annotations).toEqual({ summary: expect.any(String) });
    const names = namesIn(String(expr));
    expect(names.length, String(alert)).toBeGreaterThan(0);
    for (const name of names) expect(series, `${alert}: ${name}`).toContain(name);
  }
  const page = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
  const table = page.slice(page.indexOf('## Alerts'), page.indexOf('## Disk full'));
  const bare = (name: string): string => name.replace(/_(bucket|sum|count)$/, '');
  const known = new Set([...series].map(bare));
  for (const name of new Set(namesIn(table))) expect(known, name).toContain(name);
  // Every row has an expression that the tests with faults can evaluate.
  expect(FAULTS.size).toBe(table.split('\n').filter((line) => line.startsWith('| ')).length - 2);
  for (const [fault, expression] of FAULTS) expect(holds(expression, ''), fault).toBe(false);
  expect(holds('increase(m{a="b"}[10m]) > 0', 'm{a="b",c="d"} 1')).toBe(true);
  expect(holds('increase(m{a="b"}[10m]) > 0', 'm{a="b"} 0\nm{a="c"} 1\nmore{a="b"} 1')).toBe(false);
  expect(holds('m == 0', 'm{a="b"} 0')).toBe(true);
  // The file of Prometheus reads the rules, and names the hosts as they do.
  const { rule_files, scrape_configs, global } = parse(readFileSync(join(ROOT, 'examples/containers/prometheus.yaml'), 'utf8'));
  expect([rule_files, scrape_configs[0].job_name]).toEqual([['alerts.yaml'], 'neuroscript']);
  // As often as hosts are read: Prometheus would look at the rules once a minute, and each `for` would be a minute later.
  expect(global.evaluation_interval).toBe(global.scrape_interval);
});
