import { metrics as globalMetrics } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { afterAll, describe, expect, it } from 'vitest';
import { Metrics } from '../../src/loop/metrics.ts';
import { HALT_REASONS } from '../../src/loop/record/decision.ts';
import { defineTool } from '../../src/tools/index.ts';
import { programAgent } from './fake.ts';
import { controller, run } from './host.ts';
import { command, DONE, openStage } from './sessions.ts';

/** What an application's SDK would have exported. */
function sdk() {
  const points = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: points, exportIntervalMillis: 3_600_000 });
  const provider = new MeterProvider({ readers: [reader] });
  return {
    metrics: new Metrics(provider.getMeter('test')),
    async counted(): Promise<Record<string, Record<string, number>>> {
      await reader.forceFlush();
      const found: Record<string, Record<string, number>> = {};
      for (const { descriptor, dataPoints } of points.getMetrics().at(-1)?.scopeMetrics[0]?.metrics ?? [])
        found[descriptor.name] = Object.fromEntries(
          dataPoints.map(({ attributes, value }) => [Object.values(attributes).join(), Number(value)]),
        );
      await provider.shutdown();
      return found;
    },
  };
}

const SECRET = 'hunter2-in-arguments';
const probe = defineTool({ name: 'tool.probe.Say', args: [{ name: 'text' }], run: ({ text }) => text });
const fails = defineTool({
  name: 'tool.probe.Fail',
  run: () => {
    throw new Error(SECRET);
  },
});
const stage = await openStage({ tools: [probe, fails], policy: { allow: ['tool.probe.*'] } });
afterAll(() => stage[Symbol.asyncDispose]());

describe('metrics', () => {
  it('AL3-9-2: the same counts reach the meter of the application', async () => {
    const { metrics, counted } = sdk();
    await controller({ metrics }).loop.runLoop(run(programAgent('continue', 'silent')));
    await controller({ metrics }).loop.runLoop(run(programAgent('continue'), { maxTurns: 1 }));
    expect(await counted()).toMatchObject({
      'neuroscript.turn.decisions': { CONTINUE: 2, HALT: 1 },
      'neuroscript.session.halts': { ERR_TOKEN_MISSING: 1, ERR_MAX_TURNS: 1 },
      'neuroscript.agent.replies': { ok: 3 },
    });
  });

  it('count the calls of tools', async () => {
    const metrics = new Metrics();
    await stage.play([command('on error do', '  clear_error', 'endon', 'call tool.probe.Fail()', DONE)], {}, { metrics });
    expect(metrics.snapshot().tool_calls_total).toEqual({ ok: 1, error: 1 });
  });

  it('finding 6: count the workers that a runtime ended for a breach, once each', async () => {
    const { metrics, counted } = sdk();
    const [one, other] = [{ boundaryBreaches: 2, tenantRefusals: 4 }, { boundaryBreaches: 1 }];
    for (const runtime of [one, other, one]) metrics.seeRuntime(runtime);
    one.boundaryBreaches = 5;
    metrics.seeRuntime(one);
    expect(await counted()).toMatchObject({ 'neuroscript.worker.breaches': { '': 6 }, 'neuroscript.tenant.refusals': { '': 4 } });
    expect(metrics.prometheus()).toContain('\nneuroscript_boundary_breaches_total 6\n');
  });

  it('A3-10-4: labels are closed sets: nothing that comes from a program, a model or a session is one', () => {
    const metrics = new Metrics();
    const text = metrics.prometheus();
    const labels = [...text.matchAll(/^(\w+)\{(\w+)="([^"]*)"\} 0$/gm)].map(
      ([, name, label, value]) => `${name} ${label} ${value}`,
    );
    const bounds = labels.filter((each) => each.includes('_bucket le '));
    expect(bounds).toHaveLength(3 * 17);
    expect(labels.filter((each) => !bounds.includes(each))).toHaveLength(
      4 + 5 + 5 + Object.keys(HALT_REASONS).length + 3 + 3 + 2 + 4 + 2,
    );
    metrics.ended('ERR_MADE_UP' as never);
    expect(metrics.prometheus()).toBe(text);
    expect(metrics.snapshot().halts_total).toEqual({});
  });

  it('are text that Prometheus reads', async () => {
    const { loop } = controller();
    await loop.runLoop(run(programAgent('continue', 'done')));
    const lines = loop.metrics.prometheus().split('\n');
    expect(lines.slice(0, 4)).toEqual([
      '# HELP neuroscript_decisions_total Decided turns.',
      '# TYPE neuroscript_decisions_total counter',
      'neuroscript_decisions_total{decision="CONTINUE"} 1',
      'neuroscript_decisions_total{decision="DONE"} 1',
    ]);
    expect(lines).toContain('neuroscript_jti_dup_total 0');
    for (const line of lines.filter((one) => one !== ''))
      expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|[a-z_]+(\{[a-z]+="[\w.+]+"\})? [\d.e-]+)$/);
    expect(lines.at(-1)).toBe('');
  });

  it('cost nothing where the application has no SDK', () => {
    expect(globalMetrics.getMeterProvider().constructor.name).toMatch(/Noop|Proxy/);
    expect(() => new Metrics()).not.toThrow();
  });
});
