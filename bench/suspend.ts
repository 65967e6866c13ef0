import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { generateKeys, keyringFrom } from '../src/aeiou/index.ts';
import { LoopController, replayTurn, runtimeExecutor, SqliteStore, SuspendedError, systemClock } from '../src/loop/index.ts';
import { createRuntime } from '../src/runtime/index.ts';
import { defineTool } from '../src/tools/index.ts';
import { judged, type PromiseReport, ratio, renderPromises } from './promises.ts';
import { type Summary, summarize } from './stats.ts';
import { short, spread, table } from './table.ts';

/** The cost of a turn that waits, beside one that does not. */
export interface SuspendRow {
  readonly what: string;
  readonly unit: 'ms' | 'bytes';
  readonly value: Summary | null;
}

/** The promise about continuing, as a multiple of executing the turn at once. */
const MOST = 1.8;
/** The promise about a waiting turn in the store, in bytes. */
const TARGET_BYTES = 64 * 1024;

const PROGRAM = `command
  set n = 0
  while n < 200
    set n = n + 1
  endwhile
  emit tool.t.Get(1)
  emit tool.t.Ask('go on')
  emit tool.t.Get(2)
  emit tool.aeiou.magic("LOOP", {"action": "done"})
endcommand`;

const REPLY = `<<<NSENV:V3:START>>>\n<<<NSENV:V3:USERDATA>>>\n{}\n<<<NSENV:V3:ACTIONS>>>\n${PROGRAM}\n<<<NSENV:V3:END>>>`;

/** Executes a turn at once, suspends and resumes one, and replays one, in alternation. All are stored in files. */
export async function benchSuspend(quick: boolean): Promise<PromiseReport<SuspendRow>> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-suspend-'));
  const turns = quick ? 5 : 200;
  let waits = false;
  const tools = [
    defineTool({ name: 'tool.t.Get', args: [{ name: 'key', type: 'int' }], run: ({ key }) => key * 2 }),
    defineTool({
      name: 'tool.t.Ask',
      args: [{ name: 'what', type: 'string' }],
      returns: 'bool',
      run: ({ what }, runtime) => (waits ? runtime.pending({ reason: what }) : true),
    }),
  ];
  try {
    const path = join(folder, 'sessions.db');
    using store = await SqliteStore.open(path);
    await using runtime = await createRuntime({ tools, policy: { allow: ['tool.t.*'] }, concurrency: 1 });
    const keyring = keyringFrom(generateKeys('bench'), { clock: systemClock });
    const loop = new LoopController({ executor: runtimeExecutor(runtime), keyring, store });
    const agent = { reply: async () => REPLY };
    const times: Record<'executing' | 'putting' | 'completing' | 'going' | 'replaying', number[]> = {
      executing: [],
      putting: [],
      completing: [],
      going: [],
      replaying: [],
    };
    const timed = async <T>(what: keyof typeof times, work: () => Promise<T>): Promise<T> => {
      const start = performance.now();
      const result = await work();
      times[what].push(performance.now() - start);
      return result;
    };
    for (let turn = 0; turn < turns; turn += 1) {
      waits = false;
      await loop.open({ subject: 'bench', fields: {} }, `at-once-${turn}`);
      const record = await timed('executing', () => loop.step(`at-once-${turn}`, { agent }));
      await timed('replaying', () => replayTurn(runtime, record));
      waits = true;
      const sid = `waits-${turn}`;
      await loop.open({ subject: 'bench', fields: {} }, sid);
      await timed('putting', () => loop.step(sid, { agent }).catch(onlySuspended));
      await timed('completing', () => loop.complete(sid, '1.2', { result: true }));
      await timed('going', () => loop.step(sid, { agent }));
      await loop.open({ subject: 'bench', fields: {} }, `stays-${turn}`);
      await loop.step(`stays-${turn}`, { agent }).catch(onlySuspended);
    }
    const [executing, going, stored] = [summarize(times.executing), summarize(times.going), summarize(sizesOf(path))];
    return {
      rows: [
        { what: 'a turn executed at once', unit: 'ms', value: executing },
        { what: 'a turn until it is put aside', unit: 'ms', value: summarize(times.putting) },
        { what: 'completing its call', unit: 'ms', value: summarize(times.completing) },
        { what: 'going on to its end', unit: 'ms', value: going },
        { what: 'replaying it', unit: 'ms', value: summarize(times.replaying) },
        { what: 'a turn that waits, in the store', unit: 'bytes', value: stored },
      ],
      promises: [
        ratio('going on by executing at once', [going, executing], 'ms', ['most', MOST]),
        judged(
          'a turn that waits, in the store',
          stored?.median ?? null,
          { unit: 'bytes', bound: 'most', target: TARGET_BYTES },
          stored?.samples ?? 0,
        ),
      ],
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

function onlySuspended(error: unknown): null {
  if (error instanceof SuspendedError) return null;
  throw error;
}

function sizesOf(path: string): readonly number[] {
  using database = new DatabaseSync(path, { readOnly: true });
  return database
    .prepare('SELECT length(started) + length(waits) AS size FROM sessions WHERE started IS NOT NULL')
    .all()
    .map(({ size }) => Number(size));
}

export function renderSuspend({ rows, promises }: PromiseReport<SuspendRow>): string {
  const cells = rows.map(({ what, unit, value }) => [what, unit, short(value?.median ?? null), spread(value)]);
  return `${table(['what', 'unit', 'median', 'quartiles'], cells)}\n\n${renderPromises(promises)}\n`;
}
