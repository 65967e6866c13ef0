import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/entries/index.ts';
import { heatOfTurn, parsePlace, readExport, stepOfTurn } from '../../../src/loop/index.ts';
import type { TurnRecord } from '../../../src/loop/record/record.ts';
import { createRuntime, type Runtime } from '../../../src/runtime/index.ts';
import { PATIENT, recordSession } from './sessions.ts';

const RECORDS = fileURLToPath(new URL('../../../conformance/records', import.meta.url));

/** Fuel of a turn that is executed a few times more. */
const SMALL = 20_000;

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ policy: { allow: ['*'], grants: ['*:*:*'] } });
});
afterAll(() => runtime.close());

function fuelOf(parts: readonly { readonly fuel: number }[]): number {
  return parts.reduce((sum, { fuel }) => sum + fuel, 0);
}

/** Turns with tools, questions, asks, calls that run together, errors and breaches, as an earlier version recorded them. */
function recordedTurns(): readonly TurnRecord[] {
  const corpora = readdirSync(RECORDS, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return corpora.flatMap(({ name }) =>
    readExport(readFileSync(join(RECORDS, name, 'export.json'), 'utf8')).flatMap(({ turns }) => turns),
  );
}

describe('a recorded turn', () => {
  it('has the heat of its record, and steps at its first, last and middle statement, without any tool', async () => {
    let executed = 0;
    for (const record of recordedTurns()) {
      if (record.usage.fuel > SMALL) continue;
      const { verdict, heat, sources } = await heatOfTurn(runtime, record);
      if (heat === null) continue;
      executed++;
      expect([record.sid, record.turn, verdict]).toEqual([record.sid, record.turn, expect.stringMatching(/^(same|prefix)$/)]);
      expect(fuelOf(heat.lines) + heat.outside.fuel).toBe(heat.fuel);
      expect(fuelOf(heat.flame.nodes)).toBe(heat.fuel);
      if (verdict === 'same') expect(heat.fuel).toBe(record.usage.fuel);
      expect(sources.at(-1)?.name).toBe('ACTIONS');
      for (const step of new Set([Math.ceil(heat.steps / 2), heat.steps])) {
        if (step === 0) continue;
        const there = await stepOfTurn(runtime, record, { step });
        expect(there).toMatchObject({ verdict, steps: heat.steps, step: { step } });
        if (there.step === null) continue;
        const { source, line, visit } = there.step;
        const again = await stepOfTurn(runtime, record, { source, line, visit });
        expect(again).toEqual(there);
        expect(there.visits).toBeGreaterThanOrEqual(visit);
      }
      const beyond = await stepOfTurn(runtime, record, { step: heat.steps + 1 });
      expect(beyond).toMatchObject({ steps: heat.steps, step: null });
    }
    expect(executed).toBeGreaterThan(15);
  });

  it('of a random session goes forth and back to the same moments', async () => {
    const [record] = await recordSession(runtime, 11, PATIENT);
    if (record === undefined) throw new Error('nothing was recorded');
    const { steps } = await stepOfTurn(runtime, record, { step: 1 });
    const seen: unknown[] = [];
    const most = Math.min(steps, 3);
    for (let step = 1; step <= most; step++) seen.push((await stepOfTurn(runtime, record, { step })).step);
    for (let step = most; step >= 1; step--) expect((await stepOfTurn(runtime, record, { step })).step).toEqual(seen[step - 1]);
    expect(most).toBeGreaterThan(1);
  });

  it('that was measured by a foreign record is measured by nobody but the host', async () => {
    const [record] = (await recordSession(runtime, 3, PATIENT)).filter(({ inputs }) => inputs.scene?.run != null);
    if (record?.inputs.scene?.run == null) throw new Error('nothing was recorded');
    expect(JSON.stringify(record)).not.toContain('probe');
    const run = { ...record.inputs.scene.run, probe: { at: 5 } };
    const forged = { ...record, inputs: { ...record.inputs, scene: { ...record.inputs.scene, run } } };
    expect(await heatOfTurn(runtime, forged)).toMatchObject({ verdict: 'changed', heat: { notices: [] } });
  });
});

describe('the place of a step', () => {
  it.each([
    ['12', { source: 'ACTIONS', line: 12, visit: 1 }],
    ['12:3', { source: 'ACTIONS', line: 12, visit: 3 }],
    ['lib.ns:12', { source: 'lib.ns', line: 12, visit: 1 }],
    ['lib.ns:12:3', { source: 'lib.ns', line: 12, visit: 3 }],
    ['a:b:12:3', { source: 'a:b', line: 12, visit: 3 }],
    ['7:12:3', { source: '7', line: 12, visit: 3 }],
  ])('%s', (text, place) => {
    expect(parsePlace(text)).toEqual(place);
  });

  it.each(['', '0', '-1', '1.5', 'x', 'lib.ns:', 'lib.ns:0', '12:0', '1e9999'])("'%s' is refused", (text) => {
    expect(() => parsePlace(text)).toThrow(ConfigError);
  });
});
