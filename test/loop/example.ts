import { readFileSync } from 'node:fs';
import type { Keyring } from '../../src/aeiou/index.ts';
import { scriptAgent } from '../../src/loop/agents/script.ts';
import { fixedClock } from '../../src/loop/clock.ts';
import { LoopController } from '../../src/loop/controller.ts';
import { seededIds } from '../../src/loop/ids.ts';
import type { LoopResult } from '../../src/loop/result.ts';
import { runtimeExecutor } from '../../src/loop/turn/executor.ts';
import { createRuntime } from '../../src/runtime/index.ts';
import { loadMockTools } from '../../src/tools/index.ts';
import { newKeyring } from '../aeiou/kit.ts';

export const clock = fixedClock(1_725_012_345);
export const keyring: Keyring = newKeyring('demo', clock);

export function exampleFile(name: string): string {
  return readFileSync(new URL(`../../examples/plan-apply/${name}`, import.meta.url), 'utf8');
}

/** Plays the example's agent against one of its tools files, in real sandboxes. */
export async function play(tools: string, maxTurns = 25): Promise<LoopResult> {
  const definitions = loadMockTools(exampleFile(tools), tools);
  const policy = { allow: definitions.map(({ name }) => name) };
  await using runtime = await createRuntime({ tools: definitions, policy, concurrency: 1 });
  const controller = new LoopController({ executor: runtimeExecutor(runtime), keyring, clock, ids: seededIds('demo') });
  const agent = scriptAgent(exampleFile('agent.txt'), 'agent.txt');
  return await controller.runLoop({ agent, userdata: JSON.parse(exampleFile('userdata.json')), maxTurns, sid: 'demo' });
}
