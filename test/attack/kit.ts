import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, vi } from 'vitest';
import {
  createRuntime,
  defineTool,
  type LimitOptions,
  type RunOptions,
  type RunResult,
  type Runtime,
} from '../../src/entries/index.ts';

export const MB = 1024 * 1024;

/** Limits of an attack: small enough that a breach comes soon, even where others share the machine. */
export const TIGHT: LimitOptions = {
  fuel: 20_000_000,
  cpuMs: 4_000,
  wallMs: 15_000,
  memoryBytes: 16 * MB,
  outputBytes: MB,
  lineBytes: 64 * 1024,
  scratchBytes: MB,
  toolCalls: 50,
  toolBytes: 256 * 1024,
  eventCount: 20,
};

/** How an attack must end: the breach's code and, for a quota, the limits it may name. */
export type Ending = { readonly code: string; readonly limits?: readonly string[] };

export const quota = (...limits: string[]): Ending => ({ code: 'ERR_QUOTA', limits });

/** The tools that attacks may call: one that gives back what it gets, and some that answer with too much. */
const tools = [
  defineTool({
    name: 'tool.t.Echo',
    description: 'gives its argument back',
    args: [{ name: 'value', type: 'any', required: false }],
    returns: 'any',
    run: ({ value }) => value ?? null,
  }),
  defineTool({
    name: 'tool.t.Big',
    description: 'answers with a text of so many bytes',
    args: [{ name: 'size', type: 'number' }],
    returns: 'any',
    run: ({ size }) => 'x'.repeat(Number(size)),
  }),
  defineTool({
    name: 'tool.t.Deep',
    description: 'answers with a list so deep',
    args: [{ name: 'levels', type: 'number' }],
    returns: 'any',
    run: ({ levels }) => {
      let value: unknown[] = [];
      for (let level = 0; level < Number(levels); level++) value = [value];
      return value;
    },
  }),
  defineTool({
    name: 'tool.t.Many',
    description: 'answers with a list of so many small values',
    args: [{ name: 'count', type: 'number' }],
    returns: 'any',
    run: ({ count }) => Array.from({ length: Number(count) }, () => ({})),
  }),
  defineTool({
    name: 'tool.t.Throw',
    description: 'fails with a long message',
    args: [{ name: 'size', type: 'number' }],
    returns: 'any',
    run: ({ size }) => {
      throw new Error('e'.repeat(Number(size)));
    },
  }),
];

/** A runtime of one worker, so that whatever an attack leaves behind would be found by the next run. */
export function arena(): Promise<Runtime> {
  return createRuntime({ tools, policy: { allow: ['*'] }, concurrency: 1, limits: TIGHT });
}

/** Bytes that the host may keep of an attack. */
const HOST_GROWTH = 96 * MB;
/**
 * Bytes of this process, without V8's young generation. That grows to some 64 MB in any process that makes many objects, holds nothing
 * after a collection, and keeps its pages.
 */
function heldBytes(): number {
  const young = getHeapSpaceStatistics().filter(({ space_name }) => space_name === 'new_space');
  return process.memoryUsage.rss() - young.reduce((sum, space) => sum + space.physical_space_size, 0);
}
setFlagsFromString('--expose-gc');
const collectGarbage: (options?: object) => void = runInNewContext('gc');
/** As V8 collects when it has no memory left: only then it gives its empty pages back at once. It takes twice the time. */
const LAST_RESORT = { type: 'major', flavor: 'last-resort' };

/** A fresh worker and a run, with the machine shared with other tests; alone it is below 200 ms (`bench quotas`). */
const NEXT_MS = 2_000;

/** Runs an attack and checks that it ended as it should, that the host took no harm, and that the next run is served. */
export async function attack(
  runtime: Runtime,
  source: string,
  ending: Ending | null,
  options: RunOptions = {},
): Promise<RunResult> {
  const before = heldBytes();
  const result = await runtime.run(source, options);
  if (ending === null) expect(result.error).toBeNull();
  else {
    expect(result.error).toMatchObject({ code: ending.code });
    if (ending.limits !== undefined) expect(ending.limits).toContain(result.error?.limit);
  }
  // Garbage is not kept, but V8 collects it and gives its pages back when it likes.
  let collected = false;
  await vi.waitFor(
    () => {
      collectGarbage(collected ? LAST_RESORT : undefined);
      collected = true;
      expect(heldBytes() - before).toBeLessThan(HOST_GROWTH);
    },
    { timeout: 5_000, interval: 100 },
  );
  expect(JSON.stringify(result.error).length).toBeLessThan(64 * 1024);
  const start = performance.now();
  const next = await runtime.run('command\n  set leaked = secret\n  emit typeof leaked\nendcommand\n');
  expect(performance.now() - start).toBeLessThan(NEXT_MS);
  expect(next).toMatchObject({ ok: true, emits: ['nil'], whispers: [], eventErrors: [] });
  return result;
}
