import { describe, expect, it } from 'vitest';
import { functionAgent, MemoryStore } from '../../../src/loop/index.ts';
import { defineTool } from '../../../src/tools/index.ts';
import { USERDATA } from '../fake.ts';
import { askBench, envelope, token } from './bench.ts';

/** The keys of the payments that nested sessions make for asks of these programs, each of which is an attempt at one turn. */
async function keysOf(...programs: readonly (readonly string[])[]): Promise<readonly string[]> {
  const keys: string[] = [];
  const pay = defineTool({
    name: 'tool.bank.Pay',
    idempotent: true,
    args: [{ name: 'to', type: 'string' }],
    run: (_, { call }) => void keys.push(String(call.key)),
  });
  const helper = functionAgent(async ({ prompt }) => {
    return envelope('call tool.bank.Pay("ada")', token(prompt.includes('in vain') ? 'abort' : 'done'));
  });
  const writer = functionAgent(async ({ attempt }) => envelope(...(programs[attempt - 1] ?? [])));
  const runtime = { tools: [pay], concurrency: 2 };
  await using bench = await askBench({ agents: { helper }, runtime, store: new MemoryStore() });
  expect(await bench.loop.runLoop({ sid: 's', userdata: USERDATA, agent: writer })).toMatchObject({ decision: 'DONE' });
  return keys;
}

describe('the keys of calls in nested sessions', () => {
  it('differ for other asks, whatever their places and their attempts', async () => {
    const one = 'ask "helper", "one" into a';
    const two = 'ask "helper", "two" into a';
    expect(new Set(await keysOf([one, 'fail "no"', token('done')], [two, token('done')])).size).toBe(2);
    expect(new Set(await keysOf([one, two, one, token('done')])).size).toBe(3);
  });

  it('are the same for an ask that failed and is made again, because its calls may have had their effects', async () => {
    const vain = 'ask "helper", "in vain" into a';
    const keys = await keysOf([vain, token('done')], ['set x = 1', 'on error do', '  clear_error', 'endon', vain, token('done')]);
    expect(keys).toEqual([keys[0], keys[0]]);
    expect(keys[0]).toMatch(/^s\/1\.1\./);
  });
});
