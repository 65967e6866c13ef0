import { functionAgent, LoopController, runtimeExecutor, SqliteStore, systemClock } from '../../src/loop/index.ts';
import { createRuntime } from '../../src/runtime/index.ts';
import { defineTool } from '../../src/tools/index.ts';
import { newKeyring, reply } from '../aeiou/kit.ts';
import { ALL } from '../stdlib-tools/call.ts';
import type { HeapReport } from './journal.ts';

/**
 * Measures what journals of a hostile program take in this process. Its arguments and results are lists of empty maps: as JSON an
 * empty map has 2 bytes, as an object it takes more than fifty.
 */
const [storePath = ''] = process.argv.slice(2);

const CALLS = 10;
const MAPS = 2 ** 14;
const jsonBytes = CALLS * 2 * Buffer.byteLength(JSON.stringify(Array.from({ length: MAPS }, () => ({}))));

const echo = defineTool({
  name: 'tool.hostile.Echo',
  args: [{ name: 'maps', type: 'list' }],
  run: ({ maps }) => maps,
});

const program = (end: string): string =>
  `command
  set maps = [{}]
  while len(maps) < ${MAPS}
    set maps = maps + maps
  endwhile
  set calls = 0
  while calls < ${CALLS}
    set maps = tool.hostile.Echo(maps)
    set calls = calls + 1
  endwhile
  ${end}
endcommand`;

/** Bytes that this process holds once everything unused is gone. */
async function held(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    await new Promise((done) => setImmediate(done));
    globalThis.gc?.();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

await using runtime = await createRuntime({ tools: [echo], policy: ALL, concurrency: 1 });
await runtime.run(program(''));
const beforeRun = await held();
const result = await runtime.run(program(''));
const ofRun = (await held()) - beforeRun;
if (result.error !== null || result.journal.length !== CALLS) throw new Error(JSON.stringify(result.error));

using store = await SqliteStore.open(storePath);
const keyring = newKeyring('hostile', systemClock);
const loop = new LoopController({ executor: runtimeExecutor(runtime), keyring, store });
// Two turns warm the process up and four are measured: the journal of one of them, kept as objects, would take ten times the bound.
const TURNS = 6;
let beforeTurns = 0;
const agent = functionAgent(async ({ turn }) => {
  if (turn === 3) beforeTurns = await held();
  const action = turn < TURNS ? 'continue' : 'done';
  return reply(program(`emit "turn ${turn}"\n  emit tool.aeiou.magic("LOOP", {"action": "${action}"})`));
});
let decided = 0;
const session = await loop.runLoop({
  userdata: { subject: 'test', fields: {} },
  agent,
  onEvent: ({ type }) => {
    if (type === 'decided') decided += 1;
  },
});
const ofSession = (await held()) - beforeTurns;
if (session.decision !== 'DONE' || decided !== TURNS) throw new Error(JSON.stringify(session.error));

const report: HeapReport = { jsonBytes, ofRun, ofSession };
process.stdout.write(JSON.stringify(report));
