import * as published from '@opentelemetry/semantic-conventions/incubating';
import { describe, expect, it } from 'vitest';
import { INSTRUMENTS } from '../../src/loop/metrics.ts';
import { ATTR, HISTOGRAMS, OWN } from '../../src/telemetry/index.ts';

/** The published constants whose names begin so. */
const constants = (prefix: string): ReadonlySet<unknown> =>
  new Set(Object.entries(published).flatMap(([name, value]) => (name.startsWith(prefix) ? [value] : [])));

/**
 * Metrics of https://github.com/open-telemetry/semantic-conventions-genai (model/gen-ai/metrics.yaml), where the conventions for
 * generative AI live now. The package does not have them yet.
 */
const NEWER = { 'gen_ai.invoke_agent.duration': 's', 'gen_ai.execute_tool.duration': 's' };

describe('the names of spans and metrics', () => {
  it.each(Object.entries(ATTR))('the attribute %s is a published one', (_, name) => {
    expect(constants('ATTR_')).toContain(name);
  });

  it.each(['invoke_agent', 'execute_tool', 'chat'])('the operation %s is a published one', (operation) => {
    expect(constants('GEN_AI_OPERATION_NAME_VALUE_')).toContain(operation);
  });

  it('attributes of our own have our prefix', () => {
    for (const name of Object.values(OWN)) expect(name).toMatch(/^neuroscript(\.[a-z][a-z_]*)+$/);
  });

  it.each(Object.entries(HISTOGRAMS))('the metric %s is a published one or has our prefix', (name, { unit }) => {
    if (name.startsWith('neuroscript.')) expect(unit).toMatch(/^(s|By|\{[a-z]+\})$/);
    else if (name in NEWER) expect(NEWER).toHaveProperty([name], unit);
    else expect(constants('METRIC_')).toContain(name);
  });

  it('the counters have our prefix, a unit, and attributes that are published or ours', () => {
    for (const { otel, label } of Object.values(INSTRUMENTS)) {
      expect(otel.name).toMatch(/^neuroscript(\.[a-z][a-z_]*)+$/);
      expect(otel.unit).toMatch(/^\{[a-z]+\}$/);
      expect(otel.attribute === undefined).toBe(label === null);
      const { attribute = OWN.turn } = otel;
      if (!attribute.startsWith('neuroscript.')) expect(constants('ATTR_')).toContain(attribute);
    }
  });
});
