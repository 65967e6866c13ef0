import { hash } from 'node:crypto';
import { expect, it } from 'vitest';
import { digestOf, jsonOf, jsonSize } from '../../src/tools/dispatch/large.ts';
import { PackedMessages, packedSize, unpackedCall } from '../../src/tools/dispatch/packed.ts';

it.each([
  ['short', 'ä'],
  ['of characters that take two units', `a${'\u{1f600}'.repeat(300_000)}`],
  ['a list', Array.from({ length: 20_000 }, (_, index) => ({ [`ä${index}`]: '€' }))],
])('issue 44: a call whose argument is %s is kept, counted and hashed as its JSON', async (_, value) => {
  const call = { t: 'tool', seq: 1, at: { source: 's', line: 1, column: 1 }, name: 'tool.t.Keep', args: [value] } as const;
  const text = JSON.stringify(call);
  const packed = new PackedMessages().add(call, await jsonOf(call));
  expect(JSON.stringify(unpackedCall(packed))).toBe(text);
  expect(packedSize(packed)).toBe(Buffer.byteLength(text));
  expect(await jsonSize(call.args)).toBe(Buffer.byteLength(JSON.stringify(call.args)));
  expect(await digestOf(call.args)).toBe(hash('sha256', JSON.stringify(call.args)));
});
