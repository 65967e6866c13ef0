// @module-tag slow
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from '../architecture/source.ts';
import { tempFolder } from '../folder.ts';

const FOLDER = join(ROOT, 'examples/containers');

/** For each rule: a series without a fault and with one, a value a minute, and the minute in which the rule fires for the first time. */
const CASES: readonly (readonly [alert: string, series: string, calm: string, fault: string, minutes: number])[] = [
  ['HostDown', 'up{job="neuroscript"}', '1x60', '0x60', 1],
  ['HostNotReady', 'neuroscript_host_ready', '1x60', '0x60', 2],
  ['PartDown', 'neuroscript_part_up{part="log"}', '1x60', '0x60', 1],
  ['BoundaryBreach', 'neuroscript_boundary_breaches_total', '0x60', '0 1x60', 1],
  ['RingIncomplete', 'neuroscript_ring_complete{ring="3"}', '1x60', '0x60', 5],
  ['TokensRefused', 'neuroscript_verify_fail_total{reason="ERR_TOKEN_VERIFY"}', '3x60', '0 1x60', 1],
  ['LeasesLost', 'neuroscript_leases_lost_total', '2x60', '2 3x60', 1],
  ['HostErrors', 'neuroscript_host_errors_total', '0+0.4x60', '0+1x60', 6],
  ['WorkersKilled', 'neuroscript_repairs_total{end="interrupted"}', '0+0.1x60', '0+1x60', 4],
  ['HostsKilled', 'neuroscript_halts_total{reason="ERR_INTERRUPTED"}', '1x60', '0 1x60', 1],
  ['AgentFails', 'neuroscript_agent_replies_total{outcome="failed"}', '0+4x60', '0+6x60', 11],
  ['ToolServerAway', 'neuroscript_tool_servers_away', '0x60', '1x60', 10],
  ['Backlog', 'neuroscript_sessions{state="ready",class="none"}', '100x60', '101x60', 10],
  ['PeopleWaiting', 'neuroscript_people_waiting_seconds', '86400x60', '86401x60', 0],
  ['Queue', 'neuroscript_queue_seconds_bucket{le="1"}', '0+100x60', '0+98x60', 11],
  ['StoreSlow', 'neuroscript_store_seconds_bucket{request="commit",le="1"}', '0+100x60', '0+98x60', 11],
  ['Memory', 'neuroscript_process_resident_memory_bytes{process="host"}', '200000000+1000000x600', '200000000+2000000x600', 361],
];

/** The labels that Prometheus gives to what it reads from a host, before those of the host or at the end of a name. */
const HOST: Readonly<Record<string, string>> = { '{': '{instance="a",', '': '{instance="a"}' };

/** What the rules compare with. */
const BESIDE: readonly (readonly [series: string, values: string])[] = [
  ['neuroscript_agent_replies_total{outcome="ok"}', '0+95x60'],
  ['neuroscript_host_sessions', '8x60'],
  ['neuroscript_host_concurrency', '8x60'],
  ...['2.5', '+Inf'].flatMap((le) => [
    [`neuroscript_queue_seconds_bucket{le="${le}"}`, '0+100x60'] as const,
    [`neuroscript_store_seconds_bucket{request="commit",le="${le}"}`, '0+100x60'] as const,
  ]),
];

it('issue 48: promtool takes the alert rules, and each fires for its fault, after the time that it says, and for nothing else', () => {
  for (const check of [
    ['rules', 'alerts.yaml'],
    ['config', 'prometheus.yaml'],
  ])
    execFileSync('promtool', ['check', ...check], { cwd: FOLDER, stdio: 'pipe' });
  const file: { groups: { rules: { alert: string }[] }[] } = parse(readFileSync(join(FOLDER, 'alerts.yaml'), 'utf8'));
  const rules = file.groups.flatMap((group) => group.rules);
  expect(CASES.map(([alert]) => `Neuroscript${alert}`)).toEqual(rules.map(({ alert }) => alert));
  const seriesOf = (rows: readonly (readonly [string, string])[]) =>
    [...rows, ...BESIDE].map(([series, values]) => ({ series: series.replace(/\{|$/, (mark) => HOST[mark] ?? ''), values }));
  const firing = (minutes: number, ...alerts: readonly string[]) => ({
    expr: 'group by (alertname) (ALERTS{alertstate="firing"})',
    eval_time: `${minutes}m`,
    exp_samples: alerts.map((alert) => ({ labels: `{alertname="Neuroscript${alert}"}`, value: 1 })),
  });
  const withFault = (faulty?: string) =>
    CASES.map(([alert, series, calm, fault]) => [series, alert === faulty ? fault : calm] as const);
  const tests = [
    { interval: '1m', input_series: seriesOf(withFault()), promql_expr_test: [firing(0), firing(30), firing(60)] },
    ...CASES.map(([alert, , , , minutes]) => ({
      interval: '1m',
      input_series: seriesOf(withFault(alert)),
      promql_expr_test: [...(minutes === 0 ? [] : [firing(minutes - 1)]), firing(minutes, alert)],
    })),
  ];
  const folder = tempFolder();
  const path = join(folder, 'tests.json');
  writeFileSync(path, JSON.stringify({ rule_files: [join(FOLDER, 'alerts.yaml')], evaluation_interval: '1m', tests }));
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', path], { encoding: 'utf8' });
  expect(`${status} ${stdout}${stderr}`).toMatch(/^0 (.|\n)*SUCCESS\n\n$/);
});
