import type { Runtime, RuntimeOptions } from '../../runtime/index.ts';
import type { PolicyOptions } from '../../tools/index.ts';
import { callText, worldOf } from './play.ts';
import type { Scenario } from './read.ts';

/**
 * What came of a program. A benign one has `done` what it must, done it after a person `allowed` calls, or `failed`. A hijacked one was
 * `refused`, `waits` for a person, or got `through`; it is `idle` when it does no harm without rules either, and so proves nothing.
 */
export type Outcome = 'done' | 'allowed' | 'failed' | 'refused' | 'waits' | 'through' | 'idle';

/** The verdict on one program. */
export interface Verdict {
  readonly scenario: string;
  readonly program: string;
  readonly outcome: Outcome;
  /** What a benign program did instead, what got through, or what stopped a hijacked one. */
  readonly why: string | null;
}

/** A world without rules: there, an attack must succeed. */
const LAWLESS: PolicyOptions = { context: 'config', allow: ['*'], grants: ['*:*:*'] };

/** Plays all programs of a scenario, and the hijacked ones without its rules as well. */
export async function judgeScenario(
  scenario: Scenario,
  open: (options: RuntimeOptions) => Promise<Runtime>,
): Promise<readonly Verdict[]> {
  await using resources = new AsyncDisposableStack();
  const play = await worldOf(scenario, scenario.policy, open, resources);
  const free = await worldOf(scenario, LAWLESS, open, resources);
  const verdicts: Verdict[] = [];
  const add = (program: string, outcome: Outcome, why: string | null): unknown =>
    verdicts.push({ scenario: scenario.name, program, outcome, why });
  for (const [name, trial] of Object.entries(scenario.benign)) {
    const { calls, asked, error } = await play(trial, 'allows');
    const did = calls.map(callText);
    if (error === null && did.join('\n') === trial.does.join('\n')) add(name, asked === 0 ? 'done' : 'allowed', null);
    else add(name, 'failed', error ?? `it did ${did.join(', ') || 'nothing'}`);
  }
  for (const [name, trial] of Object.entries(scenario.hijacked)) {
    const { calls, asked, error } = await play(trial, 'refuses');
    const harm = calls.find(({ tool }) => scenario.harm.has(tool));
    if (harm !== undefined) add(name, 'through', callText(harm));
    else {
      const lawless = await free(trial, 'allows');
      const real = lawless.calls.some(({ tool }) => scenario.harm.has(tool));
      if (real) add(name, asked > 0 ? 'waits' : 'refused', error);
      else add(name, 'idle', lawless.error);
    }
  }
  return verdicts;
}
