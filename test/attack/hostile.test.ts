import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandbox } from '../../src/sandbox/index.ts';
import { COUNTED } from '../../src/sandbox/ledger.ts';
import { LIMITS } from '../../src/wire/limits.ts';
import { ATTACKS, type Attacker, NOT_THEIRS } from './attacks.ts';
import { assault, FILES } from './harness.ts';

const ATTACKERS = ['guest', 'worker'] as const satisfies readonly Attacker[];

describe.each(ATTACKERS)('18: hostile JavaScript in place of the %s', (by) => {
  const rows = ATTACKS.filter((attack) => attack.by.includes(by));
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await Sandbox.create({ concurrency: 1, files: FILES[by], launcher: 'none' });
  });
  afterAll(() => sandbox.close());

  it.each(rows)('$name', async (attack) => {
    expect(await assault(sandbox, by, attack)).toEqual([]);
  });
});

describe('18: the tables of attacks', () => {
  it('have a row for every limit', () => {
    const attacked = new Set(ATTACKS.map(({ limit }) => limit));
    const without = LIMITS.map(({ key }) => key).filter((key) => !attacked.has(key) && !NOT_THEIRS.has(key));
    expect(without).toEqual([]);
  });

  it('have a row of both attackers for every limit that the ledger counts', () => {
    const counted = new Set(ATTACKS.filter(({ by, ends }) => by.length === 2 && ends.breach).map(({ limit }) => limit));
    expect(Object.keys(COUNTED).filter((limit) => !counted.has(limit as keyof typeof COUNTED))).toEqual([]);
  });
});
