// @module-tag slow
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LAUNCHERS, type LauncherChoice, Sandbox } from '../../src/sandbox/index.ts';
import { COUNTED } from '../../src/sandbox/ledger.ts';
import { LIMITS } from '../../src/wire/limits.ts';
import { ATTACKS, type Attack, type Attacker, NOT_THEIRS } from './attacks.ts';
import { assault, FILES } from './harness.ts';

const ATTACKERS = ['guest', 'worker'] as const satisfies readonly Attacker[];

/** Attacks whose end depends on how the worker was started: on what counts its time and memory, and on what ends it. */
const LAUNCHED: readonly Attack[] = ATTACKS.filter(({ limit, ends }) => limit !== undefined && !ends.breach);
/** Without a launcher each attack is made; the other launchers change nothing about frames. */
const ROWS = new Map<LauncherChoice, readonly Attack[]>([['none', ATTACKS]]);
/** What these two choose is one of the others. */
const CHOOSING: readonly LauncherChoice[] = ['auto', 'required'];
for (const choice of LAUNCHERS)
  if (!CHOOSING.includes(choice) && !ROWS.has(choice) && (await works(choice))) ROWS.set(choice, LAUNCHED);

/** Whether this machine has the launcher. */
async function works(launcher: LauncherChoice): Promise<boolean> {
  return Sandbox.create({ concurrency: 1, launcher }).then(
    (sandbox) => sandbox.close().then(() => true),
    () => false,
  );
}

describe.each([...ROWS])('18: under the launcher %s', (launcher, attacks) => {
  describe.each(ATTACKERS)('hostile JavaScript in place of the %s', (by) => {
    let sandbox: Sandbox;
    beforeAll(async () => {
      sandbox = await Sandbox.create({ concurrency: 1, files: FILES[by], launcher });
    });
    afterAll(() => sandbox.close());

    it.each(attacks.filter((attack) => attack.by.includes(by)))('$name', async (attack) => {
      expect(await assault(sandbox, by, attack)).toEqual([]);
    });
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
