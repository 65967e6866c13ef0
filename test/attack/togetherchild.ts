import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRuntime } from '../../src/runtime/index.ts';
import { defineTool } from '../../src/tools/index.ts';
import { fsTools } from '../../stdlib-tools/index.ts';
import { ALL } from '../stdlib-tools/call.ts';

/** Runs 64 calls together in this process, whose heap is small, and prints how the run ended and what the process took. */
const [call = ''] = process.argv.slice(2);

const BYTES = 8 * 1024 * 1024 - 64;
const directory = await mkdtemp(join(tmpdir(), 'together-'));
await writeFile(join(directory, 'a'), 'x'.repeat(BYTES));
const large = defineTool({
  name: 'tool.hostile.Large',
  async run(_, { signal }) {
    await sleep(20);
    return signal.aborted ? null : 'x'.repeat(BYTES);
  },
});
await using runtime = await createRuntime({
  tools: [...fsTools({ directoryOf: async () => directory }), large],
  policy: ALL,
  concurrency: 1,
});
const program = `command
  for each i, x in "${'x'.repeat(64)}" together
    set r[i] = ${call}
  endfor
endcommand`;
const { error, journal } = await runtime.run(program, { limits: { memoryBytes: 256 * 1024 * 1024 } });
await rm(directory, { recursive: true });
process.stdout.write(
  JSON.stringify({ limit: error?.limit, calls: journal.length, rssBytes: process.resourceUsage().maxRSS * 1024 }),
);
