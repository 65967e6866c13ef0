import type { Agent } from '../../src/loop/agents/agent.ts';
import { fixedClock } from '../../src/loop/clock.ts';
import { LoopController } from '../../src/loop/controller.ts';
import { seededIds } from '../../src/loop/ids.ts';
import type { LoopControllerOptions, LoopOptions } from '../../src/loop/options.ts';
import type { TurnRecord } from '../../src/loop/record/record.ts';
import { sealRecord } from '../../src/loop/record/seal.ts';
import type { LoopResult } from '../../src/loop/result.ts';
import { runtimeExecutor } from '../../src/loop/turn/executor.ts';
import { createRuntime, type RuntimeOptions } from '../../src/runtime/index.ts';
import { newKeyring } from '../aeiou/kit.ts';
import { reply, USERDATA } from './fake.ts';

/** Unix seconds at which the clock of these sessions stands. */
export const NOW = 1_725_012_345;
export const clock = fixedClock(NOW);
export const keyring = newKeyring('real', clock);
export const ids = seededIds('sessions');

export const DONE = 'emit tool.aeiou.magic("LOOP", {"action": "done"})';
export const CONTINUE = 'emit tool.aeiou.magic("LOOP", {"action": "continue"})';

/** One command block of these statements. */
export const command = (...lines: readonly string[]): string =>
  ['command', ...lines.map((line) => `  ${line}`), 'endcommand'].join('\n');

/** What a session did, and what its agent was shown. */
export interface Played {
  readonly result: LoopResult;
  readonly prompts: readonly string[];
}

/** Sessions in real sandboxes: programs of a script, one per turn; everything from the reply to the decision is real. */
export interface Stage extends AsyncDisposable {
  play(programs: readonly string[], options?: Partial<LoopOptions>, host?: Partial<LoopControllerOptions>): Promise<Played>;
}

export async function openStage(options: RuntimeOptions = {}): Promise<Stage> {
  const runtime = await createRuntime({ concurrency: 1, ...options });
  let count = 0;
  return {
    async play(programs, session = {}, host = {}) {
      const prompts: string[] = [];
      const agent: Agent = {
        async reply({ turn, prompt }) {
          prompts.push(prompt);
          return reply(programs[turn - 1] ?? 'command\nendcommand');
        },
      };
      count += 1;
      const loop = new LoopController({ executor: runtimeExecutor(runtime), keyring, clock, ids, ...host });
      const sid = `stage-${count}`;
      const result = await loop.runLoop({ userdata: USERDATA, agent, sid, maxTurns: programs.length, ...session });
      return { result, prompts };
    },
    [Symbol.asyncDispose]: () => runtime.close(),
  };
}

/** A changed record as the first of a session, with a seal that fits. */
export function resealed({ seal: _, ...record }: TurnRecord): TurnRecord {
  return sealRecord(record, null);
}
