import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import type { Agent } from '../../src/loop/agents/agent.ts';
import { MemoryLog } from '../../src/loop/log/log.ts';
import { MemoryStore } from '../../src/loop/sessions/sqlite.ts';
import { createRuntime } from '../../src/runtime/index.ts';
import { WorkerProcess } from '../../src/sandbox/worker.ts';
import { defineTool } from '../../src/tools/index.ts';
import { ROOT } from '../architecture/source.ts';
import { fakeExecutor, programAgent, USERDATA } from '../loop/fake.ts';
import { controller } from '../loop/host.ts';

const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
const { stackTraceLimit } = Error;
Error.stackTraceLimit = 100;
afterAll(() => {
  Error.stackTraceLimit = stackTraceLimit;
});

/** The files of `src` on the stack, the innermost first. */
function onStack(): string[] {
  const stack = new Error().stack ?? '';
  return [...stack.matchAll(/(src\/[\w/]+\.ts):\d+/g)].flatMap(([, file = '']) => (stack.includes(join(ROOT, file)) ? file : []));
}

/** The files that a section of the page names. */
function namedIn(heading: string): string[] {
  const [section = ''] = (page.split(`\n## ${heading}\n`)[1] ?? '').split('\n## ');
  return [...section.matchAll(/`(src\/[\w/]+\.ts)`/g)].map(([, file = '']) => file);
}

/** Notes what is on the stack whenever a method of this object is called. */
function noting<T extends object>(stacks: string[][], target: T, ...methods: (keyof T)[]): T {
  for (const name of methods) {
    const method: unknown = target[name];
    if (typeof method !== 'function') throw new Error(`${String(name)} is no method`);
    const noted = function (this: T, ...args: unknown[]): unknown {
      stacks.push(onStack());
      return Reflect.apply(method, this, args);
    };
    Object.defineProperty(target, name, { value: noted, configurable: true, writable: true });
    onTestFinished(() => void Object.defineProperty(target, name, { value: method, configurable: true, writable: true }));
  }
  return target;
}

it.each(['One run', 'One tool call', 'One envelope'])('issue 17: the walk "%s" has at most ten files', (heading) => {
  const files = namedIn(heading);
  expect(files.length).toBeGreaterThan(5);
  expect(files).toEqual([...new Set(files)]);
  expect(files.length).toBeLessThanOrEqual(10);
});

it('one run and one tool call pass only the files that docs/architecture.md names', async () => {
  const [frames, calls]: [string[][], string[][]] = [[], []];
  const tool = defineTool({ name: 'tool.t.x', run: () => calls.push(onStack()) });
  await using runtime = await createRuntime({ tools: [tool], policy: { allow: ['*'] }, concurrency: 1 });
  noting(frames, WorkerProcess.prototype, 'send');
  const { error } = await runtime.run('command\n  call tool.t.x()\nendcommand\n');
  expect(error).toBeNull();
  const [start = []] = frames;
  expect(start).toContain('src/runtime/fork.ts');
  expect(start.filter((file) => !namedIn('One run').includes(file))).toEqual([]);
  expect(calls[0]).toContain('src/tools/dispatch/toolcall.ts');
  const later = [...calls, ...frames.slice(1)].flat();
  expect(later.filter((file) => !namedIn('One tool call').includes(file))).toEqual([]);
});

it('one envelope passes only the files that docs/architecture.md names', async () => {
  const stacks: string[][] = [];
  const agent: Agent = noting(stacks, { ...programAgent('done') }, 'reply');
  const store = noting(stacks, new MemoryStore(), 'start', 'commit');
  const log = noting(stacks, new MemoryLog(), 'append');
  const executor = fakeExecutor({
    done: async ({ emit, magic }) => {
      stacks.push(onStack());
      emit(await magic('done'));
    },
  });
  const { loop } = controller({ store, log, executor });
  expect(await loop.runLoop({ userdata: USERDATA, agent })).toMatchObject({ decision: 'DONE' });
  expect(stacks).toHaveLength(5);
  // The walk begins in decideTurn; what is above it drives the session.
  const within = stacks.map((stack) => stack.slice(0, stack.lastIndexOf('src/loop/decide.ts') + 1));
  expect(within.map((stack) => stack.length > 1)).toEqual(stacks.map(() => true));
  expect(within.flat().filter((file) => !namedIn('One envelope').includes(file))).toEqual([]);
});
