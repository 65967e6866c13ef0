import { LoopController, MemoryStore, runtimeExecutor, systemClock } from '../../../src/loop/index.ts';
import type { TurnRecord } from '../../../src/loop/record/record.ts';
import { replayTurn, type TurnReplay } from '../../../src/loop/replay/turn.ts';
import type { Runtime } from '../../../src/runtime/index.ts';
import type { LimitOptions } from '../../../src/sandbox/limits.ts';
import { newKeyring } from '../../aeiou/kit.ts';
import { reply, USERDATA } from '../fake.ts';
import { diceOf, LIBRARY, limitsOf, programOf, randomOf } from './random.ts';

/** Clocks that stop no program of a session, however slow the machine is. */
export const PATIENT: LimitOptions = { cpuMs: 60_000, wallMs: 60_000, toolMs: 60_000 };

/** Records of one random session: everything in it is real, its clock and its ids too. `limits` come before the random ones. */
export async function recordSession(runtime: Runtime, seed: number, limits: LimitOptions = {}): Promise<readonly TurnRecord[]> {
  const dice = diceOf(randomOf(seed));
  const root = runtime.interpreter();
  if (dice.chance(0.8)) await root.load(LIBRARY);
  root.setGlobal('shared', dice.pick<unknown>(['global', [1, { a: 2 }], 3.25]));
  const store = new MemoryStore();
  const loop = new LoopController({
    executor: runtimeExecutor(runtime, root),
    keyring: newKeyring(`k${seed % 7}`, systemClock),
    store,
    limits: { ...limitsOf(dice), ...limits },
  });
  const turns = 1 + dice.whole(4);
  const broken = dice.chance(0.02);
  const agent = {
    reply: async ({ turn }: { readonly turn: number }) => {
      const text = reply(programOf(dice, turn === turns));
      return broken ? text.replace('NSENV', 'NSENW') : `prose before\n${text}\nprose after`;
    },
  };
  const sid = `random-${seed}`;
  await loop.runLoop({ userdata: USERDATA, agent, sid, maxTurns: turns });
  return store.turns(sid);
}

/** Executes all turns of a session again, as somebody would who got them as JSON. */
export async function replayAll(runtime: Runtime, records: readonly TurnRecord[]): Promise<readonly TurnReplay[]> {
  const replays: TurnReplay[] = [];
  let prev: string | null = null;
  for (const record of JSON.parse(JSON.stringify(records)) as readonly TurnRecord[]) {
    replays.push(await replayTurn(runtime, record, { prev }));
    prev = record.seal?.hash ?? null;
  }
  return replays;
}
