import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRuntime, type Runtime } from '../../../src/runtime/index.ts';
import { SLOW } from '../../groups.ts';
import { openWild } from './random.ts';
import { recordSession, replayAll } from './sessions.ts';

/** How many sessions of `npm test` and of `npm run test:all`; the whole thousand with NEUROSCRIPT_REPLAY=1000. */
const SESSIONS = [
  [15, {}],
  [Number(process.env['NEUROSCRIPT_REPLAY'] ?? 60), SLOW],
] as const;

let recording: Runtime;
let replaying: Runtime;
beforeAll(async () => {
  recording = await openWild(createRuntime);
  // No tools, no policy, no libraries: all of it comes from the records.
  replaying = await createRuntime({ concurrency: 2 });
});
afterAll(() => Promise.all([recording.close(), replaying.close()]));

describe('random sessions', () => {
  for (const [sessions, options] of SESSIONS)
    it(`A3-2-7 A3-1.1-1 A3-1.1-2: ${sessions} of them with generated programs, tools, errors and breaches are the same, byte for byte`, {
      ...options,
      timeout: 600_000,
    }, async () => {
      const wrong: unknown[] = [];
      const seen: Record<string, number> = {};
      const lane = async (first: number): Promise<void> => {
        for (let seed = first; seed < sessions; seed += 4) {
          const records = await recordSession(recording, seed);
          for (const [index, each] of (await replayAll(replaying, records)).entries()) {
            const { verdict, divergence, faults } = each;
            const key = `${verdict} ${records[index]?.reason ?? records[index]?.decision}`;
            seen[key] = (seen[key] ?? 0) + 1;
            // A worker that does not see in time that its time is over, on a busy machine, is killed: nobody knows how far it was.
            const killed = records[index]?.outputComplete === false;
            if (verdict !== (killed ? 'prefix' : 'same'))
              wrong.push({ seed, turn: each.turn, verdict, divergence, faults, error: records[index]?.error });
          }
        }
      };
      await Promise.all([0, 1, 2, 3].map(lane));
      if (process.env['NEUROSCRIPT_REPLAY'] !== undefined) process.stdout.write(`${JSON.stringify(seen, null, 1)}\n`);
      expect(wrong).toEqual([]);
    });
});
