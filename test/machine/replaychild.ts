import { readFileSync } from 'node:fs';
import type { TurnRecord } from '../../src/loop/index.ts';
import { createRuntime } from '../../src/runtime/index.ts';
import { replayAll } from '../loop/replay/sessions.ts';

/** Executes the sessions of a file again and prints, as JSON, how often each verdict came; killed turns count apart. */
const sessions: readonly (readonly TurnRecord[])[] = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
await using runtime = await createRuntime({ concurrency: 2 });
const counts: Record<string, number> = {};
const lane = async (first: number): Promise<void> => {
  for (const records of sessions.filter((_, index) => index % 4 === first))
    for (const [index, { verdict, divergence }] of (await replayAll(runtime, records)).entries()) {
      const killed = records[index]?.outputComplete === false;
      const key = killed ? `killed ${verdict}` : verdict;
      counts[key] = (counts[key] ?? 0) + 1;
      if (divergence !== null) process.stderr.write(`${JSON.stringify({ sid: records[index]?.sid, divergence })}\n`);
    }
};
await Promise.all([0, 1, 2, 3].map(lane));
process.stdout.write(JSON.stringify({ node: process.version, counts }));
