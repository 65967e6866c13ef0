import { type PageTool, PageToolError, runInPage } from '../../src/browser/index.ts';
import { decode, encode } from '../../src/wire/codec.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import type { Outcome } from '../conformance/both.ts';
import type { Chunk } from '../conformance/chunks.ts';
import { Raise, type TestTool } from '../guest/driver.ts';

/** Tools that read or set variables of the program: those of a page cannot. */
const ASKING = /\btool\.(?:t\.(?:setvar|getvar)|ns\.def_global_const)\b/i;

/** Whether a page can run a program of the suite. */
export function runsInPage({ host, source }: Chunk): boolean {
  return !host && !ASKING.test(source);
}

/** Runs a program of the suite as a page does. */
export function inPage(chunk: Chunk, tools: Readonly<Record<string, TestTool>>): Outcome {
  const calls = chunk.events.length === 0 && /^func main\b/m.test(chunk.source);
  const result = runInPage(chunk.source, {
    name: 'test.ns',
    tools: Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, pageTool(tool)])),
    globals: chunk.globals as Record<string, TaggedJson>,
    limits: chunk.limits,
    events: chunk.events.map(({ name, payload }) => ({ name, source: 'src', payload: payload as TaggedJson })),
    ...(chunk.stdin === null ? {} : { lines: chunk.stdin }),
    ...(calls ? { call: { name: 'main', args: [] } } : {}),
  });
  const { emits, values, whispers, eventErrors, error, usage } = result;
  const prompts = result.calls.flatMap(({ tool, args }) => (tool === 'promptuser' ? args.map(String) : []));
  return { emits, values, whispers, prompts, eventErrors, error, fuel: usage.fuel, peakMemoryBytes: usage.peakMemoryBytes };
}

function pageTool(tool: TestTool): PageTool {
  return (...args) => {
    try {
      // The tools that use the second argument are left out.
      return decode(Reflect.apply(tool, undefined, [args.map((arg) => encode(arg))]));
    } catch (error) {
      throw error instanceof Raise ? new PageToolError(error.code, error.message) : error;
    }
  };
}
