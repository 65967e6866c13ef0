// @module-tag slow
import { Socket } from 'node:net';
import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { defineTool } from '../../src/entries/index.ts';
import { createRuntime, type Runtime } from '../../src/runtime/index.ts';
import { FrameReader } from '../../src/wire/frames.ts';

/*
 * What a turn and a tool call cost, in units that no load of the machine changes: bytes on the pipe, writes that wake a worker, chunks that
 * wake the host, and fuel. The bounds are today's counts. Lower one when you have saved something; raise one only with a reason.
 */

const ECHO = defineTool({
  name: 'tool.bench.Echo',
  description: 'gives back the number it gets',
  effects: 'none',
  args: [{ name: 'value', type: 'int' }],
  run: ({ value }) => value,
});
const LIMITS = { fuel: 1_000_000, toolCalls: 1_000 };
const EMIT = 'command\n  emit 1\nendcommand\n';
const calls = (count: number): string =>
  `command\n  set n = 0\n  while n < ${count}\n    set x = tool.bench.Echo(n)\n    set n = n + 1\n  endwhile\nendcommand\n`;

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ tools: [ECHO], policy: { allow: ['tool.bench.*'] }, concurrency: 1 });
  // The first run tells the worker its limits.
  await runtime.run(EMIT, { limits: LIMITS });
  return () => runtime.close();
});
afterEach(() => vi.restoreAllMocks());

/** One run, and what passed the pipe in both directions while it was under way. */
async function counted(source: string) {
  const sent: number[] = [];
  const received: number[] = [];
  const { write } = Socket.prototype;
  vi.spyOn(Socket.prototype, 'write').mockImplementation(function (this: Socket, ...args: Parameters<typeof write>) {
    const [bytes] = args;
    // The `prepare` of the run before, and of this one, are no part of it.
    if (bytes instanceof Uint8Array && !/"t":"prepare"/.test(String(bytes))) sent.push(bytes.length);
    return Reflect.apply(write, this, args);
  });
  const { whole } = FrameReader.prototype;
  vi.spyOn(FrameReader.prototype, 'whole').mockImplementation(function (this: FrameReader, chunk) {
    // A worker on a busy machine sends `started` ahead.
    if (!/^\{"t":"started","id":\d+\}$/.test(Buffer.from(chunk.subarray(4)).toString())) received.push(chunk.length);
    return whole.call(this, chunk);
  });
  const { error, usage } = await runtime.run(source, { limits: LIMITS });
  vi.restoreAllMocks();
  expect(error).toBeNull();
  const bytes = (frames: readonly number[]): number => frames.reduce((sum, each) => sum + each, 0);
  return {
    sent: sent.length,
    sentBytes: bytes(sent),
    received: received.length,
    receivedBytes: bytes(received),
    fuel: usage.fuel,
  };
}

it('a small turn wakes the worker once and the host once', async () => {
  const { sent, received, sentBytes, receivedBytes, fuel } = await counted(EMIT);
  expect({ sent, received, fuel }).toEqual({ sent: 1, received: 1, fuel: 17 });
  // The number of a task has up to 15 digits, so that no worker can foresee it: 14 bytes more than one digit.
  expect(sentBytes).toBeLessThanOrEqual(198);
  expect(receivedBytes).toBeLessThanOrEqual(434);
});

it('a tool call wakes the worker once and the host once', async () => {
  const [few, many] = [await counted(calls(10)), await counted(calls(20))];
  const each = (count: keyof typeof few): number => (many[count] - few[count]) / 10;
  expect({ sent: each('sent'), received: each('received'), fuel: each('fuel') }).toEqual({ sent: 1, received: 1, fuel: 110 });
  // The numbers of the two tasks may differ by some digits, which are tenths here. One byte more for a call is too many.
  expect(each('sentBytes')).toBeLessThan(26);
  expect(each('receivedBytes')).toBeLessThan(126);
});
